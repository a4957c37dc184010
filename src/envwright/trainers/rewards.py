"""The bridge from verdicts to a trainer's reward function, and the record of what groups it saw."""

from collections.abc import Callable, Sequence
from typing import Any

from envwright.testbed import Completion, Task, Testbed
from envwright.trainer import Group


class RewardRecorder:
    """A TRL reward function: judges completions with the testbed and keeps each group's rewards.

    Args:
        testbed: judges.
        group_size: completions per prompt; TRL hands the members of a group one after the other.
    """

    __name__ = "verdict"  # TRL logs rewards under the function's name

    def __init__(self, testbed: Testbed[Any], group_size: int) -> None:
        self._testbed = testbed
        self._group_size = group_size
        self.end_token: int | None = None
        self.start_round()

    def start_round(self) -> None:
        """Forgets the groups of the round before."""
        self.groups: list[Group] = []
        self.completion_tokens = 0

    def __call__(
        self,
        completions: Sequence[Any],
        completion_ids: Sequence[Sequence[int]],
        task: Sequence[str],
        log_metric: Callable[[str, float], None],
        **columns: Any,
    ) -> list[float | None]:
        """Returns one reward per completion; `task` is the row's task as JSON."""
        tasks = [Task.model_validate_json(text) for text in task]
        verdicts = [
            self._testbed.verify(one, self._completion(completion, ids))
            for one, completion, ids in zip(tasks, completions, completion_ids, strict=True)
        ]
        rewards = [verdict.reward for verdict in verdicts]
        self._record(tasks, rewards)
        self.completion_tokens += sum(len(ids) for ids in completion_ids)
        log_metric("valid_rate", sum(verdict.valid for verdict in verdicts) / len(verdicts))
        log_metric("optimal_rate", sum(verdict.optimal for verdict in verdicts) / len(verdicts))
        log_metric("parse_rate", sum(verdict.parsed for verdict in verdicts) / len(verdicts))
        return [*rewards]

    def _completion(self, completion: Any, ids: Sequence[int]) -> Completion:
        text = completion if isinstance(completion, str) else completion[0]["content"]
        return Completion(text=text, tokens=len(ids), truncated=self.end_token not in ids[-1:])

    def _record(self, tasks: Sequence[Task], rewards: Sequence[float]) -> None:
        for start in range(0, len(tasks), self._group_size):
            task = tasks[start]
            members = tuple(rewards[start : start + self._group_size])
            self.groups.append(Group(task_id=task.id, source=task.source, rewards=members))
