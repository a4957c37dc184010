from engineer_contract import TABLE, evidence_of

from envwright.engineers.candidates import CandidateSettings
from envwright.engineers.probe import probed_signal
from envwright.policies.scripted import ScriptedPolicy
from envwright.policy import Sampling
from envwright.testbed import Task


def tasks(count: int) -> list[Task]:
    return [
        Task(id=str(n), messages=({"role": "user", "content": str(n)},), payload="", tags={"source": "3"})
        for n in range(count)
    ]


def test_probed_signal__is_the_share_of_groups_with_mixed_rewards() -> None:
    asked: list[tuple[int, int]] = []

    def sample(table: object, count: int, seed: int) -> list[Task]:
        asked.append((count, seed))
        return tasks(count)

    policy = ScriptedPolicy(["1", "1", "0", "1", "0", "0"])  # three groups of two: all right, mixed, all wrong
    judge = probed_signal(
        CandidateSettings(rule="probe", probe_tasks=3, probe_samples=2),
        sample,
        lambda task, answer: float(answer.text),
        lambda: policy,
        Sampling(),
        seed=4,
    )
    first, second = judge(TABLE, evidence_of()), judge(TABLE, evidence_of())
    assert first[0] == 1 / 3
    assert first[1] > 0
    assert second == first
    assert asked[0] == asked[1], "all candidates of a redesign are probed with one seed"
    assert asked[0][0] == 3
