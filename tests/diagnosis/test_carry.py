from collections.abc import Sequence

import pytest

from envwright.diagnosis.carry import decide_carry
from envwright.diagnosis.setbacks import EVERYTHING, compare_with_best, find_forgotten, setback_note
from envwright.evaluation.metrics import paired_difference
from envwright.rollout import Rollout
from envwright.testbed import Completion, Task, Verdict


def rollouts(outcomes: Sequence[bool], sources: Sequence[str] = ("3",)) -> list[Rollout]:
    return [
        Rollout(
            task=Task(id=str(index), messages=(), payload="", tags={"source": sources[index % len(sources)]}),
            completion=Completion(text="", tokens=1),
            verdict=Verdict(reward=float(valid), parsed=True, valid=valid, optimal=valid),
        )
        for index, valid in enumerate(outcomes)
    ]


GOOD, SLIGHTLY_WORSE, BAD = [True] * 60 + [False] * 40, [True] * 58 + [False] * 42, [True] * 20 + [False] * 80


def test_compare_with_best__says_how_far_the_last_round_fell() -> None:
    setback = compare_with_best(EVERYTHING, {0: rollouts(GOOD), 1: rollouts(BAD)})
    assert setback is not None
    assert (setback.best_round, setback.best_rate, setback.rate) == (0, 0.6, 0.2)
    assert (setback.difference, setback.low, setback.high) == paired_difference(GOOD, BAD)
    assert setback.beyond_chance
    assert setback_note(setback, "size") == (
        "round 1 fell to valid 0.20 from 0.60 in round 0; training goes on from round 0"
    )


def test_compare_with_best__of_equal_rounds_takes_the_last() -> None:
    assert compare_with_best(EVERYTHING, {0: rollouts(GOOD), 1: rollouts(GOOD)}) is None
    assert compare_with_best(EVERYTHING, {0: rollouts(GOOD)}) is None


@pytest.mark.parametrize(
    ("mode", "last", "carried"),
    [
        ("last", BAD, 1),
        ("rollback", BAD, 0),
        ("rollback", SLIGHTLY_WORSE, 1),
        ("best", SLIGHTLY_WORSE, 0),
        ("best", GOOD, 1),
    ],
)
def test_decide_carry__by_mode(mode: str, last: list[bool], carried: int) -> None:
    carry = decide_carry(mode, False, {0: rollouts(GOOD), 1: rollouts(last)}, ["3"])  # type: ignore[arg-type]
    assert carry.round_index == carried
    assert (carry.fall is not None) == (carried == 0)
    assert carry.forgotten == ()


def test_find_forgotten__looks_at_each_source_and_its_own_best_round() -> None:
    sources = ("3", "4")
    first = [True, False] * 50  # all of 3, none of 4
    second = [False, True] * 50  # none of 3, all of 4
    third = [True, True] * 50
    assert [s.scope for s in find_forgotten(sources, {0: rollouts(first, sources), 1: rollouts(second, sources)})] == [
        "3"
    ]
    rounds = {0: rollouts(first, sources), 1: rollouts(third, sources), 2: rollouts(second, sources)}
    (forgotten,) = find_forgotten(sources, rounds)
    assert (forgotten.scope, forgotten.best_round, forgotten.rate) == ("3", 1, 0.0)
    assert setback_note(forgotten, "size") == (
        "size 3 fell to valid 0.00 from 1.00 in round 1; its data_ratio is kept up"
    )
    assert decide_carry("last", True, rounds, sources).forgotten == (forgotten,)
