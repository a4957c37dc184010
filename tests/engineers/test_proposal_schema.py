import json

import pytest
from engineer_contract import TABLE
from hypothesis import given
from hypothesis import strategies as st

from envwright.configuration import knob_bounds
from envwright.engineers.proposal_parser import parse_proposal
from envwright.engineers.proposal_schema import answer_schema
from envwright.testbeds.mapf_frozenlake.knobs import MapfKnobs

KNOBS = knob_bounds(MapfKnobs)
SCHEMA = answer_schema(tuple(TABLE), KNOBS)


def test_answer_schema__asks_for_reasons_first_and_every_knob_of_every_source() -> None:
    assert list(SCHEMA["properties"]) == SCHEMA["required"] == ["reasons", "3", "5"]
    row = SCHEMA["properties"]["5"]
    assert row["required"] == ["data_ratio", "hole_ratio", "wait_ratio"]
    assert (row["properties"]["hole_ratio"]["minimum"], row["properties"]["hole_ratio"]["maximum"]) == (0.0, 0.5)
    assert SCHEMA["additionalProperties"] is row["additionalProperties"] is False


def values(schema: dict[str, object]) -> st.SearchStrategy[object]:
    """Draws what the schema allows."""
    if schema["type"] == "object":
        return st.fixed_dictionaries({name: values(inner) for name, inner in schema["properties"].items()})
    if schema["type"] == "number":
        return st.floats(schema["minimum"], schema["maximum"], allow_subnormal=False) | st.integers(0, 1)
    return st.text(st.characters(categories=("L", "N", "P", "S", "Zs")), max_size=40)


@pytest.mark.parametrize("layout", [{}, {"separators": (",", ":")}, {"indent": 2}, {"ensure_ascii": False}])
@given(values(SCHEMA).filter(lambda answer: any(answer[source]["data_ratio"] > 0 for source in TABLE)))
def test_parse_proposal__reads_every_answer_of_the_schema(layout: dict[str, object], answer: dict[str, object]) -> None:
    table, reasons = parse_proposal(json.dumps(answer, **layout), TABLE, KNOBS)
    assert table == {source: answer[source] for source in TABLE}
    assert set(reasons) <= set(TABLE)


def test_parse_proposal__reads_bare_json_with_its_reasons() -> None:
    answer = {"reasons": {"3": 'valid: 0,9, "mastered"', "5": "up \U0001f600"}, **TABLE}
    assert parse_proposal(json.dumps(answer), TABLE, KNOBS)[1]["5"] == "up \U0001f600"
