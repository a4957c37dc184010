"""From a proposal to a legal configuration: clamp, floor, renormalise, hold inside a trust region; record each change."""

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field

from envwright.configuration import KnobBounds
from envwright.engineer import Correction, Proposal, Redesign, Table

DIGITS = 4
SHARE = "data_ratio"
NOTICEABLE = 0.01
"""A change of a share by less than this comes from rounding and renormalising, and is not worth a record."""


class TrustRegion(BaseModel):
    """How far one redesign may go (the distances are our choice; the paper recipe switches it off)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    data_ratio: float = Field(default=0.3, gt=0, le=1, description="largest total-variation change of the shares")
    other: float = Field(default=0.15, gt=0, description="largest change of any other knob")


class GuardrailSettings(BaseModel):
    """What is done to every proposal; null switches the trust region off."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    floor: float = Field(default=0.02, ge=0, lt=0.1, description="smallest share of a source, against forgetting")
    trust_region: TrustRegion | None = Field(default_factory=TrustRegion)


def project(
    proposal: Proposal, previous: Table, knobs: Sequence[KnobBounds], settings: GuardrailSettings
) -> Redesign:
    """Returns the legal configuration nearest to the proposal in the declared steps.

    Args:
        proposal: what the engineer wants; without a table the previous configuration is kept.
        previous: the configuration it edits; it keeps its value as the centre of the trust region.
        knobs: the bounds.
        settings: floor and trust region. Where the previous shares break the floor, the floor wins.
    """
    if proposal.table is None:
        return Redesign(configuration=previous, status="kept", proposal=proposal)
    corrections: list[Correction] = []
    table = _clamp(proposal.table, previous, knobs, settings.trust_region, corrections)
    shares = _shares({source: row[SHARE] for source, row in table.items()}, settings.floor)
    if settings.trust_region:
        old = _shares({source: row[SHARE] for source, row in previous.items()}, settings.floor)
        shares = _hold(shares, old, settings.trust_region.data_ratio)
    for source, share in shares.items():
        asked = proposal.table[source][SHARE]
        if abs(share - asked) > NOTICEABLE:
            corrections.append(_correction(source, SHARE, asked, share, _share_reason(proposal.table, settings)))
        table[source][SHARE] = share
    status = "corrected" if corrections else "accepted"
    return Redesign(configuration=table, status=status, corrections=tuple(corrections), proposal=proposal)


def _clamp(
    table: Table,
    previous: Table,
    knobs: Sequence[KnobBounds],
    region: TrustRegion | None,
    corrections: list[Correction],
) -> Table:
    clamped: Table = {source: dict(row) for source, row in table.items()}
    for source, row in clamped.items():
        for knob in knobs:
            asked = row[knob.name]
            value = min(max(asked, knob.lower), knob.upper)
            reason = f"{knob.name} must lie in {knob.lower:g}..{knob.upper:g}"
            if region and knob.name != SHARE:
                centre = previous[source][knob.name]
                held = min(max(value, centre - region.other), centre + region.other)
                if held != value:
                    value, reason = held, f"{knob.name} may change by at most {region.other:g} per round"
            row[knob.name] = round(value, DIGITS)
            if abs(value - asked) > 10**-DIGITS:
                corrections.append(_correction(source, knob.name, asked, row[knob.name], reason))
    return clamped


def _shares(shares: dict[str, float], floor: float) -> dict[str, float]:
    """Returns the shares on the simplex with every share at least the floor (or equal, if there are too many)."""
    floor = min(floor, 1 / len(shares))
    total = sum(shares.values())
    even = 1 / len(shares)
    fractions = {source: share / total if total > 0 else even for source, share in shares.items()}
    fixed: set[str] = set()
    while True:
        room = 1 - floor * len(fixed)
        free = sum(share for source, share in fractions.items() if source not in fixed)
        scaled = {s: floor if s in fixed else share / free * room for s, share in fractions.items()}
        low = {source for source, share in scaled.items() if share < floor - 1e-12}
        if not low:
            return _rounded(scaled)
        fixed |= low


def _hold(shares: dict[str, float], old: dict[str, float], limit: float) -> dict[str, float]:
    """Returns the shares, moved back towards the old ones until their total variation is within the limit."""
    distance = sum(abs(share - old[source]) for source, share in shares.items()) / 2
    if distance <= limit:
        return shares
    pull = (limit - len(shares) * 10**-DIGITS) / distance  # room for rounding
    return _rounded({source: old[source] + pull * (share - old[source]) for source, share in shares.items()})


def _rounded(shares: dict[str, float]) -> dict[str, float]:
    """Returns the shares with four digits and an exact sum; the largest takes the remainder."""
    rounded = {source: round(share, DIGITS) for source, share in shares.items()}
    largest = max(rounded, key=lambda source: rounded[source])
    rounded[largest] = round(rounded[largest] + 1 - sum(rounded.values()), DIGITS)
    return rounded


def _share_reason(table: Table, settings: GuardrailSettings) -> str:
    total = sum(row[SHARE] for row in table.values())
    region = f", total change at most {settings.trust_region.data_ratio:g}" if settings.trust_region else ""
    return f"shares must sum to 1 (they summed to {total:.2f}), each at least {settings.floor:g}{region}"


def _correction(source: str, knob: str, proposed: float, became: float, reason: str) -> Correction:
    return Correction(source=source, knob=knob, proposed=proposed, became=became, reason=reason)
