"""The seam to anything that answers prompts: a local model, an endpoint, a script."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field

from envwright.testbed import Completion, Message

CAUTIOUS_BYTES_PER_TOKEN = 2
"""Fewer than the tokenizers in use need on tables of numbers, so an estimate errs on the long side."""


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

    def count_tokens(self, text: str) -> int:
        """Returns how many tokens a text has for this policy; without its tokenizer a cautious estimate."""
        return -(-len(text.encode("utf-8")) // CAUTIOUS_BYTES_PER_TOKEN)


def writable(text: str) -> str:
    """Returns the text in a form every file takes: surrogate pairs joined, lone surrogates replaced."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
