"""From a proposal to a legal configuration: clamp, floor, cap, renormalise, trust region; each change is recorded."""

from collections.abc import Collection, Sequence

from pydantic import BaseModel, ConfigDict, Field

from envwright.configuration import KnobBounds
from envwright.engineer import CarryMode, Correction, Proposal, Redesign, Table
from envwright.engineers.shares import DIGITS, ROUNDING, SHARE, Limits, Reasons, hold_shares, normalise, note


class TrustRegion(BaseModel):
    """How far one redesign may go (the distances are our choice; the paper recipe switches it off)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    data_ratio: float = Field(default=0.3, gt=0, le=1, description="largest total-variation change of the shares")
    other: float = Field(default=0.15, gt=0, description="largest change of any other knob")


class GuardrailSettings(BaseModel):
    """What is done to every proposal, and what a bad round leads to; the defaults of the second group do nothing."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    floor: float = Field(default=0.02, ge=0, lt=0.1, description="smallest share of a source, against forgetting")
    cap: float | None = Field(default=None, ge=0.1, le=1, description="largest share of a source")
    trust_region: TrustRegion | None = Field(default_factory=TrustRegion, description="null switches it off")
    base_mix: float = Field(
        default=0.0, ge=0, lt=1, description="share of the tasks of later rounds drawn from round 0's configuration"
    )
    carry: CarryMode = Field(
        default="last",
        description="the checkpoint to go on from: last (the paper), best, "
        "or rollback: best where the last fell below it by more than its interval",
    )
    forgetting_floor: float | None = Field(
        default=None,
        ge=0,
        lt=0.5,
        description="smallest share of a source that fell below its best round by more than its interval",
    )


def project(
    proposal: Proposal,
    previous: Table,
    knobs: Sequence[KnobBounds],
    settings: GuardrailSettings,
    forgotten: Collection[str] = (),
) -> Redesign:
    """Returns the legal configuration that the proposal becomes, with every correction and its reason.

    Args:
        proposal: what the engineer wants; without a table the previous configuration is kept.
        previous: the legal configuration that it edits. The trust region is centred on it, or, where its shares break
            the floor or the cap, on the shares these make of it: floor and cap win over the trust region.
        knobs: the bounds.
        settings: floor, cap and trust region. With too many or too few sources for them, the shares are equal.
        forgotten: sources whose share is held at the forgetting floor or above.
    """
    if proposal.table is None:
        return Redesign(configuration=previous, status="kept", proposal=proposal)
    reasons: Reasons = {}
    table = _clamp(proposal.table, knobs, reasons)
    limits = _limits(table, settings, forgotten)
    shares = normalise(_shares(table), limits, reasons)
    if settings.trust_region:
        centre = normalise(_shares(previous), limits, {})
        shares = hold_shares(shares, centre, settings.trust_region.data_ratio, reasons)
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


def _limits(table: Table, settings: GuardrailSettings, forgotten: Collection[str]) -> Limits:
    raised = max(settings.floor, settings.forgetting_floor or 0.0)
    floors = {source: raised if source in forgotten else settings.floor for source in table}
    return Limits.of(floors, settings.cap or 1.0)


def _shares(table: Table) -> dict[str, float]:
    return {source: row[SHARE] for source, row in table.items()}


def _clamp(table: Table, knobs: Sequence[KnobBounds], reasons: Reasons) -> Table:
    clamped: Table = {source: {} for source in table}
    for source, row in table.items():
        for knob in knobs:
            value = min(max(row[knob.name], knob.lower), knob.upper)
            if abs(value - row[knob.name]) > ROUNDING:
                note(reasons, source, knob.name, f"{knob.name} must lie in {knob.lower:g}..{knob.upper:g}")
            clamped[source][knob.name] = value
    return clamped


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
                    note(reasons, source, name, f"{name} may change by at most {limit:g} per round")
    return held
