"""The seam to reinforcement learning: one call per round, over one policy that keeps its state."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from envwright.policy import Policy
from envwright.testbed import Task


class Group(BaseModel):
    """The rewards of one group of completions to one task, as the trainer saw them."""

    model_config = ConfigDict(frozen=True)

    task_id: str
    source: str
    rewards: tuple[float, ...]

    @property
    def has_signal(self) -> bool:
        """False when all rewards are equal, so that a group-relative advantage is zero."""
        return max(self.rewards) - min(self.rewards) > 1e-9


class TrainingProgress(BaseModel):
    """What a trainer reports while it works; `step` counts within the round."""

    model_config = ConfigDict(frozen=True)

    step: int
    steps: int
    metrics: dict[str, float] = {}


class Training(BaseModel):
    """What one round of training left: the groups seen, and the trainer's log rows in order."""

    model_config = ConfigDict(frozen=True)

    groups: tuple[Group, ...] = ()
    log: tuple[dict[str, float], ...] = ()
    completion_tokens: int = 0


class Trainer(ABC):
    """Trains the one policy of a run, round by round."""

    def check(self, tasks: int) -> None:
        """Is asked before a run begins whether rounds of that many tasks can be trained on.

        Raises:
            RecipeError: they cannot; the message says which numbers would do.
        """

    @property
    @abstractmethod
    def policy(self) -> Policy:
        """The live policy: after `train` or `restore` it answers with the new weights."""

    @abstractmethod
    def train(
        self,
        tasks: Sequence[Task],
        round_index: int,
        resume_from: Path | None,
        checkpoint: Path,
        report: Callable[[TrainingProgress], None] = lambda progress: None,
    ) -> Training:
        """Trains one round and leaves a complete checkpoint.

        Args:
            tasks: the round's tasks.
            round_index: 0-based; the only round-dependent source of randomness.
            resume_from: the checkpoint of the round before; None in round 0.
            checkpoint: a directory that does not exist yet; on return it holds Hugging Face files and what
                is needed to go on.
            report: called after each step.
        """

    @abstractmethod
    def restore(self, checkpoint: Path) -> None:
        """Loads the weights of a checkpoint into `policy`, for a resumed run."""

    def close(self) -> None:
        """Frees what the trainer holds; called once, after the last round."""
