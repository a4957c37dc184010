"""The commands that need a model, with a scripted one in its place; and outputs that must not be overwritten."""

import sys
from pathlib import Path

import pytest

from envwright import cli as command_line
from envwright.policies.scripted import ScriptedPolicy
from envwright.policies.transformers_policy import TransformersPolicy
from envwright.rollout import Rollout
from envwright.task_files import read_rollouts, read_tasks

SMALL = """
name: small
rounds: 2
samples_per_round: 10
testbed: {sizes: [3, 4], allow_repeats: true}
trainer: {kind: frozen}
validation: {tasks: 8, sampling: {max_tokens: 20}}
engineer: {kind: llm, retries: 1}
"""
REPLY = "```yaml\nreasons:\n  3: still weak here\n3: {data_ratio: 0.6, hole_ratio: 0.9}\n4: {data_ratio: 0.4}\n```"


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(TransformersPolicy, "load", lambda settings: ScriptedPolicy([REPLY]))
    monkeypatch.setenv("COLUMNS", "160")

    def call(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["envwright", *(str(argument) for argument in arguments)])
        try:
            command_line.main()
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(SMALL)
    return path


@pytest.fixture
def run(cli, recipe: Path, tmp_path: Path) -> Path:
    assert cli("run", recipe, "--output", tmp_path / "run")[0] == 0
    return tmp_path / "run"


def files(path: Path) -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in path.rglob("*") if file.is_file()}


def test_run__shows_rounds_rates_reasons_and_corrections(cli, recipe: Path, tmp_path: Path) -> None:
    code, out, err = cli("run", recipe, "--output", tmp_path / "run")
    assert (code, err) == (0, "")
    for words in ("round 0 (1 of 2)", "round 1 (2 of 2)", "95% interval", "3: still weak here", "report: "):
        assert words in out
    assert "corrected 3.hole_ratio: 0.9 -> " in out
    assert (tmp_path / "run" / "report" / "index.html").is_file()


def test_run__again_into_the_same_directory_is_refused(cli, recipe: Path, run: Path) -> None:
    before = files(run)
    code, _, err = cli("run", recipe, "--output", run)
    assert code == 2
    assert err.startswith("envwright: a new run needs a directory that does not exist")
    assert files(run) == before


def test_resume__of_a_finished_run_writes_its_report_again(cli, run: Path) -> None:
    (run / "report" / "index.html").unlink()
    assert cli("resume", run)[0] == 0
    assert (run / "report" / "index.html").is_file()


def test_propose__shows_what_the_engineer_read(cli, run: Path) -> None:
    code, out, _ = cli("propose", run, "--show-context")
    assert code == 0
    assert out == (run / "round_00" / "context.md").read_text()


def test_propose__another_context_is_another_text(cli, run: Path) -> None:
    code, out, _ = cli("propose", run, "--context", "V1", "--show-context")
    assert code == 0
    assert out != (run / "round_00" / "context.md").read_text()


def test_propose__prints_the_answer_and_changes_nothing(cli, run: Path) -> None:
    before = files(run)
    code, out, _ = cli("propose", run, "--round", "1")
    assert code == 0
    assert REPLY in out
    assert "# usable" in out
    assert files(run) == before


@pytest.mark.parametrize(
    ("arguments", "message"), [(("--round", "7"), "finished are [0, 1]"), (("--context", "V9"), "context.modules")]
)
def test_propose__bad_input_is_one_message(cli, run: Path, arguments: tuple[str, ...], message: str) -> None:
    code, _, err = cli("propose", run, *arguments)
    assert code == 2
    assert message in err


def test_evaluate__prints_rates_and_writes_the_rollouts(cli, recipe: Path, tmp_path: Path) -> None:
    rollouts = tmp_path / "rollouts.parquet"
    code, out, _ = cli("evaluate", "any", "--recipe", recipe, "--output", rollouts)
    assert code == 0
    assert "95% interval" in out
    assert rollouts.is_file()


def test_evaluate__takes_boards_of_a_file(cli, recipe: Path, tmp_path: Path) -> None:
    boards, rows, rollouts = (tmp_path / name for name in ("boards.jsonl", "boards.parquet", "rollouts.parquet"))
    for output in (boards, rows):
        assert cli("sample", recipe, "--count", 3, "--output", output)[0] == 0
    assert cli("evaluate", "any", "--boards", boards, "--recipe", recipe, "--output", rollouts)[0] == 0
    tasks = read_tasks(rows)
    assert len(tasks) == 3
    assert all(isinstance(rollout, Rollout) for rollout in read_rollouts(rollouts, tasks))


def test_sample__takes_a_configuration_file_of_a_run(cli, recipe: Path, run: Path) -> None:
    code, out, _ = cli("sample", recipe, "--count", 10, "--configuration", run / "round_01" / "config.yaml")
    assert code == 0
    assert out.count('"source": "3"') == 6


@pytest.mark.parametrize("text", ["just words", "3: 4", "3: {data_ratio: [1]}"])
def test_sample__unreadable_configuration_is_one_message(cli, recipe: Path, tmp_path: Path, text: str) -> None:
    (tmp_path / "config.yaml").write_text(text)
    code, _, err = cli("sample", recipe, "--configuration", tmp_path / "config.yaml")
    assert code == 2
    assert "configuration" in err


def test_benchmark__writes_the_part_asked_for(cli, tmp_path: Path) -> None:
    output = tmp_path / "part.jsonl"
    code, out, _ = cli("benchmark", output, "--agents", 3, "--sizes", 3, "--per-cell", 4, "--workers", 1)
    assert code == 0
    assert len(output.read_text().splitlines()) == 12
    assert "12 boards, sha256 " in out


@pytest.mark.parametrize("name", ["there", "nowhere/new"])
@pytest.mark.parametrize(
    "command",
    [("sample", "{recipe}", "--output"), ("evaluate", "any", "--recipe", "{recipe}", "--output"), ("benchmark",),
     ("show", "{boards}", "--gif")],
)  # fmt: skip
def test_output__must_be_new_and_in_a_directory(
    cli, recipe: Path, tmp_path: Path, command: tuple[str, ...], name: str
) -> None:
    boards = tmp_path / "boards.jsonl"
    cli("sample", recipe, "--count", 1, "--output", boards)
    (tmp_path / "there").write_text("mine")
    before = files(tmp_path)
    code, _, err = cli(*(word.format(recipe=recipe, boards=boards) for word in command), tmp_path / name)
    assert code == 2
    assert "the output must" in err
    assert files(tmp_path) == before


def test_sample__a_demand_that_cannot_be_met_names_the_cell(cli, recipe: Path) -> None:
    table = "{3: {data_ratio: 1, hole_ratio: 0, wait_ratio: 1}}"
    demand = ["testbed.allow_repeats=false", "testbed.sizes=[3]", f"configuration={table}"]
    code, out, err = cli("sample", recipe, *demand, "--count", 200)
    assert (code, out) == (2, "")
    assert "size 3, 0 holes, 2 agents, a wait needed" in err


def test_interrupt__says_how_to_go_on(cli, recipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(settings: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(TransformersPolicy, "load", interrupt)
    code, _, err = cli("run", recipe, "--output", tmp_path / "run")
    assert code == 130
    assert "envwright resume" in err
