import pytest
from hypothesis import given
from hypothesis import strategies as st

from envwright.testbeds.mapf_frozenlake.answer import Plan, Unreadable, format_actions, format_cells, read_answer

PATHS = (((0, 0), (0, 1), (0, 1)), ((2, 2), (1, 2)))
CELLS = Plan("cells", PATHS)
ACTIONS = Plan("actions", (("RIGHT", "WAIT"), ("UP",)))


def test_read_answer__reads_back_both_forms() -> None:
    assert read_answer(format_cells(PATHS), 2) == CELLS
    assert read_answer(format_actions(PATHS), 2) == ACTIONS


@pytest.mark.parametrize(
    "text",
    [
        "Agent 0: (0,0) -> (0,1) -> (0,1)\nAgent 1: (2,2) -> (1,2)",
        "Some thought.\n```\nagent 1: (2, 2) → (1, 2).\nAGENT 0: (0,0), (0,1), (0,1)\n```",
        "**Agent 0:** [0, 0] -> [0, 1] -> [0, 1]\n**Agent 1:** [2, 2] -> [1, 2]",
        "- Agent 0: (0,0)(0,1)(0,1)\n- Agent 1: (2,2) to (1,2)\nThat is all.",
        '{"0": [[0,0],[0,1],[0,1]], "1": [[2,2],[1,2]]}',
        '<answer>```json\n{"Agent 0": [[0,0],[0,1],[0,1]], "Agent 1": [[2,2],[1,2]]}\n```</answer>',
        "<think>Agent 0: (9,9)</think><ANSWER>\nAgent 0: (0,0) -> (0,1) -> (0,1)\nAgent 1: (2,2) -> (1,2)\n</ANSWER>",
        "Agent 0: (5,5)\nAgent 1: (4,4)\nno:\nAgent 0: (0,0) -> (0,1) -> (0,1)\nAgent 1: (2,2) -> (1,2)",
        "<answer>\nAgent 0: (0,0) -> (0,1) -> (0,1)\nAgent 1: (2,2) -> (1,2)\n</answer></answer>\nAgent 0: (7,7)",
    ],
)
def test_read_answer__takes_the_forms_models_write(text: str) -> None:
    assert read_answer(text, 2) == CELLS


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "parse_error"),
        ("I cannot.", "parse_error"),
        ("<think>\nAgent 0: UP\nAgent 1: UP", "parse_error"),
        ("Agent 0: UP\nAgent 1: UP\n</think>", "parse_error"),
        ("<answer>\nAgent 0: UP\nAgent 1: UP", "parse_error"),
        ("Agent X: UP\nAgent 1: UP", "parse_error"),
        ("Agent 0: (0,0) -> (0,1)\nAgent 1: UP", "parse_error"),
        ("Agent 0: (0,0) -> (0,1) -> (0\nAgent 1: (2,2)", "parse_error"),
        ("Agent 0: UP", "wrong_agent_count"),
        ("Agent 0: UP\nAgent 1: UP\nAgent 2: UP", "wrong_agent_count"),
        ('{"0": "UP"}', "parse_error"),
    ],
)
def test_read_answer__says_why_there_is_no_plan(text: str, reason: str) -> None:
    answer = read_answer(text, 2)
    assert isinstance(answer, Unreadable)
    assert answer.reason == reason


def test_read_answer__counts_a_truncated_text_only_if_its_block_is_closed() -> None:
    open_end = "Agent 0: UP\nAgent 1: UP"
    assert isinstance(read_answer(open_end, 2, truncated=True), Unreadable)
    assert isinstance(read_answer(f"<answer>\n{open_end}\n</answer>\nand", 2, truncated=True), Plan)


def test_read_answer__keeps_unknown_words_at_their_step() -> None:
    assert read_answer("Agent 0: UP, fly!, DOWN", 1) == Plan("actions", (("UP", "FLY", "DOWN"),))


@given(st.text(alphabet=st.sampled_from(list('Agent 01:(,)->\n[]{}<answer>/thinkUP"*`')), max_size=200))
def test_read_answer__never_raises(text: str) -> None:
    assert isinstance(read_answer(text, 2), Plan | Unreadable)


@pytest.mark.parametrize(
    "piece",
    ["Agent 0:", "(", "<answer>", "</think>", "[[", "{", "Agent 0: (0,0) -> \n", " ", "0", "-", "Agent 0: UP, \n"],
)
def test_read_answer__survives_a_megabyte_of_anything(piece: str) -> None:
    assert isinstance(read_answer(piece * (1_000_000 // len(piece)), 2), Unreadable)


@given(
    st.lists(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=6), min_size=1, max_size=5)
)
def test_read_answer__reads_back_any_cells(paths: list[list[tuple[int, int]]]) -> None:
    plan = Plan("cells", tuple(tuple(path) for path in paths))
    assert read_answer(format_cells(plan.steps), len(paths)) == plan  # type: ignore[arg-type]
