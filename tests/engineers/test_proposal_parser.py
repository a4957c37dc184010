import time

import pytest
from engineer_contract import TABLE
from hypothesis import example, given, settings
from hypothesis import strategies as st

from envwright.configuration import Configuration, format_table, knob_bounds
from envwright.engineer import Proposal
from envwright.engineers.guardrails import GuardrailSettings, project
from envwright.engineers.proposal_parser import UnusableAnswer, parse_proposal
from envwright.testbeds.mapf_frozenlake.knobs import MapfKnobs

KNOBS = knob_bounds(MapfKnobs)
DRAFT = "```yaml\n5: {hole_ratio: 0.1}\n```"


def fenced(block: str) -> str:
    return f"```yaml\n{block}\n```"


def read(text: str) -> dict[str, float]:
    return parse_proposal(text, TABLE, KNOBS)[0]["5"]


@pytest.mark.parametrize(
    "text",
    [
        fenced("5: {hole_ratio: 0.4}"),
        fenced("5:\n\thole_ratio: 0.4"),
        fenced("size 5: {hole_ratio: 0.4}"),
        fenced("Size_5: {hole_ratio: 4e-1}"),
        fenced("configuration:\n  sizes:\n    5x5: {hole_ratio: '0,4'}"),
        fenced("notes: shorter\nsizes:\n  5x5: {hole_ratio: .4}"),
        fenced("5: {hole_ratio: 0,4, wait_ratio: 0,4}"),
        fenced("5: {hole_ratio: 40%, wait_ratio: 40 %}"),
        fenced("5: {hole_ratio: 0.4}").replace("\n", "\r\n"),
        '```json\n{\n\t"5": {\n\t\t"hole_ratio": 0.4\n\t}\n}\n```',
        "```\n5: {hole_ratio: 0.4}\n```",
        "```yaml\n5: {hole_ratio: 0.4}\n",
        "1. As follows:\n   ```yaml\n   5: {hole_ratio: 0.4}\n   ```",
    ],
)
def test_parse_proposal__takes_the_forms_models_write(text: str) -> None:
    assert read(text) == TABLE["5"] | {"hole_ratio": 0.4}


@pytest.mark.parametrize(
    "text",
    [
        f"First.\n{DRAFT}\nBetter:\n" + fenced("5: {hole_ratio: 0.4}") + "\nDone.",
        "```\nan open block of prose\n" + fenced("5: {hole_ratio: 0.4}"),
        fenced("5: {hole_ratio: 0.4}") + "\n" + fenced("reasons: {5: too easy}"),
        fenced("5: {hole_ratio: 0.4}") + "\n```\nNote: that is all\n```",
        fenced("5: {hole_ratio: 0.4}") + "\n```yaml\n5: {hole_ratio: 0.",
        "thinking " * 100_000 + "\n" + fenced("5: {hole_ratio: 0.4}"),
    ],
)
def test_parse_proposal__lets_the_last_table_decide(text: str) -> None:
    assert read(text)["hole_ratio"] == 0.4


def test_parse_proposal__does_not_fall_back_to_a_draft_when_the_last_table_is_faulty() -> None:
    with pytest.raises(UnusableAnswer, match="unknown row '12'"):
        read(DRAFT + "\n" + fenced("12: {hole_ratio: 0.4}"))


@pytest.mark.parametrize(
    "text",
    [
        "I would write\n5: {hole_ratio: 0.4}\nand no more",
        "It was\n5: {hole_ratio: 0.1}\nand should be\n\n3: {data_ratio: 0.5},\n\n5: {hole_ratio: 0.4}",
        "Here: ```yaml\n5: {hole_ratio: 0.4}\n```",
        '{"5": {"hole_ratio": 0.4}}',
        "sizes:\n  5:\n    hole_ratio: 0.4",
    ],
)
def test_parse_proposal__reads_an_answer_without_fences(text: str) -> None:
    assert read(text) == TABLE["5"] | {"hole_ratio": 0.4}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "one fenced yaml block"),
        ("only prose: nothing", "one fenced yaml block"),
        (fenced("- 1"), "must map each row"),
        (fenced(""), "one fenced yaml block"),
        (fenced("{}"), "must map each row"),
        (fenced("reasons: {5: why}"), "must map each row"),
        (fenced("5: 0.4"), "must map each row"),
        (fenced("3: {data_ratio: 1}\n5: 0.4"), "row 5 must map knobs to numbers, got '0.4'"),
        (fenced("5: {hole_ratio: .nan}"), "hole_ratio of row 5 must be a finite number, got '.nan'"),
        (fenced("5: {hole_ratio: -.inf}"), "finite number"),
        (fenced("5: {hole_ratio: 1e999}"), "finite number"),
        (fenced("5: {hole_ratio: high}"), "finite number"),
        (fenced("5: {hole_ratio: true}"), "finite number"),
        (fenced("5: {hole_ratio: null}"), "finite number"),
        (fenced("5: {hole_ratio: [0.1]}"), "finite number"),
        (fenced("5: {hole_ratio: 1_0}"), "finite number"),
        (fenced("5: {hole_ratio: !!int ''}"), "finite number"),
        (fenced("5: {hole_ratio: " + "9" * 500 + "}"), "finite number"),
        (fenced("5: {hole_ratio: " + "9" * 6000 + "}"), "finite number"),
        (fenced("5: {holes: 0.4}"), "unknown knob 'holes' in row 5; .* data_ratio, hole_ratio, wait_ratio"),
        (fenced("11: {hole_ratio: 0.4}"), "unknown row '11'; the known rows are 3, 5"),
        (fenced("5x6: {hole_ratio: 0.4}"), "unknown row '5x6'"),
        (fenced("3: {data_ratio: 0}\n5: {data_ratio: -1}"), "above 0"),
        (fenced("5: {hole_ratio: 0.4}\n5: {hole_ratio: 0.3}"), "twice: '5'"),
        (fenced("5: {hole_ratio: 0.4, hole_ratio: 0.3}"), "twice: 'hole_ratio'"),
        (fenced("5: {hole_ratio: 0.4}\nsize 5: {hole_ratio: 0.3}"), "twice: 5"),
        (fenced("a: &a [1]\nb: [*a, *a]"), "^the block must not use YAML anchors or aliases$"),
        (fenced("5: &a {hole_ratio: 0.4}"), "anchors"),
        (fenced("[" * 50), "flat table"),
        (fenced("5: {hole_ratio: [" + "1," * 3000 + "]}"), "flat table"),
        (fenced("? !!set {a: 1}\n: {b: 1}"), "YAML"),
        (fenced('5: "\\UFFFFFFFF"'), "YAML"),
        (fenced("5: {hole_ratio: 0.4\x00}"), "YAML"),
        (fenced("%YAML 1." + "1" * 5000 + "\n---\n5: {}"), "YAML"),
        (fenced("3: {data_ratio: 1}\n5: {hole_ratio: 0.4"), "YAML: .* in its line [23]"),
        (fenced("x" * 30_000), "at most 20000 characters, it has"),
    ],
)
def test_parse_proposal__says_what_is_wrong(text: str, message: str) -> None:
    with pytest.raises(UnusableAnswer, match=message) as caught:
        read(text)
    assert len(str(caught.value)) < 300


def test_parse_proposal__builds_no_object_from_a_tag() -> None:
    with pytest.raises(UnusableAnswer):
        read(fenced("5: !!python/object/apply:os.system ['true']"))
    assert read(fenced("5: {hole_ratio: !!python/name:os.system 0.4}"))["hole_ratio"] == 0.4


def test_parse_proposal__keeps_what_is_left_out_and_leaves_the_previous_table_alone() -> None:
    table, _ = parse_proposal(fenced("5: {hole_ratio: 0.4}"), TABLE, KNOBS)
    assert table == {"3": TABLE["3"], "5": TABLE["5"] | {"hole_ratio": 0.4}}
    assert TABLE["5"]["hole_ratio"] == 0.2


def test_parse_proposal__lets_values_out_of_bounds_pass_to_the_guardrails() -> None:
    assert read(fenced("5: {hole_ratio: -3}"))["hole_ratio"] == -3


@pytest.mark.parametrize("name", ["5", "size 5", "'5x5'"])
def test_parse_proposal__reads_reasons_of_known_sources_only(name: str) -> None:
    text = fenced(f"reasons:\n  {name}: 'valid:  0.80,\n\n    mastered'\n  99: odd\n5: {{hole_ratio: 0.1}}")
    assert parse_proposal(text, TABLE, KNOBS)[1] == {"5": "valid: 0.80, mastered"}


def test_parse_proposal__drops_reasons_that_are_not_a_mapping_and_shortens_long_ones() -> None:
    assert parse_proposal(fenced("reasons: because\n5: {hole_ratio: 0.1}"), TABLE, KNOBS)[1] == {}
    long = fenced("reasons: {5: " + "y" * 5000 + "}\n5: {hole_ratio: 0.1}")
    assert parse_proposal(long, TABLE, KNOBS)[1] == {"5": "y" * 500}


NUMBERS = st.floats(0, 1).map(lambda value: round(value, 2))
TABLES = st.fixed_dictionaries(
    dict.fromkeys(TABLE, st.fixed_dictionaries(dict.fromkeys(TABLE["5"], NUMBERS))),
).filter(lambda table: any(row["data_ratio"] for row in table.values()))


@given(TABLES)
def test_parse_proposal__reads_what_the_context_shows(table: dict[str, dict[str, float]]) -> None:
    assert parse_proposal(fenced(format_table(table)), TABLE, KNOBS) == (table, {})


PIECES = st.sampled_from(
    [
        *"`{}[]&*!?|>%#@-:,.'\"\\ \t\n\r0359exX",
        *("```", "\n```yaml\n", "---\n", ": ", "5: {", "3: ", "hole_ratio: ", "data_ratio: ", "reasons: ", "sizes: "),
        *("0,3", "30%", ".nan", "1e400", "9" * 400, "<<: ", "!!int ", "!!set ", "!!bool ", "!!timestamp ", "!!omap "),
        *("\x00", "\u2028", "\ud800", "\ufeff", "\U0001f600", "\\ud800", "\\UFFFFFFFF"),
    ]
)


@settings(max_examples=400)
@given(st.lists(PIECES, max_size=40).map("".join) | st.text(max_size=200), st.booleans())
@example("5: {data_ratio: 1e300, hole_ratio: -1e300}", True)
def test_parse_proposal__raises_nothing_else_and_what_it_reads_becomes_legal(text: str, fence: bool) -> None:
    try:
        table, reasons = parse_proposal(fenced(text) if fence else text, TABLE, KNOBS)
    except UnusableAnswer as problem:
        str(problem).encode()
        return
    assert set(reasons) <= set(TABLE)
    redesign = project(Proposal(table=table, reasons=reasons), TABLE, KNOBS, GuardrailSettings())
    Configuration[MapfKnobs].model_validate({"sources": redesign.configuration})
    assert redesign.model_validate_json(redesign.model_dump_json()) == redesign


@pytest.mark.parametrize(
    "piece",
    [
        "```yaml\n",
        "{",
        "5: {a: 1}\n",
        "a: &a\n",
        "- ",
        "\x00",
        " ",
        "x",
        "9",
        ": 1,1",
        "\n",
        "```\na\n```\n",
        "5 ",
        '"',
    ],
)
@pytest.mark.parametrize("size", [19_900, 1_000_000])
def test_parse_proposal__is_done_with_any_flood_in_bounded_time(piece: str, size: int) -> None:
    started = time.process_time()
    for text in (piece * (size // len(piece)), fenced("5: " + piece * (size // len(piece)))):
        with pytest.raises(UnusableAnswer):
            read(text)
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    "text",
    [
        f"<think>\nMaybe\n{DRAFT}\n</think>\n" + fenced("5: {hole_ratio: 0.4}"),
        f"Maybe\n{DRAFT}\n</think>\n" + fenced("5: {hole_ratio: 0.4}"),
        fenced("5: {hole_ratio: 0.9}") + f"\n</think>{DRAFT}</think>5: {{hole_ratio: 0.4}}",
        f"<think>{DRAFT}" + " hm" * 100_000 + "</think>\n" + fenced("5: {hole_ratio: 0.4}"),
    ],
)
def test_parse_proposal__reads_only_what_follows_the_thinking(text: str) -> None:
    assert read(text)["hole_ratio"] == 0.4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"<think>\nMaybe\n{DRAFT}\n", "must come after the thinking"),
        (f"<think>{DRAFT}" + " hm" * 100_000 + DRAFT, "must come after the thinking"),
        (f"<think>a</think>\n<think>{DRAFT}", "must come after the thinking"),
        (f"<think>{DRAFT}</think>\nThat is all.", "one fenced yaml block"),
        (f"<think>{DRAFT}</think>", "one fenced yaml block"),
    ],
)
def test_parse_proposal__takes_nothing_from_inside_the_thinking(text: str, message: str) -> None:
    with pytest.raises(UnusableAnswer, match=message):
        read(text)
