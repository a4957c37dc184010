"""Several proposals for one redesign: the unusable are rejected, a declared rule keeps the best of the others."""

import time
from collections.abc import Callable, Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from envwright.engineer import Candidate, Engineer, Evidence, Proposal, Score, Table
from envwright.errors import EnvwrightError

Mixture = Callable[[Mapping[str, float]], Mapping[str, Mapping[str, float]]]
"""The knobs of one source -> tag -> value -> the share of the source's tasks with that value."""

Judge = Callable[[Table, Evidence], tuple[float, int]]
"""(legal configuration, evidence) -> score and tokens sampled for it; higher is better."""


class CandidateSettings(BaseModel):
    """How many proposals are drawn and what decides between them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    count: int = Field(default=4, ge=2, le=64, description="proposals per redesign")
    rule: Literal["learnability", "probe"] = Field(
        default="learnability",
        description="learnability: predicted from the evidence, free; probe: the share of groups with mixed rewards "
        "when the current policy answers a few tasks of each candidate",
    )
    probe_tasks: int = Field(default=32, ge=1, description="tasks sampled per candidate")
    probe_samples: int = Field(default=8, ge=2, description="answers per task, as in a training group")


class BestOf(Engineer):
    """Draws several proposals and keeps the one whose legal configuration scores best; the first of equal ones.

    Args:
        draws: called once per redesign, for a function from the number of a draw to an engineer with its own seed.
        count: how many draws.
        legal: (proposal, previous table) -> the configuration that the guardrails make of it.
        judge: the declared rule.
        rule: its name, for the record.
    """

    def __init__(
        self,
        draws: Callable[[], Callable[[int], Engineer]],
        count: int,
        legal: Callable[[Proposal, Table], Table],
        judge: Judge,
        rule: str,
    ) -> None:
        self._draws = draws
        self._count = count
        self._legal = legal
        self._judge = judge
        self._rule = rule

    def context(self, evidence: Evidence) -> str:
        """Returns what every draw reads."""
        return self._draws()(0).context(evidence)

    def propose(self, evidence: Evidence) -> Proposal:
        """Returns the best proposal with all attempts of all draws; table None when no draw is usable."""
        draw = self._draws()
        proposals = [draw(number).propose(evidence) for number in range(self._count)]
        candidates = [self._candidate(number, proposal, evidence) for number, proposal in enumerate(proposals)]
        scored = [candidate for candidate in candidates if candidate.score is not None]
        best = max(scored, key=lambda candidate: (candidate.score, -candidate.number), default=None)
        kept = proposals[best.number if best else 0]
        return kept.model_copy(
            update={
                "table": kept.table if best else None,
                "attempts": tuple(attempt for proposal in proposals for attempt in proposal.attempts),
                "candidates": tuple(
                    candidate.model_copy(update={"chosen": candidate is best}) for candidate in candidates
                ),
            }
        )

    def _candidate(self, number: int, proposal: Proposal, evidence: Evidence) -> Candidate:
        """Returns the candidate with its score, or with the reason why it has none."""
        if proposal.table is None:
            return Candidate(number=number, rule=self._rule, note="no usable answer")
        started = time.monotonic()
        table = self._legal(proposal, evidence.current.configuration)
        try:
            score, tokens = self._judge(table, evidence)
        except EnvwrightError as problem:  # a configuration that cannot be generated is no candidate
            return Candidate(number=number, rule=self._rule, table=table, note=str(problem))
        seconds = round(time.monotonic() - started, 3)
        return Candidate(number=number, rule=self._rule, table=table, score=score, tokens=tokens, seconds=seconds)


def predicted_learnability(mixture: Mixture) -> Judge:
    """Returns the rule that scores sum(share * p (1 - p)) over the cells of a configuration.

    p is the smoothed valid rate (k + 1) / (n + 2) of a cell in the evidence: a source, or a source and the value of a
    tag whose share the knobs decide. p (1 - p) is the variance of a binary reward, to which the expected improvement
    under group-relative advantages is proportional (Foster et al. 2025, 2502.12272; Rutherford et al. 2024,
    2408.15099).
    """

    def judge(table: Table, evidence: Evidence) -> tuple[float, int]:
        cells = ((knobs["data_ratio"], _variance(source, mixture(knobs), evidence)) for source, knobs in table.items())
        return sum(share * variance for share, variance in cells), 0

    return judge


def _variance(source: str, mixture: Mapping[str, Mapping[str, float]], evidence: Evidence) -> float:
    for tag, shares in mixture.items():
        cells = {value: evidence.current.by_tag.get(tag, {}).get(f"{source}/{value}") for value in shares}
        if all(cell and cell.rollouts for cell in cells.values()):
            return sum(shares[value] * _binary_variance(cell) for value, cell in cells.items() if cell)
    return _binary_variance(evidence.current.by_source.get(source, Score()))


def _binary_variance(score: Score) -> float:
    rate = (score.valid + 1) / (score.rollouts + 2)
    return rate * (1 - rate)
