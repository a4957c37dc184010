from collections.abc import Callable, Mapping

import pytest
from engineer_contract import TABLE, EngineerContract, evidence_of

from envwright.configuration import knob_bounds
from envwright.engineer import Attempt, Engineer, Evidence, Proposal, Score, Table
from envwright.engineers.candidates import BestOf, predicted_learnability
from envwright.engineers.guardrails import GuardrailSettings, project
from envwright.errors import GenerationError
from envwright.testbeds.mapf_frozenlake.knobs import MapfKnobs


class Says(Engineer):
    """Proposes one share for size 3, or nothing."""

    def __init__(self, share: float | None) -> None:
        self._share = share

    def context(self, evidence: Evidence) -> str:
        return "the context"

    def propose(self, evidence: Evidence) -> Proposal:
        attempts = (Attempt(text=str(self._share), tokens=10),)
        if self._share is None:
            return Proposal(table=None, attempts=attempts)
        shares = {"3": self._share, "5": 1 - self._share}
        table = {source: {**row, "data_ratio": shares[source]} for source, row in TABLE.items()}
        return Proposal(table=table, reasons={"3": f"share {self._share}"}, attempts=attempts)


def best_of(*shares: float | None, judge: Callable[[Table, Evidence], tuple[float, int]] | None = None) -> BestOf:
    def legal(proposal: Proposal, previous: Table) -> Table:
        return project(proposal, previous, knob_bounds(MapfKnobs), GuardrailSettings()).configuration

    chosen = judge or (lambda table, evidence: (table["3"]["data_ratio"], 7))
    return BestOf(lambda: lambda number: Says(shares[number]), len(shares), legal, chosen, "share of 3")


class TestBestOf(EngineerContract):
    def make(self) -> Engineer:
        return best_of(0.4, None, 0.6)


class TestBestOfNothingUsable(EngineerContract):
    def make(self) -> Engineer:
        return best_of(None, None)


def test_propose__keeps_the_best_of_the_usable_ones_and_records_all() -> None:
    proposal = best_of(0.4, None, 0.7, 0.6).propose(evidence_of())
    assert proposal.table is not None
    assert proposal.table["3"]["data_ratio"] == 0.7
    assert proposal.reasons == {"3": "share 0.7"}
    assert [(c.score, c.chosen, c.note) for c in proposal.candidates] == [
        (0.4, False, ""),
        (None, False, "no usable answer"),
        (0.7, True, ""),
        (0.6, False, ""),
    ]
    assert [attempt.text for attempt in proposal.attempts] == ["0.4", "None", "0.7", "0.6"]
    assert proposal.tokens == 4 * 10 + 3 * 7


def test_propose__of_equal_scores_keeps_the_first() -> None:
    proposal = best_of(0.4, 0.6, judge=lambda table, evidence: (1.0, 0)).propose(evidence_of())
    assert [candidate.chosen for candidate in proposal.candidates] == [True, False]


def test_propose__scores_the_configuration_that_the_guardrails_leave() -> None:
    proposal = best_of(1.0, 0.9).propose(evidence_of())
    assert [c.score for c in proposal.candidates] == [pytest.approx(0.8, abs=0.01)] * 2  # 0.5 and at most 0.3 more


def test_propose__a_configuration_that_cannot_be_generated_is_no_candidate() -> None:
    def judge(table: Table, evidence: Evidence) -> tuple[float, int]:
        if table["3"]["data_ratio"] > 0.5:
            raise GenerationError("size 3: nothing fits")
        return 0.1, 0

    proposal = best_of(0.6, 0.4, judge=judge).propose(evidence_of())
    assert [(c.note, c.chosen) for c in proposal.candidates] == [("size 3: nothing fits", False), ("", True)]


def test_context__is_that_of_a_draw() -> None:
    assert best_of(0.4, 0.5).context(evidence_of()) == "the context"


def evidence_with(rates: Mapping[str, int], waits: Mapping[str, int] | None = None) -> Evidence:
    evidence = evidence_of()
    tags = {"wait": {cell: Score(rollouts=98, valid=valid) for cell, valid in (waits or {}).items()}}
    scores = {source: Score(rollouts=98, valid=valid) for source, valid in rates.items()}
    return evidence.model_copy(
        update={"current": evidence.current.model_copy(update={"by_source": scores, "by_tag": tags})}
    )


def waits(knobs: Mapping[str, float]) -> dict[str, dict[str, float]]:
    return {"wait": {"True": knobs["wait_ratio"], "False": 1 - knobs["wait_ratio"]}}


def test_predicted_learnability__is_the_mean_variance_of_a_binary_reward() -> None:
    evidence = evidence_with({"3": 49, "5": 0})
    score, tokens = predicted_learnability(waits)(TABLE, evidence)
    assert tokens == 0
    assert score == pytest.approx(0.5 * 0.25 + 0.5 * 0.01 * 0.99)


def test_predicted_learnability__counts_waits_where_the_evidence_is_split() -> None:
    evidence = evidence_with({"3": 49, "5": 0}, {"3/True": 0, "3/False": 49})
    score, _ = predicted_learnability(waits)(TABLE, evidence)
    assert score == pytest.approx(0.5 * (0.5 * 0.01 * 0.99 + 0.5 * 0.25) + 0.5 * 0.01 * 0.99)


def test_predicted_learnability__of_a_source_without_evidence_is_undecided() -> None:
    assert predicted_learnability(waits)(TABLE, evidence_with({}))[0] == pytest.approx(0.25)
