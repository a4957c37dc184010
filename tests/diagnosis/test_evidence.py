from collections.abc import Collection
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envwright.configuration import Configuration
from envwright.diagnosis.context import ContextSettings, render_context
from envwright.diagnosis.evidence import round_evidence
from envwright.diagnosis.failure_breakdown import ANSWER_CHARACTERS, PROMPT_CHARACTERS, failure_cases
from envwright.diagnosis.statistics import score_rollouts, tag_label
from envwright.engineer import Bookkeeping, Evidence, RoundEvidence
from envwright.rollout import Rollout
from envwright.testbed import Completion, Task, Testbed, Verdict
from envwright.testbeds.mapf_frozenlake.knobs import MapfConfiguration, MapfKnobs
from envwright.trainer import Group


class TwoSizes(Testbed[MapfKnobs]):
    name: ClassVar[str] = "two_sizes"
    source_word: ClassVar[str] = "size"
    subject: ClassVar[str] = "paths"
    failure_kinds: ClassVar[tuple[str, ...]] = ("parse", "hole", "goal")
    split_tags: ClassVar[tuple[str, ...]] = ("wait", "holes")
    knobs_type = MapfKnobs
    sources = ("3", "5")

    def sample(self, configuration: Any, count: int, seed: int, exclude: Collection[str] = ()) -> list[Task]:
        raise NotImplementedError

    def verify(self, task: Task, completion: Completion) -> Verdict:
        raise NotImplementedError

    def validation_set(self, count: int, seed: int) -> list[Task]:
        raise NotImplementedError

    def uniform_configuration(self) -> MapfConfiguration:
        knobs = MapfKnobs(data_ratio=0.5, hole_ratio=0.25, wait_ratio=0.5)
        return Configuration[MapfKnobs](sources=dict.fromkeys(self.sources, knobs))


TESTBED = TwoSizes()


def task(name: str, source: str, wait: bool = False, holes: float = 0.3) -> Task:
    content = f"Find paths.\nSize: {source}\nBoard {name}\nAnswer in cells."
    tags = {"source": source, "wait": wait, "holes": holes}
    return Task(id=name, messages=({"role": "user", "content": content},), payload="{}", tags=tags)


def rollout(
    asked: Task, folded: str | None = None, optimal: bool = False, text: str = "plan", **answer: Any
) -> Rollout:
    exact = {"parse": "parse_error", "hole": "hole_collision", "goal": "goal_not_reached"}.get(folded or "")
    verdict = Verdict(
        reward=0.0,
        parsed=folded != "parse",
        valid=folded is None,
        optimal=optimal,
        failure=exact,
        folded=folded,
        details={"step": 2} if folded == "hole" else {},
    )
    return Rollout(task=asked, completion=Completion(text=text, tokens=10, **answer), verdict=verdict)


ROLLOUTS = [
    rollout(task("a", "3", wait=True), optimal=True),
    rollout(task("b", "3", wait=False)),
    rollout(task("c", "3", wait=True), "goal"),
    rollout(task("d", "5", wait=True), "hole"),
    rollout(task("e", "5", wait=False), "parse", truncated=True),
    rollout(task("f", "5", wait=False, holes=0.12), "hole"),
]
TRAINING = [task("t0", "3", wait=True), task("t1", "3", wait=False, holes=0.5), task("t2", "5", wait=True)]
GROUPS = [
    Group(task_id="t0", source="3", rewards=(1.0, 1.0)),
    Group(task_id="t1", source="3", rewards=(1.0, 0.1)),
    Group(task_id="t2", source="5", rewards=(0.0, 0.0)),
]


def evidence(rollouts: list[Rollout] = ROLLOUTS) -> RoundEvidence:
    configuration = TESTBED.uniform_configuration()
    return round_evidence(1, configuration, rollouts, GROUPS, TESTBED, TRAINING, {"5": "valid 0.00"})


def test_round_evidence__counts_rates_and_kinds_per_source():
    found = evidence()
    assert found.by_source["3"].failures == {"goal": 1}
    assert found.by_source["5"].failures == {"hole": 2, "parse": 1}
    assert (found.by_source["3"].valid, found.by_source["3"].optimal, found.by_source["5"].valid) == (2, 1, 0)
    assert (found.overall.rollouts, found.overall.parsed, found.overall.truncated) == (6, 5, 1)
    assert found.overall.mean_tokens == 10.0


def test_round_evidence__counts_groups_without_signal_per_source_and_tag():
    found = evidence()
    assert (found.overall.no_signal_rate, found.by_source["3"].no_signal_rate) == (2 / 3, 0.5)
    assert found.by_tag["wait"]["3/True"].no_signal_rate == 1.0
    assert found.by_tag["wait"]["3/False"].no_signal_rate == 0.0


def test_round_evidence__splits_by_every_tag_of_the_testbed():
    found = evidence()
    assert found.by_tag["wait"]["3/True"].valid_rate == 0.5
    assert found.by_tag["wait"]["3/False"].valid_rate == 1.0
    assert found.by_tag["holes"]["5/0.1-0.2"].rollouts == 1
    assert found.by_tag["holes"]["5/0.3-0.4"].rollouts == 2


def test_round_evidence__keeps_what_the_generator_really_produced():
    assert evidence().environment["3"] == {"tasks": 2.0, "mean_wait": 0.5, "mean_holes": pytest.approx(0.4)}


def test_round_evidence__survives_json():
    found = evidence()
    assert RoundEvidence.model_validate_json(found.model_dump_json()) == found


def test_round_evidence__without_rollouts_lists_every_source_and_renders():
    found = evidence([])
    assert list(found.by_source) == ["3", "5"]
    assert (found.overall.valid_rate, found.overall.mean_tokens) == (0.0, 0.0)
    book = Bookkeeping(round_index=1, rounds=3, epochs=2, samples_per_round=3)
    text = render_context(Evidence(current=found, bookkeeping=book), TESTBED, ContextSettings())
    assert "size 5: tasks 0, valid 0.00" in text


def test_round_evidence__renders_the_wait_split():
    book = Bookkeeping(round_index=1, rounds=3, epochs=2, samples_per_round=3)
    text = render_context(Evidence(current=evidence(), bookkeeping=book), TESTBED, ContextSettings(modules="V1"))
    assert "size 3 valid: wait 0.50, no wait 1.00\n" in text


def test_round_evidence__group_of_an_unknown_task_still_counts_for_its_source():
    stray = [Group(task_id="?", source="3", rewards=(0.0, 0.0))]
    found = round_evidence(0, TESTBED.uniform_configuration(), ROLLOUTS, stray, TESTBED, TRAINING, {})
    assert found.by_source["3"].groups == 1
    assert all(score.groups == 0 for score in found.by_tag["wait"].values())


@given(st.lists(st.sampled_from([None, "parse", "hole", "goal"]), max_size=30))
def test_score_rollouts__every_answer_is_valid_or_counted_under_one_kind(outcomes: list[str | None]):
    rollouts = [rollout(task(str(index), "3"), outcome) for index, outcome in enumerate(outcomes)]
    score = score_rollouts(rollouts)
    assert score.valid + sum(score.failures.values()) == score.rollouts == len(outcomes)


def test_failure_cases__show_the_dominant_kind_of_each_source():
    cases = failure_cases(ROLLOUTS)
    assert [(case.source, case.kind) for case in cases] == [("3", "goal"), ("5", "hole"), ("5", "hole")]
    assert cases[1].explanation == "hole_collision: step 2"


def test_failure_cases__keep_the_board_and_drop_the_rules_all_prompts_share():
    case = failure_cases(ROLLOUTS)[1]
    assert case.prompt == "Size: 5\nBoard d"


def test_failure_cases__a_single_prompt_is_kept_whole():
    assert failure_cases(ROLLOUTS[3:4])[0].prompt == ROLLOUTS[3].task.messages[0]["content"]


def test_failure_cases__keep_the_end_of_a_long_answer():
    long = [rollout(task("B" * 2000, "3"), "goal", text="think " * 500 + "Agent 0: (0,0)"), ROLLOUTS[0]]
    (case,) = failure_cases(long)
    assert case.answer.endswith("Agent 0: (0,0)")
    assert len(case.answer) == ANSWER_CHARACTERS
    assert len(case.prompt) == PROMPT_CHARACTERS


@pytest.mark.parametrize(
    ("value", "label"),
    [
        (True, "True"),
        (4, "4"),
        ("hard", "hard"),
        (0.0, "0.0-0.1"),
        (0.3, "0.3-0.4"),
        (0.299, "0.2-0.3"),
        (0.5, "0.5-0.6"),
    ],
)
def test_tag_label__names_values_and_bins(value: Any, label: str):
    assert tag_label(value) == label
