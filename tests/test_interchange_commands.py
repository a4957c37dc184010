"""Boards from and to foreign formats on the command line, and what other commands and `datasets` make of the result."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

from envwright import cli as command_line
from envwright import interchange_commands
from envwright.commands import read_boards
from envwright.testbeds.mapf_frozenlake.instance import GroundTruth, Instance, SolvedInstance
from envwright.testbeds.mapf_frozenlake.interchange import FORMATS
from envwright.testbeds.mapf_frozenlake.solver import Analysis, Status

SOLVED = [
    SolvedInstance(
        Instance.from_rows(["..H", "...", "..."], [[0, 0], [0, 1]], [[0, 1], [2, 2]]), GroundTruth(4, 3, False, False)
    ),
    SolvedInstance(
        Instance.from_rows(["....", ".HH.", "....", "...."], [[0, 0], [3, 3]], [[0, 2], [3, 0]]),
        GroundTruth(5, 3, False, False),
    ),
]
DEAD_END = Instance.from_rows(["..H", "HHH", "..."], [[0, 0], [0, 1]], [[0, 1], [0, 0]])
MAPPING = "starts: starts\ngoals: goals\nholes: grid\nsymbols: {.: free, H: hole}\nsum_of_costs: sum_of_costs\n"
WRITTEN = [name for name, known in FORMATS.items() if known.write]


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "160")

    def call(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["envwright", *(str(argument) for argument in arguments)])
        try:
            command_line.main()
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
        captured = capsys.readouterr()
        return code, captured.out.lstrip("\n"), captured.err.lstrip("\n")

    return call


@pytest.fixture
def boards(tmp_path: Path) -> Path:
    path = tmp_path / "boards.jsonl"
    path.write_text("".join(board.to_json() + "\n" for board in SOLVED))
    return path


@pytest.fixture
def imported(cli, boards: Path, tmp_path: Path) -> Path:
    (tmp_path / "mapping.yaml").write_text(MAPPING)
    output = tmp_path / "imported.jsonl"
    arguments = ("mapped_json", boards, "--output", output, "--mapping", tmp_path / "mapping.yaml")
    assert cli("boards", "import", *arguments)[0] == 0
    return output


@pytest.mark.parametrize("name", WRITTEN)
def test_export__then_import_gives_the_same_boards(cli, boards: Path, tmp_path: Path, name: str) -> None:
    code, out, _ = cli("boards", "export", name, boards, tmp_path / "out")
    assert (code, out) == (0, f"2 boards written to {tmp_path}/out\n")
    files = sorted((tmp_path / "out").iterdir())
    output = tmp_path / "again.jsonl"
    code, out, _ = cli("boards", "import", name, *files, "--output", output)
    assert (code, out) == (0, f"2 boards written to {output}; left out: 0 unsolvable, 0 undecided\n")
    assert read_boards(output) == SOLVED


def test_import__adds_where_each_board_comes_from(imported: Path) -> None:
    rows = [json.loads(line) for line in imported.read_text().splitlines()]
    assert [row["origin"] for row in rows] == ["boards.jsonl, line 1", "boards.jsonl, line 2"]
    assert [row["id"] for row in rows] == [board.instance.id for board in SOLVED]
    assert [(row["size"], row["agents"]) for row in rows] == [(3, 2), (4, 2)]


def test_import__is_read_by_solve_show_and_verify(cli, imported: Path, tmp_path: Path) -> None:
    code, out, _ = cli("solve", imported)
    solved = [json.loads(line) for line in out.splitlines()]
    assert (code, [row["sum_of_costs"] for row in solved]) == (0, [4, 5])
    assert cli("show", imported, "--number", 1)[0] == 0
    answer = "Agent 0: RIGHT\nAgent 1: DOWN, DOWN, RIGHT"
    (tmp_path / "answers.jsonl").write_text(json.dumps({"id": solved[0]["id"], "answer": answer}))
    code, out, _ = cli("verify", imported, tmp_path / "answers.jsonl")
    assert (code, json.loads(out)["optimal"]) == (0, True)


@pytest.mark.skipif(find_spec("datasets") is None, reason="datasets comes with the train extra")
def test_import__is_read_by_hugging_face_datasets(imported: Path, tmp_path: Path) -> None:
    program = (
        "import json, sys\n"
        "from datasets import load_dataset\n"
        "rows = load_dataset('json', data_files=sys.argv[1], split='train')\n"
        "print(json.dumps(list(rows)))"
    )
    offline = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_HOME": str(tmp_path / "cache")}
    result = subprocess.run(
        [sys.executable, "-c", program, str(imported)],
        capture_output=True, text=True, check=True, env={**os.environ, **offline},
    )  # fmt: skip
    rows = json.loads(result.stdout.splitlines()[-1])
    assert rows == [json.loads(line) for line in imported.read_text().splitlines()]


def test_import__leaves_out_and_counts_boards_without_a_plan(cli, tmp_path: Path) -> None:
    for number, board in enumerate([DEAD_END, SOLVED[0].instance]):
        (text,) = FORMATS["pogema"].write("b", board).values()
        (tmp_path / f"{number}.yaml").write_text(text)
    output = tmp_path / "out.jsonl"
    code, out, _ = cli("boards", "import", "pogema", tmp_path / "0.yaml", tmp_path / "1.yaml", "--output", output)
    assert (code, out) == (0, f"1 boards written to {output}; left out: 1 unsolvable, 0 undecided\n")
    assert read_boards(output) == SOLVED[:1]
    code, _, err = cli("boards", "import", "pogema", tmp_path / "0.yaml", "--output", tmp_path / "none.jsonl")
    assert code == 2
    assert "must hold a board with a plan; 1 unsolvable, 0 undecided" in err
    assert not (tmp_path / "none.jsonl").exists()


def test_import__leaves_out_and_counts_boards_beyond_the_solvers_budget(
    cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interchange_commands, "analyse", lambda board: Analysis(Status.UNDECIDED, None, 0))
    (tmp_path / "one.txt").write_text("aA.\n...\n...\n")
    code, _, err = cli("boards", "import", "pogema", tmp_path / "one.txt", "--output", tmp_path / "out.jsonl")
    assert code == 2
    assert "0 unsolvable, 1 undecided" in err


def test_import__reports_optima_that_the_file_has_wrong(cli, tmp_path: Path) -> None:
    wrong = json.loads(SOLVED[0].to_json()) | {"sum_of_costs": 3}
    (tmp_path / "foreign.jsonl").write_text((json.dumps(wrong) + "\n") * 11 + SOLVED[1].to_json())
    (tmp_path / "mapping.yaml").write_text(MAPPING)
    arguments = ("mapped_json", tmp_path / "foreign.jsonl", "--mapping", tmp_path / "mapping.yaml", "--output")
    code, out, _ = cli("boards", "import", *arguments, tmp_path / "out.jsonl")
    lines = out.splitlines()
    assert code == 0
    assert lines[1].endswith("foreign.jsonl, line 1: sum_of_costs is 3 in the file, 4 is proved")
    assert lines[11].startswith("... 11 disagreements in all")
    assert {board.truth.sum_of_costs for board in read_boards(tmp_path / "out.jsonl")} == {4, 5}
    code, out, _ = cli("boards", "import", *arguments, tmp_path / "one.jsonl", "--agents", 1)
    assert "is proved" not in out  # the optimum of two agents says nothing about one
    assert read_boards(tmp_path / "one.jsonl")[0].instance.agents == 1


def test_answers__of_a_foreign_planner_are_judged(cli, boards: Path, tmp_path: Path) -> None:
    assert cli("boards", "export", "libmultirobot", boards, tmp_path / "out")[0] == 0
    results = tmp_path / "results"
    results.mkdir()
    paths = [[(0, 0), (1, 0)], [(1, 0), (1, 1), (1, 2), (2, 2)]]
    schedule = {
        f"agent{agent}": [{"x": x, "y": y, "t": time} for time, (x, y) in enumerate(path)]
        for agent, path in enumerate(paths)
    }
    (results / "board_00000.yaml").write_text(yaml.safe_dump({"schedule": schedule}))
    answers = tmp_path / "answers.jsonl"
    code, out, _ = cli("boards", "answers", "libmultirobot", boards, results, "--output", answers)
    assert (code, out) == (0, f"1 answers to 2 boards written to {answers}\n")
    code, out, _ = cli("verify", boards, answers)
    assert (code, json.loads(out)["optimal"]) == (0, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("import", "sokoban", "{boards}"), "one of movingai, pogema, libmultirobot, mapped_json, got 'sokoban'"),
        (("import", "mapped_json", "{boards}"), "mapped_json needs --mapping"),
        (("import", "pogema", "{boards}", "--mapping", "{boards}"), "leave out --mapping"),
        (("import", "pogema", "{tmp}/none.txt"), "none.txt must be a readable file"),
        (("import", "pogema", "{tmp}/one.txt", "--agents", "2"), "2 agents are asked for, there are 1"),
        (("import", "movingai", "{tmp}/one.txt"), "sources must be .scen files"),
        (("import", "pogema", "{tmp}/one.txt", "--output", "{boards}"), "must not exist yet"),
        (("export", "mapped_json", "{boards}", "{tmp}/new"), "movingai or pogema or libmultirobot, got mapped_json"),
        (("export", "pogema", "{boards}", "{tmp}"), "must not exist yet"),
        (("export", "pogema", "{tmp}/one.txt", "{tmp}/new"), "one.txt, line 1"),
        (("answers", "movingai", "{boards}", "{tmp}"), "that has plans, libmultirobot, got movingai"),
        (("answers", "libmultirobot", "{boards}", "{tmp}"), "must hold results named board_00000.yaml"),
    ],
)
def test_bad_input__is_one_message_and_writes_nothing(cli, boards: Path, tmp_path: Path, arguments, message) -> None:
    (tmp_path / "one.txt").write_text("aA.\n...\n...\n")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    words = [argument.format(tmp=tmp_path, boards=boards) for argument in arguments]
    if words[0] != "export" and "--output" not in words:
        words += ["--output", str(tmp_path / "new.jsonl")]
    code, out, err = cli("boards", *words)
    assert (code, out) == (2, "")
    assert err.startswith("envwright: ")
    assert message in err
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_help__names_every_format(cli) -> None:
    out = cli("boards", "import", "--help")[1]
    assert all(name in out for name in FORMATS)
