"""The commands as a user calls them: what they print, and how they refuse."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from envwright.cli import main

FROZEN = ["engineer={kind: keep}", "trainer={kind: frozen}"]


def call(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: str) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["envwright", *arguments])
    try:
        main()
        code = 0
    except SystemExit as end:
        code = int(end.code or 0)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    return lambda *arguments: call(capsys, monkeypatch, *arguments)


@pytest.fixture
def boards(tmp_path: Path, cli) -> Path:
    path = tmp_path / "boards.jsonl"
    assert cli("sample", "cpu", "--count", "5", "--output", str(path))[0] == 0
    return path


def test_run__dry_prints_the_whole_recipe_and_writes_nothing(cli, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, _ = cli("run", "cpu", "seed=9", "--dry-run")
    assert code == 0
    assert "seed: 9" in out
    assert "trust_region" in out
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "cpu", "sed=1", "--dry-run"), "unknown key 'sed'"),
        (("run", "cpu", "samples_per_round=1000", *FROZEN[:1], "--output", "{tmp}/r"), "multiple of the 64 prompts"),
        (("run", "nosuch"), "one of cpu"),
        (("run", "nosuch.yaml"), "readable YAML file"),
        (
            (
                "run",
                "cpu",
                "testbed.sizes=[3]",
                "configuration={3: {data_ratio: 0.7, hole_ratio: 0, wait_ratio: 0}}",
                "--dry-run",
            ),
            "must sum to 1",
        ),
        (
            (
                "sample",
                "cpu",
                "testbed.sizes=[3]",
                "configuration={3: {data_ratio: 1, hole_ratio: 0.9, wait_ratio: 0}}",
            ),
            "less than or equal to 0.5",
        ),
        (("resume", "{tmp}"), "recipe.yaml"),
        (("report", "{tmp}"), "recipe.yaml"),
        (("solve", "{tmp}/none.jsonl"), "none.jsonl"),
        (("solve", "{tmp}/cut.jsonl"), "cut.jsonl, line 2"),
        (("show", "{tmp}/cut.jsonl"), "line 2"),
        (("evaluate", "{tmp}/nomodel"), "must be 'miniature', a checkpoint directory"),
        (("benchmark", "{tmp}/cut.jsonl"), "must not exist yet"),
        (("miniature", "build", "{tmp}"), "must not exist yet"),
        (("solve", "{tmp}/cut.jsonl", "--objective", "speed"), "sum_of_costs, makespan"),
        (("ablate", "gpu", "--output", "{tmp}/new"), "one of cpu, qwen3-4b, got 'gpu'; variations follow"),
        (("ablate", "cpu:v7", "--output", "{tmp}/new"), "contexts, full-details"),
        (("ablate", "cpu", "cpu", "--output", "{tmp}/new"), "'cpu' twice"),
        (("ablate", "cpu", "--output", "{tmp}/new", "--set", "sed=1"), "unknown key 'sed'"),
        (("ablate", "cpu", "--output", "{tmp}/new", "--seeds", "0,x"), "whole numbers with commas"),
        (("ablate", "cpu", "--output", "{tmp}"), "must be new or hold an ablation.json"),
        (("ablate", "cpu", "--output", "{tmp}/new", "--benchmark", "{tmp}/cut.jsonl"), "cut.jsonl, line 1"),
    ],
)
def test_bad_input__is_one_message_and_exit_code_2(cli, tmp_path: Path, arguments, message: str) -> None:
    good = '{"grid": ["...", "...", "..."], "starts": [[0,0]], "goals": [[1,1]], "sum_of_costs": 2, "makespan": 2,'
    good += ' "needs_wait_sum_of_costs": false, "needs_wait_makespan": false}'
    (tmp_path / "cut.jsonl").write_text(f"{good}\n{good[:50]}")
    before = sorted(path.name for path in tmp_path.iterdir())
    code, _, err = cli(*(argument.format(tmp=tmp_path) if "{tmp}" in argument else argument for argument in arguments))
    assert code == 2
    assert message in err
    assert "Traceback" not in err
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_sample__writes_boards_that_solve_verify_and_show_read(cli, boards: Path, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in boards.read_text().splitlines()]
    assert len(rows) == 5
    code, out, _ = cli("solve", str(boards))
    solved = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert [row["sum_of_costs"] for row in solved] == [row["sum_of_costs"] for row in rows]
    answers = tmp_path / "answers.jsonl"
    lines = [
        "\n".join(
            f"Agent {agent}: " + " -> ".join(f"({row},{column})" for row, column in path)
            for agent, path in enumerate(row["paths"])
        )
        for row in solved
    ]
    answers.write_text(
        "".join(json.dumps({"id": row["id"], "answer": line}) + "\n" for row, line in zip(solved, lines, strict=True))
    )
    code, out, _ = cli("verify", str(boards), str(answers))
    assert code == 0
    assert all(json.loads(line)["optimal"] for line in out.splitlines())
    gif = tmp_path / "plan.gif"
    code, out, _ = cli("show", str(boards), "--number", "1", "--gif", str(gif))
    assert code == 0
    assert gif.read_bytes()[:4] == b"GIF8"


def test_sample__is_the_same_for_the_same_seed(cli) -> None:
    assert cli("sample", "--count", "3", "--seed", "4") == cli("sample", "--count", "3", "--seed", "4")
    assert cli("sample", "--count", "3", "--seed", "4") != cli("sample", "--count", "3", "--seed", "5")


def test_verify__names_the_row_it_cannot_use(cli, boards: Path, tmp_path: Path) -> None:
    answers = tmp_path / "answers.jsonl"
    answers.write_text('{"id": "unknown", "answer": "Agent 0: UP"}\n')
    code, _, err = cli("verify", str(boards), str(answers))
    assert code == 2
    assert "line 1" in err


@pytest.mark.parametrize("arguments", [["--help"], ["sample", "--count", "1"], ["run", "--help"]])
def test_light_commands__import_no_torch(arguments: list[str]) -> None:
    program = (
        f"import sys; sys.argv = ['envwright', *{arguments!r}]\n"
        "from envwright.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(*[name for name in ('torch', 'transformers', 'trl', 'datasets') if name in sys.modules], 'checked')"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.split("\n")[-2] == "checked"


ABLATE = ["rounds=1", "samples_per_round=4", "trainer={kind: frozen}", "validation.tasks=4"]


def test_ablate__prints_the_table_and_tells_a_failure_at_the_end(cli, tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text(f"extends: cpu\nname: bad\npolicy: {{model: {tmp_path / 'none'}}}\n")
    settings = [word for override in ABLATE for word in ("--set", override)]
    recipes = ["cpu", str(tmp_path / "bad.yaml"), "cpu:keep"]
    output = tmp_path / "ablation"
    code, out, err = cli("ablate", *recipes, "--output", str(output), "--seeds", "0", *settings)
    assert code == 2
    assert "bad, seed 0: " in err
    assert "Traceback" not in err
    assert f"table: {output}/ablation.md" in out
    rows = [line.split(" | ")[0].strip("| ") for line in (output / "ablation.md").read_text().splitlines()]
    assert [row for row in rows if row in ("cpu", "bad", "cpu-keep")] == ["cpu", "bad", "cpu-keep"] * 2
