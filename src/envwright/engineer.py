"""The seam to whoever redesigns the environment: evidence in, proposal out."""

from abc import ABC, abstractmethod
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

CarryMode = Literal["last", "best", "rollback"]
"""Which checkpoint training goes on from after a round."""

Table = dict[str, dict[str, float]]
"""Plain configuration values: source -> knob -> number; not necessarily legal."""


class Record(BaseModel):
    """Base of the data below: immutable, closed, JSON round trip."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Score(Record):
    """Counts over a set of rollouts; rates are properties, so that a report can recompute them."""

    rollouts: int = 0
    valid: int = 0
    optimal: int = 0
    parsed: int = 0
    truncated: int = 0
    failures: dict[str, int] = Field(default_factory=dict, description="folded failure kind -> count")
    mean_tokens: float = 0.0
    groups: int = Field(default=0, description="training groups seen for these tasks")
    groups_without_signal: int = Field(default=0, description="groups whose rewards were all equal")

    def rate(self, count: int) -> float:
        """Returns count / rollouts, 0 for an empty set."""
        return count / self.rollouts if self.rollouts else 0.0

    @property
    def valid_rate(self) -> float:
        """Share of rollouts whose plan is valid."""
        return self.rate(self.valid)

    @property
    def optimal_rate(self) -> float:
        """Share of rollouts that are valid and optimal."""
        return self.rate(self.optimal)

    @property
    def no_signal_rate(self) -> float:
        """Share of training groups with equal rewards."""
        return self.groups_without_signal / self.groups if self.groups else 0.0


class FailureCase(Record):
    """One short example of a dominant failure kind."""

    source: str
    kind: str
    prompt: str
    answer: str
    explanation: str


class RoundEvidence(Record):
    """What one round showed on the fixed validation set, and what its generator produced."""

    round_index: int
    configuration: Table
    overall: Score
    by_source: dict[str, Score]
    by_tag: dict[str, dict[str, Score]] = Field(
        default_factory=dict, description="tag -> 'source/value' -> score, e.g. wait -> '5/True'"
    )
    environment: dict[str, dict[str, float]] = Field(default_factory=dict)
    failure_cases: tuple[FailureCase, ...] = ()
    reasons: dict[str, str] = Field(
        default_factory=dict, description="the engineer's reasons for this round's configuration, per source"
    )


class Bookkeeping(Record):
    """Where the run stands; `details` are the full RL settings (context module T, full)."""

    round_index: int
    rounds: int
    epochs: float
    samples_per_round: int
    details: dict[str, Any] = Field(default_factory=dict)


class Evidence(Record):
    """Everything an engineer may know: the current round, the earlier ones (oldest first), bookkeeping."""

    current: RoundEvidence
    earlier: tuple[RoundEvidence, ...] = ()
    bookkeeping: Bookkeeping
    notes: tuple[str, ...] = Field(default=(), description="what guardrails did since the last redesign, one line each")


class Attempt(Record):
    """One answer of an engineer, or none; `error` says why it was unusable, `record` how it came about."""

    text: str
    error: str | None = None
    tokens: int = 0
    seconds: float = 0.0
    record: dict[str, Any] = Field(default_factory=dict)


class Candidate(Record):
    """One of several proposals for a redesign: its legal configuration and score, or a note why it has none."""

    number: int
    rule: str
    table: Table | None = None
    score: float | None = None
    tokens: int = Field(default=0, description="sampled to score it")
    seconds: float = 0.0
    note: str = ""
    chosen: bool = False


class Proposal(Record):
    """What an engineer wants, before guardrails: plain values over all sources, or None if nothing usable."""

    table: Table | None
    reasons: dict[str, str] = Field(default_factory=dict)
    attempts: tuple[Attempt, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    context: str = ""

    @property
    def tokens(self) -> int:
        """Tokens spent on it: the engineer's answers and the probes of candidates."""
        return sum(attempt.tokens for attempt in self.attempts) + sum(c.tokens for c in self.candidates)


class Correction(Record):
    """One change that a guardrail made, and why."""

    source: str
    knob: str
    proposed: float
    became: float
    reason: str


class Redesign(Record):
    """The outcome of a redesign: the next round's legal configuration and how it came about."""

    configuration: Table
    status: str = Field(description="accepted | corrected | kept")
    corrections: tuple[Correction, ...] = ()
    proposal: Proposal


class Engineer(ABC):
    """Reads evidence and proposes the next round's configuration."""

    @abstractmethod
    def propose(self, evidence: Evidence) -> Proposal:
        """Returns a proposal; nothing usable is a proposal with table None, never an exception."""

    def context(self, evidence: Evidence) -> str:
        """Returns what this engineer reads; "" for one that reads no text."""
        return ""

    def state_dict(self) -> dict[str, Any]:
        """Returns what must survive a restart as JSON values; most engineers keep nothing."""
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restores what `state_dict` returned."""
