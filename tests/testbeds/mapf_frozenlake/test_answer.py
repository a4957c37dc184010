from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

import envwright.testbeds.mapf_frozenlake.answer as answer_module
from envwright.testbeds.mapf_frozenlake.answer import (
    MOVES,
    Plan,
    Unreadable,
    format_actions,
    format_cells,
    read_answer,
)
from envwright.testbeds.mapf_frozenlake.instance import Paths

PATHS: Paths = (((0, 0), (0, 1), (1, 1)), ((2, 2), (1, 2)))
CELLS = Plan("cells", PATHS)
ACTIONS = Plan("actions", (("RIGHT", "DOWN"), ("UP",)))
WIDE = "\N{FULLWIDTH LEFT PARENTHESIS}0\N{FULLWIDTH COMMA}0\N{FULLWIDTH RIGHT PARENTHESIS}"
OTHER = "Agent 0: (5,5) -> (5,6)\nAgent 1: (6,6)"


def tagged(text: str) -> str:
    return f"<answer>\n{text}\n</answer>"


@st.composite
def walks(draw: st.DrawFn) -> Paths:
    """Paths of moves and waits, on any cells."""
    paths: list[tuple[tuple[int, int], ...]] = []
    for _ in range(draw(st.integers(1, 5))):
        path = [(draw(st.integers(0, 9)), draw(st.integers(0, 9)))]
        for move in draw(st.lists(st.sampled_from(list(MOVES.values())), max_size=12)):
            path.append((path[-1][0] + move[0], path[-1][1] + move[1]))
        paths.append(tuple(path))
    return tuple(paths)


def test_format_cells__is_the_form_that_the_prompt_shows():
    assert format_cells(PATHS) == "<answer>\nAgent 0: (0,0) -> (0,1) -> (1,1)\nAgent 1: (2,2) -> (1,2)\n</answer>"


def test_format_actions__is_the_form_that_the_prompt_shows():
    paths = (((0, 0), (0, 1), (0, 1)), ((2, 2),))
    assert format_actions(paths) == "<answer>\nAgent 0: RIGHT, WAIT\nAgent 1:\n</answer>"


@given(walks())
def test_read_answer__reads_back_formatted_cells(paths: Paths):
    assert read_answer(format_cells(paths), len(paths)) == Plan("cells", paths)


@given(walks())
def test_read_answer__reads_back_formatted_actions(paths: Paths):
    plan = read_answer(format_actions(paths), len(paths))
    assert isinstance(plan, Plan)
    assert plan.form == "actions"
    for path, steps in zip(paths, plan.steps, strict=True):
        cells = [path[0]]
        for step in steps:
            move = MOVES[str(step)]
            cells.append((cells[-1][0] + move[0], cells[-1][1] + move[1]))
        assert tuple(cells) == path


@pytest.mark.parametrize(
    "text",
    [
        "Agent 0: (0,0) -> (0,1) -> (1,1)\nAgent 1: (2,2) -> (1,2)",
        "agent 1: (2,2) -> (1,2)\nAGENT 0: (0,0) -> (0,1) -> (1,1)",
        "Agent 0: (0, 0), ( 0 ,1 ), (1,1).\n\n  Agent 1 :(2,2) , (1,2) .",
        "Agent 0: [0, 0] → [0, 1] → [1, 1]\nAgent 1: [2, 2] ⇒ [1, 2]",
        "Agent 0: [(0,0), (0,1), (1,1)]\nAgent 1: [[2,2],[1,2]]",
        "Agent 0: (0,0)->(0,1)->(1,1); Agent 1: (2,2)->(1,2)",
        "- **Agent 0:** `(0,0) -> (0,1) -> (1,1)`\n- **Agent 1**: (2,2) -> (1,2)",
        "1. __Agent 0__: (0,0) => (0,1) => (1,1)\n2. Agent #1: (2,2) => (1,2)",
        "```text\nAgent 0: (0,0) -> (0,1) -> (1,1)\r\nAgent 1: (2,2) -> (1,2)\n```",
        "Agent 0:\n(0,0) ->\n(0,1) -> (1,1)\nAgent 1:\n(2,2) -> (1,2)",
        f"Agent_0: {WIDE} ➡️ (0,1) ➡️ (1,1)\nAgent1\N{FULLWIDTH COLON} (2,2) -> (1,2)",
        '{"0": [[0,0],[0,1],[1,1]], "1": [[2,2],[1,2]]}',
        '```json\n{\n  "Agent 1": [[2, 2], [1, 2]],\n  "Agent 0": [[0, 0], [0, 1], [1, 1]]\n}\n```',
        '{"agents": {"0": ["(0,0)", "(0,1)", "(1,1)"], "1": ["(2,2)", "(1,2)"]}}',
    ],
)
def test_read_answer__accepts_every_spelling_of_cells_in_tags_and_without(text: str):
    assert read_answer(text, 2) == CELLS
    assert read_answer(tagged(text), 2) == CELLS
    assert read_answer(f"**<Answer>**{text}</ANSWER>", 2) == CELLS


@pytest.mark.parametrize(
    "text",
    [
        "Agent 0: RIGHT, DOWN\nAgent 1: UP",
        "agent 0: right , Down .\nAgent 1:up.",
        "Agent 1: UP!\nAgent 0: RIGHT -> DOWN",
        "Agent 0: RIGHT DOWN\n\nAgent 1: [UP]",
        "**Agent 0**: `RIGHT`, `DOWN`\n**Agent 1**: ['UP']",
        "Agent 0: RIGHT,\nDOWN\nAgent 1: UP",
        '{"0": ["RIGHT", "down"], "1": ["UP"]}',
    ],
)
def test_read_answer__accepts_every_spelling_of_actions(text: str):
    assert read_answer(text, 2) == ACTIONS
    assert read_answer(tagged(text), 2) == ACTIONS


@pytest.mark.parametrize(
    "text",
    [
        f"{OTHER}\n</think>\n{format_cells(PATHS)}",
        f"<think>{tagged(OTHER)}</think>{format_cells(PATHS)}",
        f"{format_cells(PATHS)}\n<think>{tagged(OTHER)}</think>",
        f"{format_cells(PATHS)}\n<think>{tagged(OTHER)}",
        f"{tagged(OTHER)}<think>{OTHER}</think>{OTHER}</think>{format_cells(PATHS)}",
    ],
)
def test_read_answer__never_reads_thoughts(text: str):
    assert read_answer(text, 2) == CELLS


@pytest.mark.parametrize(
    "text",
    [
        f"{tagged(OTHER)}\nWait, no.\n{format_cells(PATHS)}",
        f"I answer in <answer> tags.\n{format_cells(PATHS)}",
        f"{format_cells(PATHS)}</answer>\n{OTHER}",
        f"{format_cells(PATHS)}\n<answer>\nAgent 0: (5,5)\n</answer>",
        f"{format_cells(PATHS)}\nNext task:\n<answer>\nAgent 0: (5,5)\nAgent 1: (5,",
        f"{format_cells(PATHS)}\nSo I gave it in <answer></answer> tags.",
        tagged(f"{OTHER}\nAgent 0: (0,0) -> (0,1) -> (1,1)\nAgent 1: (2,2) -> (1,2)"),
        f"{OTHER}\n{format_cells(PATHS)[9:-10]}",
        f"{OTHER}\nNo, better:\n{format_cells(PATHS)[9:-10]}\nBoth arrive. Agent 0: moves right first.",
        f"{format_cells(PATHS)[9:-10]}\nIn words:\nAgent 0: moves right, then down\nAgent 1: goes up at once",
        f"Agent 0: start (0,0), goal (1,1)\nAgent 1: start (2,2), goal (1,2)\n{format_cells(PATHS)[9:-10]}",
    ],
)
def test_read_answer__takes_the_last_complete_block(text: str):
    assert read_answer(text, 2) == CELLS


def test_read_answer__does_not_join_agents_across_other_text_outside_tags():
    assert_unreadable("Agent 0: RIGHT\nSo much for it. And the other one:\nAgent 1: UP", "wrong_agent_count")


def assert_unreadable(text: str, reason: str, truncated: bool = False) -> None:
    answer = read_answer(text, 2, truncated)
    assert isinstance(answer, Unreadable)
    assert answer.reason == reason


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I cannot say.",
        "<answer></answer>",
        tagged("Agent X: RIGHT\nAgent 1: LEFT"),
        tagged(f"{format_cells(PATHS)[9:-10]}\nAgent X: RIGHT"),
        tagged("Agent 0: (0,0) -> WAIT -> (0,1)\nAgent 1: (2,2)"),
        tagged("Agent 0: (0,0) -> (0,1)\nAgent 1: UP"),
        tagged("Agent 0: (0,0,1) -> (0,1)\nAgent 1: (2,2)"),
        tagged("Agent 0: 0,0 -> 0,1\nAgent 1: 2,2"),
        tagged("Agent 0: RIGHT, 2, UP\nAgent 1: UP"),
        tagged("Agent 0: RIGHT\nthat costs 2\nAgent 1: UP"),
        tagged('{"0": ["", "RIGHT"], "1": ["UP"]}'),
        "Agent 0: start (0,0), goal (1,1)\nAgent 1: start (2,2), goal (1,2)",
        "<think>\nAgent 0: RIGHT\nAgent 1: LEFT\n",
        f"{format_cells(PATHS)}\n</think>\nI am done.",
    ],
)
def test_read_answer__of_no_plan_is_a_parse_error(text: str):
    assert_unreadable(text, "parse_error")


@pytest.mark.parametrize("agents", ["0", "1", "1 2", "0 1 2", "0 17"])
@pytest.mark.parametrize("steps", ["UP", "(0,0)", ""])
def test_read_answer__of_other_agents_is_a_wrong_agent_count(agents: str, steps: str):
    text = "\n".join(f"Agent {agent}: {steps}" for agent in agents.split())
    assert_unreadable(text, "wrong_agent_count")
    assert_unreadable(tagged(text), "wrong_agent_count")


def test_read_answer__of_an_answer_tag_never_closed_is_a_parse_error():
    assert_unreadable(format_cells(PATHS).removesuffix("</answer>"), "parse_error")
    assert_unreadable(f"{OTHER}\n<answer>\nAgent 0: (0,0) -> (0,", "parse_error")


def test_read_answer__of_a_truncated_text_counts_only_closed_tags():
    assert read_answer(format_cells(PATHS) + "\nNow I will", 2, truncated=True) == CELLS
    assert_unreadable(format_cells(PATHS)[9:-10], "parse_error", truncated=True)


def test_read_answer__keeps_an_unknown_word_in_its_place():
    expected = Plan("actions", (("RIGHT", "Stay", "RIGHT"), ("NORTH",)))
    assert read_answer(tagged("Agent 0: right, Stay, right\nAgent 1: NORTH"), 2) == expected
    assert read_answer(tagged("Agent 0:\nright Stay\nright\nAgent 1: NORTH"), 2) == expected
    assert read_answer('<answer>{"0": ["RIGHT", "Stay", "RIGHT"], "1": ["NORTH"]}</answer>', 2) == expected


def test_read_answer__of_an_agent_without_steps_gives_it_none():
    assert read_answer("Agent 0: RIGHT\nAgent 1:", 2) == Plan("actions", (("RIGHT",), ()))
    assert read_answer("Agent 0:\nAgent 1: (2,2)", 2) == Plan("cells", ((), ((2, 2),)))


def test_read_answer__keeps_cells_off_the_board():
    assert read_answer("Agent 0: (0,0) -> (-1,0)\nAgent 1: (2,2) -> (2,99)", 2) == Plan(
        "cells", (((0, 0), (-1, 0)), ((2, 2), (2, 99)))
    )


PIECES = [
    "<think>",
    "</think>",
    "<answer>",
    "</answer>",
    "Agent 0:",
    "Agent 1:",
    "Agent X:",
    "agent",
    "(0,0)",
    "(1,",
    "[2,3]",
]
PIECES += [
    "->",
    "→",
    ",",
    "UP",
    "wait",
    "STAY",
    "\n",
    "\r",
    " ",
    "*",
    "`",
    '{"0":',
    '{"1": [[0,0]]}',
    "{",
    "}",
    "[",
    "]",
    '"',
    "7",
    "\ud800",
]


PIECES += [
    "```",
    "```json",
    "Agent 0: (0,0) -> (0,1)",
    "Agent 1: (2,2)",
    " -> ",
    "</answer",
    "<THINKING>",
    "\x1c",
    "\u2028",
]
TEXTS = st.text() | st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=60).map("".join)


@st.composite
def near_misses(draw: st.DrawFn) -> str:
    """An answer in the asked form, with a few slips of the pen: pieces put in, taken out, or set in another's place."""
    text = draw(walks().map(format_cells))
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, len(text)))
        end = start + draw(st.sampled_from([0, 0, 1, 5]))
        text = text[:start] + draw(st.sampled_from(["", *PIECES])) + text[end:]
    return text


@given(TEXTS)
def test_read_answer__of_any_text_is_a_plan_for_all_agents_or_a_reason(text: str):
    answer = read_answer(text, 2)
    assert len(answer.steps) == 2 if isinstance(answer, Plan) else answer.reason


@given(TEXTS | near_misses(), st.integers(1, 5), st.booleans())
def test_read_answer__says_the_same_with_and_without_its_short_cut(text: str, agents: int, truncated: bool):
    shortened = read_answer(text, agents, truncated)
    with patch.object(answer_module, "_plan_as_asked", return_value=None):
        assert read_answer(text, agents, truncated) == shortened


@given(walks())
def test_read_answer__takes_its_short_cut_for_the_form_that_the_prompt_asks_for(paths: Paths):
    common = tuple(tuple((row % 32, column % 32) for row, column in path) for path in paths)
    with patch.object(answer_module, "_blocks", side_effect=AssertionError("the slow way was taken")):
        assert read_answer(format_cells(common), len(common)) == Plan("cells", common)


MEGABYTE = 1_000_000
REPEATED = [
    "Agent 0:",
    "(",
    "( ",
    "(0,",
    "[",
    "{",
    "{}",
    '{"0":[',
    '{"0":[[0,0]]}',
    '{"0":',
    "<answer>",
    "</answer>",
    "<think>",
    "</think>",
]
REPEATED += [
    "```",
    "```json\n",
    "<think><answer>",
    "<answer><think>",
    "</answer><answer>",
    "<",
    " ",
    "\n",
    "-",
    "1.",
    "__",
    "_",
    "a",
    "agent",
    "agent ",
    "Agent #",
    "(0,0)",
    "(0,0)\n",
    "RIGHT\n",
    "RIGHT ",
    "->",
    "\u0300",
    "1234567890",
    "Agent 0: (0,0) -> ",
    " -> (0,0)",
    "Agent 0: (0,0)\nAgent 0: (0,1)\n",
]


@pytest.mark.parametrize("piece", REPEATED)
def test_read_answer__of_a_repetitive_megabyte_ends(piece: str):
    half = piece * (MEGABYTE // 2 // len(piece))  # a reader of quadratic work would take 10^11 steps and more
    assert isinstance(read_answer(f"{half}\n<answer>Agent 0: {half}x</answer>", 2), Unreadable)


@pytest.mark.parametrize("tags", ["", "<answer>", "</answer>", "<think>", "</think>", "```\n", "<answer></answer>"])
def test_read_answer__of_a_megabyte_of_contradictory_blocks_takes_the_last(tags: str):
    blocks = f"{tags}{OTHER}\n" * (MEGABYTE // 50)
    assert read_answer(f"{blocks}</think>{format_cells(PATHS)}", 2) == CELLS


@pytest.mark.parametrize(
    "text",
    [
        f"Agent {'9' * MEGABYTE}: UP",
        f"Agent 0: ({'9' * MEGABYTE},0)",
        f'{{"0": [{"9" * MEGABYTE}]}}',
        f"agent{' ' * MEGABYTE}0",
        f"Agent 0:{'-' * MEGABYTE}x:",
        f"{'- ' * MEGABYTE}x:",
    ],
    ids=["agent", "cell", "json", "space", "dashes", "bullets"],
)
def test_read_answer__of_one_endless_token_is_unreadable(text: str):
    assert isinstance(read_answer(text, 2), Unreadable)


@pytest.mark.parametrize("depth", [1, 3, 100, *range(900, 1000, 9), 100_000])
def test_read_answer__of_nested_json_is_a_parse_error(depth: int):
    assert_unreadable('{"0": [' + "[" * depth + "]" * depth + "]}", "parse_error")
