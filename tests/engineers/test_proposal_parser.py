import pytest
from engineer_contract import TABLE
from hypothesis import given
from hypothesis import strategies as st

from envwright.configuration import knob_bounds
from envwright.engineers.proposal_parser import UnusableAnswer, parse_proposal
from envwright.testbeds.mapf_frozenlake.knobs import MapfKnobs

KNOBS = knob_bounds(MapfKnobs)


def read(text: str) -> dict[str, float]:
    return parse_proposal(text, TABLE, KNOBS)[0]["5"]


@pytest.mark.parametrize(
    "text",
    [
        "```yaml\n5: {hole_ratio: 0.4}\n```",
        "Thoughts.\n```yaml\n5: {hole_ratio: 0.1}\n```\nBetter:\n```yaml\n5: {hole_ratio: 0.4}\n```\nDone.",
        '```json\n{"5": {"hole_ratio": 0.4}}\n```',
        "```\nsizes:\n  5:\n    hole_ratio: 40%\n```",
        "```yaml\nconfiguration:\n  5x5: {hole_ratio: '0,4'}\n```",
        "```yaml\nsize 5: {hole_ratio: 0.4}\n",
        "I would write\n5: {hole_ratio: 0.4}\nand no more",
    ],
)
def test_parse_proposal__takes_the_forms_models_write(text: str) -> None:
    assert read(text) == TABLE["5"] | {"hole_ratio": 0.4}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "one fenced yaml block"),
        ("only prose: nothing", "one fenced yaml block"),
        ("```yaml\n- 1\n```", "must map each source"),
        ("```yaml\n{}\n```", "at least one row"),
        ("```yaml\n5: {hole_ratio: .nan}\n```", "finite number"),
        ("```yaml\n5: {hole_ratio: .inf}\n```", "finite number"),
        ("```yaml\n5: {hole_ratio: high}\n```", "finite number"),
        ("```yaml\n5: {hole_ratio: true}\n```", "finite number"),
        ("```yaml\n5: {hole_ratio: " + "9" * 500 + "}\n```", "finite number"),
        ("```yaml\n5: {hole_ratio: " + "9" * 6000 + "}\n```", "plain YAML values|finite number"),
        ("```yaml\n5: {holes: 0.4}\n```", "unknown knob 'holes'.*known: data_ratio, hole_ratio, wait_ratio"),
        ("```yaml\n11: {hole_ratio: 0.4}\n```", "unknown row '11'; the known rows are 3, 5"),
        ("```yaml\n5: 0.4\n```", "must map knobs to numbers"),
        ("```yaml\n3: {data_ratio: 0}\n5: {data_ratio: 0}\n```", "above 0"),
        ("```yaml\n5: {hole_ratio: 0.4}\n5: {hole_ratio: 0.3}\n```", "twice: 5"),
        ("```yaml\na: &a [1]\nb: [*a, *a]\n```", "aliases"),
        ("```yaml\n" + "[" * 50 + "\n```", "YAML|flat table"),
        ("```yaml\n5: !!python/object/apply:os.system ['true']\n```", "YAML"),
        ("```yaml\n5: {hole_ratio: 0.4\n```", "YAML"),
        ("```yaml\n" + "x" * 30_000 + "\n```", "at most 20000 characters"),
    ],
)
def test_parse_proposal__says_what_is_wrong(text: str, message: str) -> None:
    with pytest.raises(UnusableAnswer, match=message):
        read(text)


def test_parse_proposal__lets_values_out_of_bounds_pass_to_the_guardrails() -> None:
    assert read("```yaml\n5: {hole_ratio: -3}\n```")["hole_ratio"] == -3


def test_parse_proposal__reads_reasons_of_known_sources_only() -> None:
    text = "```yaml\nreasons:\n  5: fine\n  99: odd\n5: {hole_ratio: 0.1}\n```"
    assert parse_proposal(text, TABLE, KNOBS)[1] == {"5": "fine"}


@given(st.text(alphabet=st.sampled_from(list("`yaml\n:{}[]&*!0.59,-'\"# datrio_ehlw%")), max_size=300))
def test_parse_proposal__raises_nothing_else(text: str) -> None:
    try:
        table, _ = parse_proposal(f"```yaml\n{text}\n```", TABLE, KNOBS)
    except UnusableAnswer:
        return
    assert set(table) == set(TABLE)


@pytest.mark.parametrize("piece", ["```yaml\n", "{", "5: {a: 1}\n", "a: &a\n", "- ", "\x00"])
def test_parse_proposal__survives_a_megabyte(piece: str) -> None:
    with pytest.raises(UnusableAnswer):
        read(piece * (1_000_000 // len(piece)))
