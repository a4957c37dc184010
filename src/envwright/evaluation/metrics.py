"""Rates and their intervals: numbers a reader can recompute from counts."""

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from envwright.seeds import derive_seed

CONFIDENCE = 0.95
RESAMPLES = 10_000


def wilson_interval(successes: int, trials: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Returns Wilson's score interval of a rate; (0, 1) without trials."""
    if trials == 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    rate = successes / trials
    centre = (rate + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z / (1 + z * z / trials) * math.sqrt(rate * (1 - rate) / trials + z * z / (4 * trials * trials))
    return max(0.0, centre - half), min(1.0, centre + half)


def paired_difference(
    before: Sequence[bool], after: Sequence[bool], confidence: float = CONFIDENCE
) -> tuple[float, float, float]:
    """Returns the mean difference after - before on the same tasks, and its paired bootstrap interval.

    Tasks are resampled, each with both of its outcomes; since a task can only be lost, unchanged or won, a resample is
    one multinomial draw of those three counts. The generator's seed is derived from the data, so the same data give the
    same interval.

    Raises:
        ValueError: the two are not of one length, or empty.
    """
    if len(before) != len(after) or not before:
        raise ValueError(f"paired outcomes must be of one length above 0, got {len(before)} and {len(after)}")
    differences = [int(new) - int(old) for old, new in zip(before, after, strict=True)]
    trials = len(differences)
    shares = [differences.count(change) / trials for change in (-1, 0, 1)]
    generator = np.random.default_rng(derive_seed("paired difference", differences))
    counts = generator.multinomial(trials, shares, size=RESAMPLES)
    means = (counts[:, 2] - counts[:, 0]) / trials
    low, high = np.quantile(means, [(1 - confidence) / 2, (1 + confidence) / 2])
    return sum(differences) / trials, float(low), float(high)
