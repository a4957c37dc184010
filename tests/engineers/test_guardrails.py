import pytest
from engineer_contract import TABLE
from hypothesis import given
from hypothesis import strategies as st

from envwright.configuration import Configuration, knob_bounds
from envwright.engineer import Proposal
from envwright.engineers.guardrails import GuardrailSettings, TrustRegion, project
from envwright.testbeds.mapf_frozenlake.knobs import MapfKnobs

KNOBS = knob_bounds(MapfKnobs)
FREE = GuardrailSettings(floor=0.0, trust_region=None)
NUMBERS = st.floats(-10, 10) | st.sampled_from([0.0, 0.5, 1e300, -1e300])
ROW = st.fixed_dictionaries({"data_ratio": NUMBERS, "hole_ratio": NUMBERS, "wait_ratio": NUMBERS})
SHARES = st.lists(st.integers(1, 100), min_size=4, max_size=4)


def legal(weights: list[int]) -> dict[str, dict[str, float]]:
    return {
        str(3 + index): {"data_ratio": weight / sum(weights), "hole_ratio": 0.3, "wait_ratio": 0.5}
        for index, weight in enumerate(weights)
    }


@given(st.lists(ROW, min_size=4, max_size=4), SHARES, st.booleans())
def test_project__makes_any_table_legal_and_is_idempotent(rows: list, weights: list[int], trusted: bool) -> None:
    settings = GuardrailSettings(floor=0.02, trust_region=TrustRegion() if trusted else None)
    previous = project(Proposal(table=legal(weights)), legal(weights), KNOBS, FREE).configuration
    table = dict(zip(previous, rows, strict=True))
    once = project(Proposal(table=table), previous, KNOBS, settings)
    Configuration[MapfKnobs].model_validate({"sources": once.configuration})
    assert min(row["data_ratio"] for row in once.configuration.values()) >= 0.02 - 3e-4
    twice = project(Proposal(table=once.configuration), previous, KNOBS, settings)
    assert _close(twice, once)


def _close(one, other) -> bool:
    return all(
        abs(one.configuration[source][knob] - value) <= 3e-4
        for source, row in other.configuration.items()
        for knob, value in row.items()
    )


@given(st.lists(ROW, min_size=4, max_size=4), SHARES)
def test_project__holds_the_trust_region(rows: list, weights: list[int]) -> None:
    settings = GuardrailSettings(floor=0.0, trust_region=TrustRegion(data_ratio=0.2, other=0.1))
    previous = project(Proposal(table=legal(weights)), legal(weights), KNOBS, FREE).configuration
    table = dict(zip(previous, rows, strict=True))
    after = project(Proposal(table=table), previous, KNOBS, settings).configuration
    moved = sum(abs(after[s]["data_ratio"] - previous[s]["data_ratio"]) for s in previous) / 2
    assert moved <= 0.2 + 1e-9
    assert all(abs(after[s][k] - previous[s][k]) <= 0.1 + 1e-9 for s in previous for k in ("hole_ratio", "wait_ratio"))


def test_project__records_each_change_with_its_reason() -> None:
    table = {"3": TABLE["3"] | {"hole_ratio": 0.9}, "5": TABLE["5"] | {"data_ratio": 1.5}}
    redesign = project(Proposal(table=table), TABLE, KNOBS, FREE)
    assert redesign.status == "corrected"
    assert redesign.configuration["3"] == {"data_ratio": 0.3333, "hole_ratio": 0.5, "wait_ratio": 0.5}
    changes = {(c.source, c.knob): (c.proposed, c.became) for c in redesign.corrections}
    assert changes[("3", "hole_ratio")] == (0.9, 0.5)
    assert changes[("5", "data_ratio")] == (1.5, 0.6667)
    assert all(correction.reason for correction in redesign.corrections)


def test_project__accepts_a_legal_table_as_it_is() -> None:
    redesign = project(Proposal(table=TABLE), TABLE, KNOBS, GuardrailSettings())
    assert (redesign.status, redesign.configuration, redesign.corrections) == ("accepted", TABLE, ())


def test_project__keeps_the_previous_configuration_without_a_table() -> None:
    redesign = project(Proposal(table=None), TABLE, KNOBS, GuardrailSettings())
    assert (redesign.status, redesign.configuration) == ("kept", TABLE)


def test_project__lets_the_floor_win_over_a_source_that_is_cut() -> None:
    table = {"3": TABLE["3"] | {"data_ratio": 0.0}, "5": TABLE["5"] | {"data_ratio": 1.0}}
    redesign = project(Proposal(table=table), TABLE, KNOBS, GuardrailSettings(floor=0.05, trust_region=None))
    assert redesign.configuration["3"]["data_ratio"] == pytest.approx(0.05)
