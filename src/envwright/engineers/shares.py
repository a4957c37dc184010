"""The shares of the sources: scaled to sum 1 within floors and a cap, and held near the shares before."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

DIGITS = 4
UNITS = 10**DIGITS
"""A share is a whole number of units, so that the shares sum to 1 exactly and projecting twice changes nothing."""
SHARE = "data_ratio"
ROUNDING = 1 / UNITS
"""A change by no more than this is rounding; every other change is recorded."""
NOTICEABLE = 0.015
"""Rescaling is recorded only where the sum was off, or a share moves, by more than this: 0.99 is two-digit rounding."""


Reasons = dict[tuple[str, str], list[str]]
"""(source, knob) -> why it was corrected, in the order of the steps."""


def note(reasons: Reasons, source: str, knob: str, reason: str) -> None:
    """Adds a reason for the correction of one knob."""
    reasons.setdefault((source, knob), []).append(reason)


@dataclass(frozen=True)
class Limits:
    """The smallest share of each source and the largest of any, in whole units; they leave room for a sum of 1."""

    floors: Mapping[str, float]
    cap: float

    @classmethod
    def of(cls, floors: Mapping[str, float], cap: float) -> "Limits":
        """Returns the limits, a floor above the equal share lowered to it and a cap below it raised."""
        even = 1 / len(floors)
        lowest = {source: math.floor(min(floor, even) * UNITS + 1e-6) / UNITS for source, floor in floors.items()}
        return cls(lowest, math.ceil(max(cap, even) * UNITS - 1e-6) / UNITS)


def normalise(shares: Mapping[str, float], limits: Limits, reasons: Reasons) -> dict[str, float]:
    """Returns the shares scaled to sum 1, each between its floor and the cap."""
    scaled = _in_units(_scale(shares, limits))
    total = sum(shares.values())
    uneven = abs(total - 1) > NOTICEABLE
    rescaled = (
        f"the shares must sum to 1, they summed to {total:.2f}" if uneven else "other shares met the floor or cap"
    )
    for source, share in scaled.items():
        floor = limits.floors[source]
        if share <= floor + ROUNDING and share > shares[source] + ROUNDING:
            note(reasons, source, SHARE, f"this share must be at least {floor:g}")
        elif share >= limits.cap - ROUNDING and share < shares[source] - ROUNDING:
            note(reasons, source, SHARE, f"each share must be at most {limits.cap:g}")
        elif abs(share - shares[source]) > (ROUNDING if uneven else NOTICEABLE):
            note(reasons, source, SHARE, rescaled)
    return scaled


def _scale(shares: Mapping[str, float], limits: Limits) -> dict[str, float]:
    """Returns clip(factor * share, floor, cap) with the one factor that makes the sum 1, found by bisection."""
    # A share of zero must be able to grow where the cap leaves no other way to the sum.
    weights = {source: max(share, 1e-9) for source, share in shares.items()}

    def clipped(factor: float) -> dict[str, float]:
        return {source: min(max(factor * w, limits.floors[source]), limits.cap) for source, w in weights.items()}

    low, high = 0.0, 1 / min(weights.values())
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if sum(clipped(middle).values()) < 1 else (low, middle)
    return clipped(high)


def _in_units(shares: Mapping[str, float]) -> dict[str, float]:
    """Returns the shares in whole units that sum to 1 exactly (largest remainders), none moved by a unit or more."""
    exact = {source: share * UNITS for source, share in shares.items()}
    units = {source: int(value + 1e-3) for source, value in exact.items()}
    by_remainder = sorted(exact, key=lambda source: units[source] - exact[source])
    for source in by_remainder[: UNITS - sum(units.values())]:
        units[source] += 1
    return {source: count / UNITS for source, count in units.items()}


def hold_shares(
    shares: dict[str, float], centre: Mapping[str, float], limit: float, reasons: Reasons
) -> dict[str, float]:
    """Returns the shares, moved back towards the centre until their total variation is within the limit."""
    distance = sum(abs(share - centre[source]) for source, share in shares.items()) / 2
    if distance <= limit + 1e-9:
        return shares
    step = max(limit - len(shares) * ROUNDING / 2, 0.0) / distance  # leaves room for rounding to units
    held = _in_units({source: centre[source] + step * (share - centre[source]) for source, share in shares.items()})
    for source, share in held.items():
        if abs(share - shares[source]) > ROUNDING:
            note(reasons, source, SHARE, f"the shares may change by at most {limit:g} in all (total variation)")
    return held
