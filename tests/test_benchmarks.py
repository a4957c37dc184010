import io
import json
from itertools import islice
from pathlib import Path

import pytest
import typer
from rich.console import Console
from typer.testing import CliRunner
from typer.testing import Result as Outcome

from benchmarks import testbed
from benchmarks.boards import cell_boards, mixed_boards
from benchmarks.solvers import Answer, Search, Solver, ours, run
from benchmarks.solving import solving
from benchmarks.table import Result, shown
from envwright.testbeds.mapf_frozenlake.instance import Instance, Objective
from envwright.testbeds.mapf_frozenlake.solver import Status, solve


@pytest.fixture
def silent() -> Console:
    return Console(quiet=True)


def invoke(*arguments: str) -> Outcome:
    app = typer.Typer()
    app.command()(testbed.measure)
    return CliRunner().invoke(app, [*arguments])


@pytest.fixture
def without_peers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(testbed, "peers", lambda: ([], ["pymapf is not installed"]))


@pytest.mark.usefixtures("without_peers")
def test_testbed__measures_every_section_and_writes_what_it_prints(tmp_path: Path):
    path = tmp_path / "numbers.json"
    outcome = invoke("--boards", "2", "--limit", "1", "--json", str(path))
    assert outcome.exit_code == 0
    record = json.loads(path.read_text())
    assert record["settings"] == {"boards": 2, "limit_s": 1.0}
    assert record["missing"] == ["pymapf is not installed"]
    assert list(record["sections"]) == ["solving", "generation", "verifying", "growth"]
    results = [result for made in record["sections"].values() for result in made]
    assert [len(result["rows"]) for result in results][:3] == [3, 3, 2]
    for result in results:
        assert result["title"] in outcome.stdout
        assert all(row.keys() == result["rows"][0].keys() for row in result["rows"])
    assert "DISAGREEMENT" not in outcome.stdout


@pytest.mark.usefixtures("without_peers")
def test_testbed__measures_only_the_sections_asked_for(tmp_path: Path):
    path = tmp_path / "numbers.json"
    outcome = invoke("--boards", "2", "--section", "verifying", "--json", str(path))
    (verifying,) = json.loads(path.read_text())["sections"].values()
    assert outcome.exit_code == 0
    assert {row["plans"] for row in verifying[0]["rows"]} == {20}
    assert "verifying" in outcome.stdout
    assert "generation" not in outcome.stdout


def test_testbed__refuses_an_unknown_section_and_names_the_known():
    outcome = invoke("--section", "sleeping")
    assert outcome.exit_code == 2
    assert "growth" in outcome.stderr


def test_boards__are_the_same_each_time_and_of_the_kind_asked_for():
    assert list(islice(mixed_boards(), 20)) == list(islice(mixed_boards(), 20))
    boards = list(islice(cell_boards(10, 0.5, 5), 3))
    assert {(board.size, len(board.holes), board.agents) for board in boards} == {(10, 50, 5)}
    assert len(set(boards)) == 3


def late(board: Instance, limit: float) -> Search:
    def search() -> Answer:
        solution = solve(board, Objective.SUM_OF_COSTS)
        return solution.status, solution.paths

    return search


def detouring(board: Instance, limit: float) -> Search:
    """Every agent of a right plan starts one step late."""

    def search() -> Answer:
        status, paths = late(board, limit)()
        return status, tuple((path[0], *path) for path in paths or ())

    return search


def colliding(board: Instance, limit: float) -> Search:
    return lambda: (Status.SOLVED, (board.starts[:1],) * board.agents)


def test_run__does_not_count_an_answer_after_the_limit():
    board = next(mixed_boards())
    assert run(Solver("late", late), board, limit=60).status is Status.SOLVED
    outcome = run(Solver("late", late), board, limit=1e-9)
    assert (outcome.status, outcome.paths) == (Status.UNDECIDED, None)


def test_ours__spends_a_budget_that_follows_from_the_limit():
    board = next(cell_boards(10, 0.3, 5))
    status, paths = ours(Objective.SUM_OF_COSTS).prepare(board, 0.0)()
    assert (status, paths) == (Status.UNDECIDED, None)


def test_solving__gives_a_row_per_solver_and_fewer_hard_boards_to_peers(silent: Console):
    mixed, hardest = solving(4, 2, [Solver("twin", late)], silent)
    assert [row["boards"] for row in mixed.rows] == [4, 4, 4, 4]
    assert [row["boards"] for row in hardest.rows] == [4, 4, 4, 2]
    assert [row["solved %"] for row in mixed.rows if "conflict_based" not in row["solver"]] == [100, 100, 100]
    assert mixed.rows[1]["total / ours"] == 1
    assert not [note for note in mixed.notes + hardest.notes if "DISAGREEMENT" in note]


def test_solving__tells_of_dearer_plans_and_of_plans_that_break_a_rule(silent: Console):
    rivals = [Solver("dear", detouring), Solver("wrong", colliding)]
    notes = solving(1, 60, rivals, silent)[0].notes
    faults = [note for note in notes if note.startswith("DISAGREEMENT")]
    assert len(faults) == 2
    assert "wrong: wrong_start at time 0" in faults[0]
    assert "'dear'" in faults[1]
    assert "'wrong'" not in faults[1]


def test_result__prints_rows_and_notes():
    console = Console(width=80, record=True, file=io.StringIO())
    Result("speed", [{"solver": "ours", "ms": 0.1234, "boards": 4000, "share": None}], ["a note [x]"]).show(console)
    text = console.export_text()
    assert "speed" in text
    assert "0.123" in text
    assert "4,000" in text
    assert "a note [x]" in text


@pytest.mark.parametrize(
    ("value", "text"), [(1234.5, "1,234"), (0.01234, "0.0123"), (12, "12"), (None, "-"), ("ours", "ours")]
)
def test_shown__keeps_three_digits_and_no_exponent(value: object, text: str):
    assert shown(value) == text
