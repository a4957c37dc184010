"""A trainer that changes nothing: for evaluating a fixed policy through the loop, and for tests."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from envwright.policy import Policy
from envwright.testbed import Task
from envwright.trainer import Trainer, Training, TrainingProgress


class FrozenSettings(BaseModel):
    """No training at all."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["frozen"] = "frozen"


class FrozenTrainer(Trainer):
    """Keeps the policy it was given; a checkpoint is an empty directory."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy

    @property
    def policy(self) -> Policy:
        """The policy, unchanged."""
        return self._policy

    def train(
        self,
        tasks: Sequence[Task],
        round_index: int,
        resume_from: Path | None,
        checkpoint: Path,
        report: Callable[[TrainingProgress], None] = lambda progress: None,
    ) -> Training:
        """Leaves an empty checkpoint."""
        checkpoint.mkdir()
        report(TrainingProgress(step=1, steps=1))
        return Training()

    def restore(self, checkpoint: Path) -> None:
        """Does nothing: every checkpoint is the same policy."""
