"""The rollout record, and how a set of tasks becomes rollouts."""

from collections.abc import Callable, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict

from envwright.policy import Policy, Sampling
from envwright.seeds import derive_seed
from envwright.testbed import Completion, Task, Testbed, Verdict


class Rollout(BaseModel):
    """One answer of a policy to one task, judged."""

    model_config = ConfigDict(frozen=True)

    task: Task
    completion: Completion
    verdict: Verdict


def collect_rollouts(
    policy: Policy,
    tasks: Sequence[Task],
    testbed: Testbed[Any],
    sampling: Sampling,
    batch_size: int = 256,
    on_batch: Callable[[int], None] = lambda done: None,
) -> list[Rollout]:
    """Returns one judged rollout per task, in order.

    Args:
        policy: answers the prompts.
        tasks: what to ask.
        testbed: judges the answers.
        sampling: the same for all; each batch derives its own seed from it.
        batch_size: prompts per call of the policy.
        on_batch: called with the number of rollouts done so far.
    """
    rollouts: list[Rollout] = []
    for start in range(0, len(tasks), batch_size):
        batch = tasks[start : start + batch_size]
        seeded = sampling.model_copy(update={"seed": derive_seed(sampling.seed, start)})
        completions = policy.generate([task.messages for task in batch], seeded)
        rollouts += [
            Rollout(task=task, completion=completion, verdict=testbed.verify(task, completion))
            for task, completion in zip(batch, completions, strict=True)
        ]
        on_batch(len(rollouts))
    return rollouts
