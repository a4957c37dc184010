from pathlib import Path

import pytest

from envwright.testbeds.mapf_frozenlake.instance import Instance, Objective
from envwright.testbeds.mapf_frozenlake.prompt import AnswerFormat, task_messages

GOLDEN = Path(__file__).parents[2] / "data" / "task_prompt.txt"
BOARD = Instance.from_rows(["..H", "...", "H.."], [[0, 0], [2, 2]], [[2, 1], [0, 1]])


def test_task_messages__are_the_golden_prompt() -> None:
    (message,) = task_messages(BOARD)
    assert message["role"] == "user"
    assert message["content"] + "\n" == GOLDEN.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("objective", "answer_format", "words"),
    [
        (Objective.SUM_OF_COSTS, AnswerFormat.CELLS, ["smallest sum", "Agent 0: (r,c) -> (r,c)"]),
        (Objective.MAKESPAN, AnswerFormat.ACTIONS, ["until the last agent", "UP, DOWN, LEFT, RIGHT, WAIT"]),
    ],
)
def test_task_messages__say_objective_and_format(
    objective: Objective, answer_format: AnswerFormat, words: list
) -> None:
    content = task_messages(BOARD, objective, answer_format)[0]["content"]
    assert all(word in content for word in words)
    assert "$" not in content


def test_task_messages__say_when_there_is_no_hole() -> None:
    board = Instance.from_rows(["...", "...", "..."], [[0, 0]], [[1, 1]])
    assert "Holes: none" in task_messages(board)[0]["content"]
