"""From a proposal to a legal configuration: clamp, floor, cap, renormalise, trust region; each change is recorded."""

import math
from collections.abc import Mapping, Sequence

from pydantic import BaseModel, ConfigDict, Field

from envwright.configuration import KnobBounds
from envwright.engineer import Correction, Proposal, Redesign, Table

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


class TrustRegion(BaseModel):
    """How far one redesign may go (the distances are our choice; the paper recipe switches it off)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    data_ratio: float = Field(default=0.3, gt=0, le=1, description="largest total-variation change of the shares")
    other: float = Field(default=0.15, gt=0, description="largest change of any other knob")


class GuardrailSettings(BaseModel):
    """What is done to every proposal; null switches the cap or the trust region off."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    floor: float = Field(default=0.02, ge=0, lt=0.1, description="smallest share of a source, against forgetting")
    cap: float | None = Field(default=None, ge=0.1, le=1, description="largest share of a source")
    trust_region: TrustRegion | None = Field(default_factory=TrustRegion)


def project(proposal: Proposal, previous: Table, knobs: Sequence[KnobBounds], settings: GuardrailSettings) -> Redesign:
    """Returns the legal configuration that the proposal becomes, with every correction and its reason.

    Args:
        proposal: what the engineer wants; without a table the previous configuration is kept.
        previous: the legal configuration that it edits. The trust region is centred on it, or, where its shares break
            the floor or the cap, on the shares these make of it: floor and cap win over the trust region.
        knobs: the bounds.
        settings: floor, cap and trust region. With too many or too few sources for them, the shares are equal.
    """
    if proposal.table is None:
        return Redesign(configuration=previous, status="kept", proposal=proposal)
    reasons: Reasons = {}
    table = _clamp(proposal.table, knobs, reasons)
    shares = _normalise(_shares(table), settings, reasons)
    if settings.trust_region:
        centre = _normalise(_shares(previous), settings, {})
        shares = _hold_shares(shares, centre, settings.trust_region.data_ratio, reasons)
        table = _hold_knobs(table, previous, settings.trust_region.other, reasons)
    legal = {
        source: {name: shares[source] if name == SHARE else round(value, DIGITS) for name, value in row.items()}
        for source, row in table.items()
    }
    corrections = tuple(
        Correction(source=s, knob=k, proposed=proposal.table[s][k], became=legal[s][k], reason="; ".join(texts))
        for (s, k), texts in reasons.items()
    )
    status = "corrected" if corrections else "accepted"
    return Redesign(configuration=legal, status=status, corrections=corrections, proposal=proposal)


def _note(reasons: Reasons, source: str, knob: str, reason: str) -> None:
    reasons.setdefault((source, knob), []).append(reason)


def _shares(table: Table) -> dict[str, float]:
    return {source: row[SHARE] for source, row in table.items()}


def _clamp(table: Table, knobs: Sequence[KnobBounds], reasons: Reasons) -> Table:
    clamped: Table = {source: {} for source in table}
    for source, row in table.items():
        for knob in knobs:
            value = min(max(row[knob.name], knob.lower), knob.upper)
            if abs(value - row[knob.name]) > ROUNDING:
                _note(reasons, source, knob.name, f"{knob.name} must lie in {knob.lower:g}..{knob.upper:g}")
            clamped[source][knob.name] = value
    return clamped


def _normalise(shares: Mapping[str, float], settings: GuardrailSettings, reasons: Reasons) -> dict[str, float]:
    """Returns the shares scaled to sum 1, each between floor and cap."""
    even = 1 / len(shares)
    floor = math.floor(min(settings.floor, even) * UNITS + 1e-6) / UNITS
    cap = math.ceil(max(settings.cap or 1.0, even) * UNITS - 1e-6) / UNITS
    scaled = _in_units(_scale(shares, floor, cap))
    total = sum(shares.values())
    uneven = abs(total - 1) > NOTICEABLE
    rescaled = (
        f"the shares must sum to 1, they summed to {total:.2f}" if uneven else "other shares met the floor or cap"
    )
    for source, share in scaled.items():
        if share <= floor + ROUNDING and share > shares[source] + ROUNDING:
            _note(reasons, source, SHARE, f"each share must be at least {floor:g}")
        elif share >= cap - ROUNDING and share < shares[source] - ROUNDING:
            _note(reasons, source, SHARE, f"each share must be at most {cap:g}")
        elif abs(share - shares[source]) > (ROUNDING if uneven else NOTICEABLE):
            _note(reasons, source, SHARE, rescaled)
    return scaled


def _scale(shares: Mapping[str, float], floor: float, cap: float) -> dict[str, float]:
    """Returns clip(factor * share, floor, cap) with the one factor that makes the sum 1, found by bisection."""
    # A share of zero must be able to grow where the cap leaves no other way to the sum.
    weights = {source: max(share, 1e-9) for source, share in shares.items()}

    def clipped(factor: float) -> dict[str, float]:
        return {source: min(max(factor * weight, floor), cap) for source, weight in weights.items()}

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


def _hold_shares(
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
            _note(reasons, source, SHARE, f"the shares may change by at most {limit:g} in all (total variation)")
    return held


def _hold_knobs(table: Table, previous: Table, limit: float, reasons: Reasons) -> Table:
    """Returns the table with every knob but the share within the limit of its previous value."""
    held: Table = {source: dict(row) for source, row in table.items()}
    for source, row in held.items():
        for name, value in row.items():
            centre = previous[source][name]
            nearest = min(max(value, centre - limit), centre + limit)
            if name != SHARE:
                row[name] = nearest
                if abs(nearest - value) > ROUNDING:
                    _note(reasons, source, name, f"{name} may change by at most {limit:g} per round")
    return held
