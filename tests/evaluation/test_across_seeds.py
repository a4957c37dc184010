import random
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envwright.evaluation.across_seeds import (
    difference_over_seeds,
    holm,
    mean_over_seeds,
    rate_over_seeds,
    sign_flip_p,
)
from envwright.evaluation.metrics import paired_difference, wilson_interval


def coins(share: float, count: int, seed: int) -> list[bool]:
    generator = random.Random(seed)
    return [generator.random() < share for _ in range(count)]


def test_one_seed__is_wilson_and_the_paired_bootstrap() -> None:
    before, after = coins(0.4, 60, 1), coins(0.6, 60, 2)
    assert rate_over_seeds([after], True)[1:] == wilson_interval(sum(after), 60)
    assert difference_over_seeds([before], [after], True) == paired_difference(before, after)


@pytest.mark.parametrize("same_tasks", [True, False])
def test_mean_over_seeds__is_wider_when_seeds_disagree(same_tasks: bool) -> None:
    alike = [coins(0.5, 200, seed) for seed in range(4)]
    apart = [coins(share, 200, 9) for share in (0.2, 0.4, 0.6, 0.8)]
    _, low, high = mean_over_seeds(alike, same_tasks)
    _, low_apart, high_apart = mean_over_seeds(apart, same_tasks)
    assert low < 0.5 < high
    assert high_apart - low_apart > 2 * (high - low)


def test_mean_over_seeds__crossed_tasks_that_every_seed_shares_do_not_average_out() -> None:
    row = coins(0.5, 200, 1)
    nested, crossed = (mean_over_seeds([row] * 4, same_tasks) for same_tasks in (False, True))
    assert crossed[2] - crossed[1] > 1.5 * (nested[2] - nested[1])


@pytest.mark.parametrize("same_tasks", [True, False])
def test_mean_over_seeds__is_the_same_for_the_same_data(same_tasks: bool) -> None:
    rows = [coins(0.5, 50, seed) for seed in range(3)]
    assert mean_over_seeds(rows, same_tasks) == mean_over_seeds(rows, same_tasks)
    assert mean_over_seeds(rows, same_tasks)[0] == pytest.approx(sum(map(sum, rows)) / 150)


def test_difference_over_seeds__equal_arms_differ_by_nothing() -> None:
    rows = [coins(0.5, 50, seed) for seed in range(3)]
    assert difference_over_seeds(rows, rows, False) == (0, 0, 0)


@given(st.lists(st.integers(-3, 3), max_size=9))
def test_sign_flip__matches_enumeration(changes: list[int]) -> None:
    observed = abs(sum(changes))
    flips = [
        abs(sum(s * c for s, c in zip(signs, changes, strict=True))) for signs in product((-1, 1), repeat=len(changes))
    ]
    expected = sum(value >= observed for value in flips) / len(flips)
    assert sign_flip_p(changes) == pytest.approx(expected)


def test_sign_flip__of_one_seed_is_mcnemars_exact_test() -> None:
    # 2 lost, 10 won: twice the binomial tail P(X <= 2) of 12 fair coins.
    assert sign_flip_p([-1] * 2 + [1] * 10 + [0] * 100) == pytest.approx(2 * (1 + 12 + 66) / 4096)


def test_holm__multiplies_stepwise_and_stays_monotone() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []
