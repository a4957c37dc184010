"""Ablations end to end on a frozen policy: what is shared, resumed, refused and told."""

import json
import re
from pathlib import Path

import pytest

from envwright.ablation import NUMBERS, TABLE, run_ablation
from envwright.ablation.plan import expand_groups, parse_seeds, plan_runs
from envwright.ablation.records import Ablation
from envwright.ablation.sharing import SHARED, share
from envwright.errors import EnvwrightError, RecipeError, RunDirectoryError
from envwright.policies.scripted import ScriptedPolicy
from envwright.policies.transformers_policy import TransformersPolicy
from envwright.recipe import Recipe, parse_recipe
from envwright.run_store import RunStore
from envwright.testbeds.mapf_frozenlake.benchmark import benchmark_set, write_benchmark
from envwright.watch import Watch
from run_fakes import ToyTrainer, toy_loop

SMALL = """
name: small
rounds: 2
samples_per_round: 6
testbed: {sizes: [3, 4], allow_repeats: true}
trainer: {kind: frozen}
validation: {tasks: 8, sampling: {max_tokens: 20}}
engineer: {kind: llm, retries: 1}
"""
REPLY = "3 is weak.\n```yaml\n3: {data_ratio: 0.6, hole_ratio: 0.2}\n4: {data_ratio: 0.4}\n```"


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> ScriptedPolicy:
    """Every model that a recipe loads is this policy."""
    policy = ScriptedPolicy([REPLY])
    monkeypatch.setattr(TransformersPolicy, "load", lambda settings: policy)
    return policy


def arm(name: str, *overrides: str) -> Recipe:
    return parse_recipe(SMALL, [f"name={name}", *overrides])


def contents(path: Path) -> dict[str, bytes]:
    files = [file for file in path.rglob("*") if file.is_file() and file.name not in ("events.jsonl", ".lock")]
    return {str(file.relative_to(path)): re.sub(rb'"seconds": [\d.e-]+', b"", file.read_bytes()) for file in files}


class Steps(Watch):
    """Remembers what was begun."""

    def __init__(self) -> None:
        self.begun: list[str] = []

    def step_begins(self, what: str) -> None:
        self.begun.append(what)


def toy_run(path: Path, source: RunStore | None = None, proposals_before: int = 0) -> tuple[RunStore, ToyTrainer]:
    store, trainer = RunStore.create(path, "name: toy\n", {}), ToyTrainer()
    if source:
        share(source, store)
    loop = toy_loop(store, trainer)
    loop.redesigner.engineer.load_state_dict({"proposals": proposals_before})  # makes another engineer of it
    loop.run()
    return store, trainer


def test_share__a_run_that_shared_equals_one_that_did_not(tmp_path: Path) -> None:
    first, _ = toy_run(tmp_path / "first")
    alone, _ = toy_run(tmp_path / "alone", proposals_before=5)
    shared, trainer = toy_run(tmp_path / "shared", first, proposals_before=5)
    assert contents(shared.path) == contents(alone.path)
    assert contents(shared.path) != contents(first.path)
    assert trainer.rounds == [1, 2]


def test_share__tells_what_the_steps_took_without_the_redesign(tmp_path: Path) -> None:
    first, _ = toy_run(tmp_path / "first")
    second, _ = toy_run(tmp_path / "second", first)
    third, _ = toy_run(tmp_path / "third", second)
    steps = [
        [(e["step"], e["where"]) for e in store.events() if e["event"] in ("done", "shared")]
        for store in (first, second, third)
    ]
    assert steps[0] == steps[1] == steps[2]


def test_share__goes_on_where_it_was_killed_and_leaves_own_files_alone(tmp_path: Path) -> None:
    first, _ = toy_run(tmp_path / "first")
    store = RunStore.create(tmp_path / "second", "name: toy\n", {})
    store.write_text("round_00/config.yaml", "its own\n")
    (store.path / "round_00/.checkpoint.partial").mkdir()
    (store.path / "round_00/.checkpoint.partial/half").touch()
    (store.path / "round_00/.train.parquet.partial").write_text("half")
    share(first, store)
    assert store.read_text("round_00/config.yaml") == "its own\n"
    assert all(store.has(name) for name in SHARED)
    assert not list(store.path.rglob(".*partial"))
    assert [p.name for p in (store.path / "round_00/checkpoint").iterdir()] == ["lessons"]


def test_run_ablation__arms_of_one_seed_share_what_comes_before_the_redesign(
    scripted: ScriptedPolicy, tmp_path: Path
) -> None:
    recipes = [arm("one"), arm("two", "context.modules=V1"), arm("keep", "engineer={kind: keep}")]
    ablation = run_ablation(recipes, [0, 1], tmp_path / "all", Watch())
    run_ablation(recipes[1:2], [1], tmp_path / "alone", Watch())
    assert contents(tmp_path / "all/two/seed_1") == contents(tmp_path / "alone/two/seed_1")
    for seed in (0, 1):
        inodes = {
            (tmp_path / f"all/{name}/seed_{seed}/round_00/train.parquet").stat().st_ino for name in ("one", "two")
        }
        assert len(inodes) == 1
    assert [(row.recipe, row.context, row.engineer) for row in ablation.rows] == [
        ("one", "F+G+H+T", "checkpoint"),
        ("two", "F", "checkpoint"),
        ("keep", "-", "keep"),
    ]
    assert [[run.state for run in row.runs] for row in ablation.rows] == [["finished"] * 2] * 3
    assert [row.runs[0].usable_first for row in ablation.rows] == [1, 1, 0]
    assert Ablation.model_validate_json((tmp_path / "all" / NUMBERS).read_text()) == ablation
    assert "| two | F | checkpoint | 2 |" in (tmp_path / "all" / TABLE).read_text()


@pytest.mark.parametrize("override", ["samples_per_round=7", "testbed.reward.valid=0.7", "validation.tasks=6"])
def test_run_ablation__arms_that_differ_before_the_redesign_share_nothing(
    scripted: ScriptedPolicy, tmp_path: Path, override: str
) -> None:
    run_ablation([arm("one"), arm("two", override)], [0], tmp_path / "all", Watch())
    events = RunStore(tmp_path / "all/two/seed_0").events()
    assert "shared" not in {event["event"] for event in events}


def test_run_ablation__again_does_only_what_is_missing(scripted: ScriptedPolicy, tmp_path: Path) -> None:
    recipes = [arm("one"), arm("two", "context.modules=V1")]
    before = run_ablation(recipes, [0], tmp_path / "all", Watch())
    wanted = contents(tmp_path / "all")
    for name in ("evidence.json", "rollouts.parquet", "done"):
        (tmp_path / "all/two/seed_0/round_01" / name).unlink()
    watch = Steps()
    after = run_ablation(recipes, [0], tmp_path / "all", watch)
    assert watch.begun == [
        "run 1 of 2: one, seed 0",
        "run 2 of 2: two, seed 0",
        "load the policy",
        "validate on 8 tasks",
    ]
    assert after.rows[1].validation == before.rows[1].validation
    numbers = (NUMBERS, TABLE)
    assert {n: t for n, t in contents(tmp_path / "all").items() if n not in numbers} == {
        n: t for n, t in wanted.items() if n not in numbers
    }


def test_run_ablation__a_seed_more_keeps_the_runs_there_are(scripted: ScriptedPolicy, tmp_path: Path) -> None:
    run_ablation([arm("one")], [0], tmp_path / "all", Watch())
    before = contents(tmp_path / "all/one/seed_0")
    ablation = run_ablation([arm("one")], [0, 1], tmp_path / "all", Watch())
    assert contents(tmp_path / "all/one/seed_0") == before
    assert ablation.rows[0].validation
    assert ablation.rows[0].validation.seeds == (0, 1)


def test_run_ablation__a_failing_run_is_recorded_and_the_others_go_on(
    scripted: ScriptedPolicy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(settings):
        if settings.model == "broken":
            raise RecipeError("there is no broken")
        return scripted

    monkeypatch.setattr(TransformersPolicy, "load", load)
    recipes = [arm("first"), arm("bad", "policy.model=broken"), arm("last")]
    ablation = run_ablation(recipes, [0], tmp_path / "all", Watch())
    assert [row.runs[0].state for row in ablation.rows] == ["finished", "failed", "finished"]
    assert ablation.failed == ["bad, seed 0: there is no broken"]
    assert "bad, seed 0: there is no broken" in (tmp_path / "all" / TABLE).read_text()
    assert ablation.rows[2].validation
    assert ablation.rows[2].validation.valid_difference


def test_run_ablation__the_last_checkpoints_answer_the_benchmark(scripted: ScriptedPolicy, tmp_path: Path) -> None:
    boards = tmp_path / "boards.jsonl"
    write_benchmark(boards, benchmark_set(agents=[3], sizes=[3, 4], per_cell=4))
    recipes = [arm("one"), arm("keep", "engineer={kind: keep}")]
    ablation = run_ablation(recipes, [0, 1], tmp_path / "all", Watch(), boards)
    measured = ablation.rows[1].benchmark
    assert measured
    assert (measured.tasks, measured.same_tasks) == (24, True)
    assert list(measured.subsets) == ["wait 0.25", "wait 0.50", "wait 0.75", "3 agents"]
    text = (tmp_path / "all" / TABLE).read_text()
    assert (
        "| recipe | valid %, wait 0.25 | valid %, wait 0.50 | valid %, wait 0.75 | 3 agents, valid % / optimal % |"
        in text
    )
    watch = Steps()
    run_ablation(recipes, [0, 1], tmp_path / "all", watch, boards)
    assert not [step for step in watch.begun if "boards" in step]


@pytest.mark.parametrize("content", ["somebody's", None])
def test_run_ablation__writes_into_no_other_directory(tmp_path: Path, content: str | None) -> None:
    output = tmp_path / "all"
    if content is None:
        output.write_text("a file")
    else:
        output.mkdir()
        (output / "notes.txt").write_text(content)
    with pytest.raises(RunDirectoryError, match=r"must be new or hold an ablation\.json"):
        run_ablation([arm("one")], [0], output, Watch())


def test_run_ablation__refuses_a_run_of_another_recipe(scripted: ScriptedPolicy, tmp_path: Path) -> None:
    run_ablation([arm("one")], [0], tmp_path / "all", Watch())
    with pytest.raises(RunDirectoryError, match=r"seed_0 must be a run of the recipe one as it is now"):
        run_ablation([arm("one", "context.modules=V1")], [0], tmp_path / "all", Watch())


@pytest.mark.parametrize(
    ("recipes", "message"),
    [
        ([arm("one"), arm("one", "rounds=3")], "got 'one' twice"),
        ([arm("../one")], "folder's name, got '../one'"),
        ([arm("..")], "folder's name, got '..'"),
        ([arm("one", "configuration={3: {data_ratio: 1, hole_ratio: 0, wait_ratio: 0}}")], "must cover the sizes"),
    ],
)
def test_plan_runs__faults_show_before_anything_is_written(tmp_path: Path, recipes, message: str) -> None:
    with pytest.raises(EnvwrightError, match=message):
        run_ablation(recipes, [0], tmp_path / "all", Watch())
    assert not (tmp_path / "all").exists()


def test_plan_runs__one_seed_after_the_other(tmp_path: Path) -> None:
    runs = plan_runs([arm("a"), arm("b")], [3, 1], tmp_path)
    assert [str(run.path.relative_to(tmp_path)) for run in runs] == ["a/seed_3", "b/seed_3", "a/seed_1", "b/seed_1"]
    assert [run.recipe.seed for run in runs] == [3, 3, 1, 1]


def test_expand_groups__stand_for_their_variations() -> None:
    assert expand_groups(["cpu", "mine.yaml:contexts"]) == ["cpu", *(f"mine.yaml:v{n}" for n in range(1, 7))]
    assert "cpu:keep" in expand_groups(["cpu:paper"])
    with pytest.raises(RecipeError, match=r"contexts, .*v6, got 'v7'"):
        expand_groups(["cpu:v7"])


@pytest.mark.parametrize("text", ["", "1,", "a", "1,1"])
def test_parse_seeds__says_what_they_must_be(text: str) -> None:
    with pytest.raises(RecipeError, match="seeds must"):
        parse_seeds(text)
    assert parse_seeds("4, 2") == [4, 2]


def test_numbers__are_fractions_in_json(scripted: ScriptedPolicy, tmp_path: Path) -> None:
    run_ablation([arm("one")], [0], tmp_path / "all", Watch())
    row = json.loads((tmp_path / "all" / NUMBERS).read_text())["rows"][0]
    assert row["validation"]["valid"]["mean"] == row["runs"][0]["valid"] / row["runs"][0]["tasks"] == 0
