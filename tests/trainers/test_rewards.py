from envwright.testbed import Completion, Task, Verdict
from envwright.trainers.rewards import RewardRecorder

END = 7


class LengthTestbed:
    """Rewards the number of letters; keeps what it was shown."""

    def __init__(self) -> None:
        self.shown: list[Completion] = []

    def verify(self, task: Task, completion: Completion) -> Verdict:
        self.shown.append(completion)
        return Verdict(reward=float(len(completion.text)), parsed=True, valid=bool(completion.text), optimal=False)


def task_row(name: str) -> str:
    return Task(id=name, messages=(), payload="", tags={"source": "5"}).model_dump_json()


def call(recorder: RewardRecorder, texts: list[str], ids: list[list[int]], rows: list[str]) -> tuple[list[float], dict]:
    metrics: dict[str, float] = {}
    completions = [[{"role": "assistant", "content": text}] for text in texts]
    rewards = recorder(completions, ids, rows, metrics.__setitem__, trainer_state=None, prompts=None)
    return rewards, metrics


def test_reward_recorder__records_each_group_with_its_rewards() -> None:
    recorder = RewardRecorder(LengthTestbed(), group_size=2)  # type: ignore[arg-type]
    recorder.end_token = END
    rows = [task_row("a"), task_row("a"), task_row("b"), task_row("b")]
    rewards, metrics = call(recorder, ["x", "xx", "", ""], [[1, END]] * 4, rows)
    assert rewards == [1.0, 2.0, 0.0, 0.0]
    assert [(group.task_id, group.rewards, group.has_signal) for group in recorder.groups] == [
        ("a", (1.0, 2.0), True),
        ("b", (0.0, 0.0), False),
    ]
    assert metrics["valid_rate"] == 0.5
    assert recorder.completion_tokens == 8


def test_reward_recorder__calls_an_answer_without_end_token_truncated() -> None:
    testbed = LengthTestbed()
    recorder = RewardRecorder(testbed, group_size=2)  # type: ignore[arg-type]
    recorder.end_token = END
    call(recorder, ["x", "y"], [[1, END], [1, 2]], [task_row("a")] * 2)
    assert [completion.truncated for completion in testbed.shown] == [False, True]


def test_reward_recorder__forgets_at_the_start_of_a_round() -> None:
    recorder = RewardRecorder(LengthTestbed(), group_size=1)  # type: ignore[arg-type]
    call(recorder, ["x"], [[1]], [task_row("a")])
    recorder.start_round()
    assert recorder.groups == []
    assert recorder.completion_tokens == 0
