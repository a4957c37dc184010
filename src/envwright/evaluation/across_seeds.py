"""Rates and paired differences over several training seeds, and tests that belong to them."""

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from envwright.evaluation.metrics import CONFIDENCE, RESAMPLES, paired_difference, wilson_interval
from envwright.seeds import derive_seed

Interval = tuple[float, float, float]
"""Mean, and the lower and upper end of its 95% interval."""
Outcomes = Sequence[Sequence[bool]]
"""One row per seed: whether each task was won."""

CHUNK = 250


def rate_over_seeds(outcomes: Outcomes, same_tasks: bool) -> Interval:
    """Returns the mean rate with its interval: Wilson's for one seed, else the bootstrap of `mean_over_seeds`."""
    if len(outcomes) > 1:
        return mean_over_seeds(outcomes, same_tasks)
    wins, trials = sum(outcomes[0]), len(outcomes[0])
    low, high = wilson_interval(wins, trials)
    return wins / trials, low, high


def difference_over_seeds(before: Outcomes, after: Outcomes, same_tasks: bool) -> Interval:
    """Returns the mean paired difference after - before; both have the same seeds, and per seed the same tasks."""
    if len(before) == 1:
        return paired_difference(before[0], after[0])
    return mean_over_seeds(differences(before, after), same_tasks)


def differences(before: Outcomes, after: Outcomes) -> list[list[int]]:
    """Returns, per seed and task, -1 for lost, 0 for unchanged, 1 for won."""
    return [
        [int(new) - int(old) for old, new in zip(old_row, new_row, strict=True)]
        for old_row, new_row in zip(before, after, strict=True)
    ]


def mean_over_seeds(values: Sequence[Sequence[int]], same_tasks: bool) -> Interval:
    """Returns the mean of the seeds' means with a hierarchical percentile bootstrap over seeds and tasks.

    Seeds are resampled first. If every seed has the same tasks in the same order, one resample of the tasks is used for
    all of its seeds (crossed); otherwise each drawn seed resamples its own (nested). With fewer than five seeds such an
    interval tends to be too narrow. The generator's seed is derived from the data.

    Args:
        values: one row per seed of -1, 0 or 1 per task; all rows of one length.
        same_tasks: whether the columns are the same tasks in every row.
    """
    table = np.array(values, dtype=np.int64)
    generator = np.random.default_rng(derive_seed("over seeds", table.tolist(), same_tasks))
    means = _crossed(table, generator) if same_tasks else _nested(table, generator)
    low, high = np.quantile(means, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return float(table.mean()), float(low), float(high)


def _nested(table: NDArray[np.int64], generator: np.random.Generator) -> NDArray[np.float64]:
    seeds, tasks = table.shape
    shares = np.stack([(table == change).mean(axis=1) for change in (-1, 0, 1)], axis=1)
    chosen = generator.integers(0, seeds, (RESAMPLES, seeds))
    counts = generator.multinomial(tasks, shares[chosen])
    return (counts[..., 2] - counts[..., 0]).mean(axis=1) / tasks


def _crossed(table: NDArray[np.int64], generator: np.random.Generator) -> NDArray[np.float64]:
    seeds, tasks = table.shape
    parts: list[NDArray[np.float64]] = []
    for _ in range(RESAMPLES // CHUNK):
        weights = generator.multinomial(seeds, [1 / seeds] * seeds, size=CHUNK)
        by_task = weights @ table / seeds
        drawn = generator.integers(0, tasks, (CHUNK, tasks))
        parts.append(np.take_along_axis(by_task, drawn, axis=1).mean(axis=1))
    return np.concatenate(parts)


def sign_flip_p(changes: Sequence[int]) -> float:
    """Returns the exact two-sided p-value of a paired sign-flip test of the sum; McNemar's exact test if all are -1..1.

    Args:
        changes: one whole number per independent unit, e.g. a task's difference summed over the seeds.
    """
    sizes = Counter(abs(change) for change in changes if change)
    total = sum(size * count for size, count in sizes.items())
    chances = np.ones(1)  # of the sum of the changes that turn out positive
    for size, count in sizes.items():
        spread = np.zeros(size * count + 1)
        spread[::size] = _fair_binomial(count)
        chances = np.convolve(chances, spread)
    sums = np.abs(2 * np.arange(total + 1) - total)
    return min(1.0, float(chances[sums >= abs(sum(changes))].sum()))


def _fair_binomial(trials: int) -> list[float]:
    logs = [math.lgamma(trials + 1) - math.lgamma(k + 1) - math.lgamma(trials - k + 1) for k in range(trials + 1)]
    return [math.exp(value - trials * math.log(2)) for value in logs]


def holm(p_values: Sequence[float]) -> list[float]:
    """Returns Holm's step-down adjusted p-values, in the given order."""
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, index in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = largest
    return adjusted
