"""The probe rule: sample a few tasks of a candidate, let the current policy answer, look for a learning signal."""

from collections.abc import Callable, Sequence

from envwright.engineer import Evidence, Table
from envwright.engineers.candidates import CandidateSettings, Judge
from envwright.policy import Policy, Sampling
from envwright.seeds import derive_seed
from envwright.testbed import Completion, Task


def probed_signal(
    settings: CandidateSettings,
    sample: Callable[[Table, int, int], Sequence[Task]],
    reward: Callable[[Task, Completion], float],
    policy: Callable[[], Policy],
    sampling: Sampling,
    seed: int,
) -> Judge:
    """Returns the rule that scores the share of tasks whose group of answers has mixed rewards.

    Args:
        settings: tasks per candidate and answers per task.
        sample: (configuration, count, seed) -> tasks; the same seed for every candidate of a redesign.
        reward: the testbed's reward of an answer.
        policy: gives the current policy.
        sampling: as in training or validation.
        seed: the run's.
    """

    def judge(table: Table, evidence: Evidence) -> tuple[float, int]:
        derived = derive_seed(seed, "probe", evidence.current.round_index)
        tasks = sample(table, settings.probe_tasks, derived)
        group = settings.probe_samples
        conversations = [task.messages for task in tasks for _ in range(group)]
        answers = policy().generate(conversations, sampling.model_copy(update={"seed": derived}))
        mixed = 0
        for number, task in enumerate(tasks):
            rewards = {round(reward(task, answer), 9) for answer in answers[number * group : (number + 1) * group]}
            mixed += len(rewards) > 1
        return mixed / len(tasks), sum(answer.tokens for answer in answers)

    return judge
