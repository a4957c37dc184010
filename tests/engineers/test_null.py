from engineer_contract import TABLE, EngineerContract, evidence_of

from envwright.configuration import knob_bounds
from envwright.engineer import Engineer
from envwright.engineers.null import Fixed, Keep, Random
from envwright.testbeds.mapf_frozenlake.knobs import MapfKnobs

KNOBS = knob_bounds(MapfKnobs)


class TestKeep(EngineerContract):
    def make(self) -> Engineer:
        return Keep()

    def test_propose__keeps_the_configuration(self) -> None:
        assert Keep().propose(evidence_of()).table == TABLE


class TestFixed(EngineerContract):
    def make(self) -> Engineer:
        return Fixed(TABLE)


class TestRandom(EngineerContract):
    def make(self) -> Engineer:
        return Random(KNOBS, seed=3)

    def test_propose__draws_legal_values_that_differ_by_round(self) -> None:
        first, second = (self.make().propose(evidence_of(index=index)).table for index in (0, 1))
        assert first
        assert first != second
        assert abs(sum(row["data_ratio"] for row in first.values()) - 1) < 1e-9
        assert all(knob.lower <= row[knob.name] <= knob.upper for row in first.values() for knob in KNOBS)
