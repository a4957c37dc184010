"""The seam to anything that answers prompts: a local model, an endpoint, a script."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field

from envwright.testbed import Completion, Message


class Sampling(BaseModel):
    """How to sample: temperature 0 is greedy; `max_tokens` bounds the answer; `seed` makes it repeatable."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    temperature: float = Field(default=1.0, ge=0.0)
    top_p: float = Field(default=1.0, gt=0.0, le=1.0)
    max_tokens: int = Field(default=512, ge=1)
    seed: int = 0


class Policy(ABC):
    """Answers chat conversations in batches."""

    @abstractmethod
    def generate(self, conversations: Sequence[Sequence[Message]], sampling: Sampling) -> list[Completion]:
        """Returns one completion per conversation, in order; same input and seed, same output."""
