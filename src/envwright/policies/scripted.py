"""A policy that gives the answers it was handed, in turn: for tests and for seeing the loop without a model."""

from collections.abc import Sequence
from itertools import cycle

from envwright.policy import Policy, Sampling
from envwright.testbed import Completion, Message


class ScriptedPolicy(Policy):
    """Cycles through its answers and keeps the conversations it was asked."""

    def __init__(self, answers: Sequence[str]) -> None:
        self._answers = cycle(answers)
        self.asked: list[list[Message]] = []

    def generate(self, conversations: Sequence[Sequence[Message]], sampling: Sampling) -> list[Completion]:
        """Returns the next answers; a token is a word."""
        self.asked += [list(conversation) for conversation in conversations]
        answers = [next(self._answers) for _ in conversations]
        return [Completion(text=answer, tokens=len(answer.split())) for answer in answers]
