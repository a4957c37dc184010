import pytest
from engineer_contract import TABLE
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from envwright.configuration import Configuration, knob_bounds
from envwright.engineer import Proposal, Redesign, Table
from envwright.engineers.guardrails import GuardrailSettings, TrustRegion, project
from envwright.testbeds.mapf_frozenlake.knobs import MapfKnobs

KNOBS = knob_bounds(MapfKnobs)
FREE = GuardrailSettings(floor=0.0, trust_region=None)
EXACT = 1e-9
GRID = 1e-4
"""Values are written with four digits."""

NUMBERS = (
    st.floats(-2, 2) | st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([0.0, 0.5, 1e-12, 1e300])
)
ROWS = st.fixed_dictionaries({"data_ratio": NUMBERS, "hole_ratio": NUMBERS, "wait_ratio": NUMBERS})
LEGAL_ROWS = st.fixed_dictionaries(
    {"data_ratio": st.floats(0, 1), "hole_ratio": st.floats(0, 0.5), "wait_ratio": st.floats(0, 1)}
)
SETTINGS = st.builds(
    GuardrailSettings,
    floor=st.sampled_from([0.0, 0.02, 0.05]) | st.floats(0, 0.099),
    cap=st.none() | st.floats(0.1, 1),
    trust_region=st.none()
    | st.builds(TrustRegion, data_ratio=st.floats(1e-4, 1) | st.just(0.3), other=st.floats(0.01, 1) | st.just(0.15)),
)


@st.composite
def cases(draw: st.DrawFn) -> tuple[Table, Table, GuardrailSettings]:
    """Any table, a legal previous one and settings."""
    names = [str(3 + index) for index in range(draw(st.integers(1, 12)))]
    table = {name: draw(ROWS) for name in names}
    previous = {name: draw(LEGAL_ROWS) for name in names}
    total = sum(row["data_ratio"] for row in previous.values())
    for row in previous.values():
        row["data_ratio"] = row["data_ratio"] / total if total > 1e-6 else 1 / len(names)
    return table, previous, draw(SETTINGS)


def projected(table: Table | None, previous: Table = TABLE, settings: GuardrailSettings = FREE) -> Redesign:
    return project(Proposal(table=table), previous, KNOBS, settings)


def moved(after: Table, before: Table) -> float:
    return sum(abs(row["data_ratio"] - before[source]["data_ratio"]) for source, row in after.items()) / 2


@given(cases())
def test_project__makes_any_table_legal(case: tuple[Table, Table, GuardrailSettings]) -> None:
    table, previous, settings = case
    legal = projected(table, previous, settings).configuration
    Configuration[MapfKnobs].model_validate({"sources": legal})
    assert list(legal) == list(table)
    shares = [row["data_ratio"] for row in legal.values()]
    assert sum(shares) == pytest.approx(1, abs=EXACT)
    assert min(shares) > min(settings.floor, 1 / len(shares)) - GRID
    assert max(shares) < max(settings.cap or 1.0, 1 / len(shares)) + GRID


@given(cases())
def test_project__changes_nothing_the_second_time(case: tuple[Table, Table, GuardrailSettings]) -> None:
    table, previous, settings = case
    once = projected(table, previous, settings).configuration
    twice = projected(once, previous, settings)
    assert twice.configuration == once
    assert (twice.status, twice.corrections) == ("accepted", ())


@given(cases())
def test_project__holds_the_trust_region(case: tuple[Table, Table, GuardrailSettings]) -> None:
    table, previous, settings = case
    region = settings.trust_region or TrustRegion()
    settings = settings.model_copy(update={"trust_region": region})
    centre = projected(previous, previous, settings.model_copy(update={"trust_region": None})).configuration
    after = projected(table, previous, settings).configuration
    assert moved(after, centre) <= region.data_ratio + EXACT
    for source, row in after.items():
        for knob in ("hole_ratio", "wait_ratio"):
            assert abs(row[knob] - previous[source][knob]) <= region.other + GRID


@given(cases())
def test_project__records_every_change_but_rounding_and_slight_rescaling(
    case: tuple[Table, Table, GuardrailSettings],
) -> None:
    table, previous, settings = case
    redesign = projected(table, previous, settings)
    recorded = {(correction.source, correction.knob): correction for correction in redesign.corrections}
    assert (redesign.status == "corrected") == bool(recorded)
    for source, row in redesign.configuration.items():
        for knob, value in row.items():
            slight = 0.015 if knob == "data_ratio" else 0
            if abs(value - table[source][knob]) > slight + 2 * GRID:
                correction = recorded[(source, knob)]
                assert (correction.proposed, correction.became) == (table[source][knob], value)
                assert correction.reason


def test_project__keeps_the_trust_region_exactly_around_a_configuration_that_respects_the_floor() -> None:
    table = {"3": TABLE["3"] | {"data_ratio": 1.0, "hole_ratio": 0.0}, "5": TABLE["5"] | {"data_ratio": 0.0}}
    redesign = projected(table, settings=GuardrailSettings())
    assert 0.3 - 3 * GRID <= moved(redesign.configuration, TABLE) <= 0.3 + EXACT
    assert redesign.configuration["3"]["hole_ratio"] == 0.15
    assert {(c.source, c.knob): c.reason for c in redesign.corrections} == {
        ("3", "data_ratio"): "other shares met the floor or cap; "
        "the shares may change by at most 0.3 in all (total variation)",
        ("5", "data_ratio"): "this share must be at least 0.02; "
        "the shares may change by at most 0.3 in all (total variation)",
        ("3", "hole_ratio"): "hole_ratio may change by at most 0.15 per round",
    }


def test_project__lets_the_floor_win_over_the_trust_region() -> None:
    previous = {"3": TABLE["3"] | {"data_ratio": 1.0}, "5": TABLE["5"] | {"data_ratio": 0.0}}
    settings = GuardrailSettings(floor=0.05, trust_region=TrustRegion(data_ratio=0.01))
    assert projected(previous, previous, settings).configuration["5"]["data_ratio"] == 0.05


def test_project__records_what_was_asked_what_came_of_it_and_why() -> None:
    table = {"3": TABLE["3"] | {"hole_ratio": 0.9}, "5": TABLE["5"] | {"data_ratio": 1.5}}
    redesign = projected(table)
    assert redesign.status == "corrected"
    assert redesign.configuration["3"] == {"data_ratio": 0.3333, "hole_ratio": 0.5, "wait_ratio": 0.5}
    rescaled = "the shares must sum to 1, they summed to 1.50"
    assert {(c.source, c.knob): (c.proposed, c.became, c.reason) for c in redesign.corrections} == {
        ("3", "hole_ratio"): (0.9, 0.5, "hole_ratio must lie in 0..0.5"),
        ("3", "data_ratio"): (0.5, 0.3333, rescaled),
        ("5", "data_ratio"): (1.5, 0.6667, f"data_ratio must lie in 0..1; {rescaled}"),
    }


def test_project__does_not_record_a_sum_that_is_off_by_rounding() -> None:
    table = {"3": TABLE["3"] | {"data_ratio": 0.33}, "5": TABLE["5"] | {"data_ratio": 0.66}}
    redesign = projected(table)
    assert redesign.status == "accepted"
    assert redesign.configuration["3"]["data_ratio"] == 0.3333


@pytest.mark.parametrize("settings", [FREE, GuardrailSettings()])
def test_project__accepts_a_legal_table_as_it_is(settings: GuardrailSettings) -> None:
    redesign = projected(TABLE, settings=settings)
    assert (redesign.status, redesign.configuration, redesign.corrections) == ("accepted", TABLE, ())


def test_project__keeps_the_previous_configuration_without_a_table() -> None:
    redesign = projected(None, settings=GuardrailSettings())
    assert (redesign.status, redesign.configuration, redesign.corrections) == ("kept", TABLE, ())


def test_project__moves_what_the_cap_takes_to_the_other_sources() -> None:
    table = {name: TABLE["3"] | {"data_ratio": share} for name, share in {"3": 0.8, "4": 0.1, "5": 0.1}.items()}
    redesign = projected(table, table, GuardrailSettings(floor=0.0, cap=0.5, trust_region=None))
    assert [row["data_ratio"] for row in redesign.configuration.values()] == [0.5, 0.25, 0.25]
    assert redesign.corrections[0].reason == "each share must be at most 0.5"


def test_project__makes_the_shares_equal_when_no_share_is_left() -> None:
    table = {source: row | {"data_ratio": -1.0} for source, row in TABLE.items()}
    assert [row["data_ratio"] for row in projected(table).configuration.values()] == [0.5, 0.5]


def test_settings__are_closed_and_bounded() -> None:
    assert GuardrailSettings.model_validate({"trust_region": None}).trust_region is None
    for wrong in ({"floor": 0.5}, {"cap": 0.01}, {"flor": 0.1}, {"trust_region": {"data_ratio": 0}}):
        with pytest.raises(ValidationError):
            GuardrailSettings.model_validate(wrong)
