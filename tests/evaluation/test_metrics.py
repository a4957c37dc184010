from statistics import pstdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envwright.evaluation.metrics import paired_difference, wilson_interval


def test_wilson_interval__matches_the_published_example() -> None:
    # Newcombe 1998, table I: 81 of 263 gives 0.2553 to 0.3662.
    low, high = wilson_interval(81, 263)
    assert (round(low, 4), round(high, 4)) == (0.2553, 0.3662)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_interval__holds_the_rate(counts: tuple[int, int]) -> None:
    low, high = wilson_interval(*counts)
    assert 0 <= low <= counts[0] / counts[1] + 1e-12
    assert counts[0] / counts[1] - 1e-12 <= high <= 1


def test_wilson_interval__without_trials_says_nothing() -> None:
    assert wilson_interval(0, 0) == (0.0, 1.0)


def test_paired_difference__is_narrower_than_the_unpaired_one_when_outcomes_agree() -> None:
    before = [True] * 50 + [False] * 50
    after = [True] * 50 + [True] * 10 + [False] * 40
    mean, low, high = paired_difference(before, after)
    assert mean == pytest.approx(0.10)
    assert 0.03 < low < mean < high < 0.18
    assert paired_difference(before, after) == (mean, low, high)


def test_paired_difference__refuses_unequal_lengths() -> None:
    with pytest.raises(ValueError, match="one length"):
        paired_difference([True], [])


def test_paired_difference__agrees_with_the_normal_interval_of_the_mean() -> None:
    before = [index % 3 == 0 for index in range(600)]
    after = [index % 2 == 0 for index in range(600)]
    changes = [int(new) - int(old) for old, new in zip(before, after, strict=True)]
    half = 1.96 * pstdev(changes) / len(changes) ** 0.5
    mean, low, high = paired_difference(before, after)
    assert (low, high) == pytest.approx((mean - half, mean + half), abs=0.003)


def test_paired_difference__of_equal_outcomes_is_exactly_nothing() -> None:
    assert paired_difference([True, False], [True, False]) == (0.0, 0.0, 0.0)
