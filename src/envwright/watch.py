"""The seam to whoever looks on: the loop tells it what happens; the default says nothing."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any

from envwright.configuration import Configuration
from envwright.engineer import Redesign
from envwright.rollout import Rollout
from envwright.trainer import TrainingProgress


class Watch:
    """Looks on in silence; `console.ConsoleWatch` shows it on the screen."""

    def round_begins(self, index: int, rounds: int, configuration: Configuration[Any]) -> None:
        """A round begins with this configuration."""

    def step_begins(self, what: str) -> None:
        """A step begins; what follows may take a while."""

    def step_ends(self, what: str, seconds: float) -> None:
        """The step took that long."""

    @contextmanager
    def training(self) -> Generator[Callable[[TrainingProgress], None]]:
        """Around training; yields what is called after each optimizer step."""
        yield lambda progress: None

    @contextmanager
    def rollouts(self, total: int) -> Generator[Callable[[int], None]]:
        """Around validation; yields what is called with the number of rollouts done."""
        yield lambda done: None

    def validated(self, stage: str, rollouts: Sequence[Rollout]) -> None:
        """A stage ("base", "round_00", ...) has been validated."""

    def fell_back(self, note: str) -> None:
        """A round, or a source in it, did worse than before; the note says what is done about it."""

    def redesigned(self, redesign: Redesign) -> None:
        """The engineer has spoken and the guardrails have acted."""
