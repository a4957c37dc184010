"""The real loop on the bundled miniature: GRPO through TRL, the checkpoint in the engineer's seat, resume."""

import shutil
from pathlib import Path

import pytest

from envwright import redesign
from envwright.diagnosis.carry import Carry
from envwright.engineer import Redesign
from envwright.errors import RecipeError, RunDirectoryError
from envwright.experiment import resume_run, start_run
from envwright.recipe import load_recipe
from envwright.report import write_report
from envwright.run_store import RunStore
from envwright.trainer import Training
from envwright.watch import Watch

SMALL = [
    "rounds=2",
    "samples_per_round=8",
    "testbed.sizes=[3, 4]",
    "configuration=uniform",
    "validation.tasks=12",
    "validation.sampling.max_tokens=24",
    "engineer.sampling.max_tokens=200",
    "trainer.epochs=1",
    "trainer.arguments.per_device_train_batch_size=8",
    "trainer.arguments.steps_per_generation=2",
    "trainer.arguments.num_generations=4",
    "trainer.arguments.max_completion_length=24",
]


def start(path: Path, *overrides: str) -> RunStore:
    return start_run(load_recipe("cpu", [*SMALL, *overrides]), path, Watch())


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> RunStore:
    return start(tmp_path_factory.mktemp("runs") / "whole")


def numbers(store: RunStore) -> dict[str, bytes]:
    """What must be equal between runs of one recipe and seed: data, configurations, answers, weights."""
    of_round = ["config.yaml", "train.parquet", "rollouts.parquet", "evidence.json", "checkpoint/model.safetensors"]
    names = [
        "validation.parquet",
        "base/rollouts.parquet",
        *(f"round_0{index}/{name}" for index in (0, 1) for name in of_round),
        "round_00/reply.txt",
        "round_00/context.md",
    ]
    return {name: (store.path / name).read_bytes() for name in names}


def test_run__trains_and_lets_the_checkpoint_redesign(finished: RunStore) -> None:
    outcome = finished.read_record("round_00/proposal.json", Redesign)
    assert outcome.proposal.attempts
    assert outcome.proposal.context.startswith("You are the environment engineer.")
    training = finished.read_record("round_00/training.json", Training)
    assert len(training.groups) == 8
    tasks = finished.read_tasks("round_00/train.parquet")
    assert {group.task_id for group in training.groups} == {task.id for task in tasks}
    first, second = ((finished.path / f"round_0{index}/checkpoint/model.safetensors").read_bytes() for index in (0, 1))
    assert first != second


def test_run__continues_optimizer_and_log_over_rounds(finished: RunStore) -> None:
    state = finished.read_json("round_01/checkpoint/trainer_state.json")
    assert state["global_step"] == 2 * 4
    assert [row["step"] for row in state["log_history"] if "loss" in row] == list(range(1, 9))


def test_run__after_a_rollback_trains_on_from_the_carried_checkpoint(
    finished: RunStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def first_is_best(mode: str, check: bool, rounds: dict, sources: object) -> Carry:
        return Carry(round_index=0)

    monkeypatch.setattr(redesign, "decide_carry", first_is_best)
    store = start(tmp_path / "rolled back", "rounds=3")
    states = [store.read_json(f"round_0{index}/checkpoint/trainer_state.json") for index in range(3)]
    assert [state["global_step"] for state in states] == [4, 8, 8]
    assert states[2]["log_history"][:4] == states[0]["log_history"][:4]
    assert states[2]["log_history"][4:8] != states[1]["log_history"][4:8]


def test_run__twice_gives_the_same_numbers(finished: RunStore, tmp_path: Path) -> None:
    assert numbers(start(tmp_path / "again")) == numbers(finished)


@pytest.mark.parametrize(
    "lost",
    [
        ["round_00/training.json", "round_00/checkpoint"],
        ["round_00/rollouts.parquet", "round_00/evidence.json", "round_00/proposal.json"],
        ["round_00/proposal.json"],
        [],
    ],
    ids=["training", "validation", "redesign", "next round"],
)
def test_resume__from_any_step_ends_the_same(finished: RunStore, tmp_path: Path, lost: list[str]) -> None:
    path = tmp_path / "run"
    shutil.copytree(finished.path, path)
    for name in [*lost, "round_00/done", "round_01"]:
        target = path / name
        shutil.rmtree(target) if target.is_dir() else target.unlink()
    resume_run(path, Watch())
    assert numbers(RunStore.open(path)) == numbers(finished)


def test_resume__leaves_a_finished_run_alone(finished: RunStore) -> None:
    before = (finished.path / "events.jsonl").read_bytes()
    resume_run(finished.path, Watch())
    assert (finished.path / "events.jsonl").read_bytes() == before


def test_run__refuses_a_directory_that_holds_a_run(finished: RunStore) -> None:
    before = numbers(finished)
    with pytest.raises(RunDirectoryError, match="envwright resume"):
        start(finished.path)
    assert numbers(finished) == before


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("samples_per_round=9", "multiple of the 4 prompts per generation, got 9"),
        ("trainer.arguments.learning_rat=1", "fields of trl.GRPOConfig, got 'learning_rat'"),
        ("trainer.arguments.max_steps=1", "may not set 'max_steps'"),
        ("trainer.arguments.num_generations=3", "must fit trl.GRPOConfig"),
    ],
)
def test_run__refuses_settings_that_do_not_fit_before_it_writes(tmp_path: Path, override: str, message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        start(tmp_path / "run", override)
    assert not (tmp_path / "run").exists()


def test_report__is_made_of_the_files_alone(finished: RunStore, tmp_path: Path) -> None:
    path = tmp_path / "copy"
    shutil.copytree(finished.path, path)
    page = write_report(path).read_text(encoding="utf-8")
    tables = (path / "report/tables.md").read_text(encoding="utf-8")
    rollouts = RunStore.open(path).read_rollouts("round_01/rollouts.parquet")
    rate = f"{100 * sum(rollout.verdict.valid for rollout in rollouts) / len(rollouts):.1f}"
    assert f"{rate} (round 1)" in tables
    assert "http" not in page
    assert page.count("<svg") >= 4
