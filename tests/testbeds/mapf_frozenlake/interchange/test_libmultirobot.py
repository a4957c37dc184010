import tempfile
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from legal_boards import instances, legal_boards

from envwright.errors import DataFileError
from envwright.testbeds.mapf_frozenlake.answer import Plan, format_cells, read_answer
from envwright.testbeds.mapf_frozenlake.instance import Instance
from envwright.testbeds.mapf_frozenlake.interchange.libmultirobot import read, read_plan, write
from envwright.testbeds.mapf_frozenlake.verifier import judge

BOARD = Instance.from_rows(["..H", "...", "..."], [[0, 0], [0, 1]], [[0, 1], [2, 2]])
PROBLEM = {
    "map": {"dimensions": [3, 3], "obstacles": [[2, 0]]},
    "agents": [
        {"name": "agent0", "start": [0, 0], "goal": [1, 0]},
        {"name": "agent1", "start": [1, 0], "goal": [2, 2]},
    ],
}
RESULT = """\
statistics:
  cost: 4
schedule:
  agent0:
    - {x: 0, y: 0, t: 0}
    - {x: 1, y: 0, t: 1}
  agent1:
    - {x: 1, y: 0, t: 0}
    - {x: 1, y: 1, t: 1}
    - {x: 1, y: 2, t: 2}
    - {x: 2, y: 2, t: 3}
"""


@given(legal_boards())
def test_write__is_read_back_equal(board: Instance) -> None:
    with tempfile.TemporaryDirectory() as folder:
        ((name, text),) = write("board", board).items()
        Path(folder, name).write_text(text)
        assert instances(read([Path(folder, name)])) == [board]


def test_write__puts_x_before_y_in_plain_lists() -> None:
    assert yaml.safe_load(write("b", BOARD)["b.yaml"]) == PROBLEM


def test_read__passes_over_tuple_tags(tmp_path: Path) -> None:
    text = yaml.safe_dump(PROBLEM, default_flow_style=None).replace("- [2, 0]", "- !!python/tuple [2, 0]")
    assert "tuple" in text
    (tmp_path / "b.yaml").write_text(text)
    assert instances(read([tmp_path / "b.yaml"])) == [BOARD]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[3, 3]", "[3, 4]", "got 3 columns and 4 rows"),
        ("[3, 3]", "[99999, 99999]", "got 99999 columns"),
        ("[3, 3]", "3", "map.dimensions"),
        ("[2, 0]", "[3, 0]", r"every hole must lie on the board, got \(row, column\) \(0, 3\)"),
        ("start: [1, 0]", "start: [2, 0]", "agent 1: a start must be a free cell"),
        ("start: [1, 0]", "start: [0, 0]", "agent 1: starts must be pairwise distinct"),
        ("goal: [2, 2]", "potentialGoals: [[2, 2]]", "agents.1.goal: Field required"),
        ("goal: [2, 2]", "goal: [2", "line 12: the file must be YAML"),
    ],
)
def test_read__says_what_is_wrong_in_which_file(tmp_path: Path, old: str, new: str, message: str) -> None:
    text = write("b", BOARD)["b.yaml"]
    assert old in text
    (tmp_path / "b.yaml").write_text(text.replace(old, new))
    with pytest.raises(DataFileError, match=message) as error:
        instances(read([tmp_path / "b.yaml"]))
    assert "b.yaml" in str(error.value)


def test_read_plan__gives_a_plan_that_the_verifier_takes(tmp_path: Path) -> None:
    (tmp_path / "r.yaml").write_text(RESULT)
    plan = read_answer(format_cells(read_plan(tmp_path / "r.yaml")), agents=2)
    assert isinstance(plan, Plan)
    judgement = judge(BOARD, plan)
    assert judgement.valid
    assert (judgement.sum_of_costs, judgement.makespan) == (4, 3)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("agent1", "agent2", "must name agent0, agent1"),
        ("t: 2", "t: 3", r"agent1: the times must be 0, 1, 2, .* got \[0, 1, 3, 3\]"),
        ("x: 2, ", "", "schedule.agent1.3.x: Field required"),
        ("schedule", "plan", "schedule: Field required"),
    ],
)
def test_read_plan__says_what_is_wrong_in_which_file(tmp_path: Path, old: str, new: str, message: str) -> None:
    (tmp_path / "r.yaml").write_text(RESULT.replace(old, new))
    with pytest.raises(DataFileError, match=message):
        read_plan(tmp_path / "r.yaml")
