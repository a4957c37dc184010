"""What every engineer must do; a test class inherits this and makes its engineer."""

from envwright.engineer import Bookkeeping, Engineer, Evidence, Proposal, RoundEvidence, Score

TABLE = {
    "3": {"data_ratio": 0.5, "hole_ratio": 0.3, "wait_ratio": 0.5},
    "5": {"data_ratio": 0.5, "hole_ratio": 0.2, "wait_ratio": 0.4},
}


def evidence_of(table: dict[str, dict[str, float]] = TABLE, index: int = 0) -> Evidence:
    score = Score(rollouts=50, valid=25, optimal=20, parsed=48, failures={"parse": 2, "hole": 23})
    current = RoundEvidence(
        round_index=index, configuration=table, overall=score, by_source=dict.fromkeys(table, score)
    )
    return Evidence(
        current=current, bookkeeping=Bookkeeping(round_index=index, rounds=3, epochs=1, samples_per_round=100)
    )


class EngineerContract:
    """The contract."""

    def make(self) -> Engineer:
        raise NotImplementedError

    def test_propose__covers_all_sources_or_says_none(self) -> None:
        table = self.make().propose(evidence_of()).table
        assert table is None or {source: set(row) for source, row in table.items()} == {
            source: set(row) for source, row in TABLE.items()
        }

    def test_propose__is_the_same_for_the_same_evidence_and_seed(self) -> None:
        assert self.make().propose(evidence_of()).table == self.make().propose(evidence_of()).table

    def test_propose__round_trips_as_json(self) -> None:
        proposal = self.make().propose(evidence_of())
        assert Proposal.model_validate_json(proposal.model_dump_json()) == proposal

    def test_propose__leaves_the_evidence_alone(self) -> None:
        evidence = evidence_of()
        before = evidence.model_dump_json()
        self.make().propose(evidence)
        assert evidence.model_dump_json() == before

    def test_state__survives_a_restart(self) -> None:
        first, second = self.make(), self.make()
        first.propose(evidence_of())
        second.load_state_dict(first.state_dict())
        assert second.state_dict() == first.state_dict()
