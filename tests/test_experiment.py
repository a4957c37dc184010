import json
import re
from pathlib import Path

import pytest

from envwright.configuration import read_table
from envwright.engineer import Redesign
from envwright.environment import environment
from envwright.errors import ConfigurationError, DataFileError, EnvwrightError, RecipeError, RunDirectoryError
from envwright.experiment import build_testbed, loop_settings, resume_run, start_run
from envwright.policies.bundled import miniature_path
from envwright.policies.scripted import ScriptedPolicy
from envwright.policies.transformers_policy import TransformersPolicy
from envwright.recipe import Recipe, load_recipe, parse_recipe
from envwright.run_store import RECIPE, RunStore
from envwright.start import legal_configuration, start_configuration
from envwright.watch import Watch

SMALL = """
name: small
seed: 1
rounds: 2
samples_per_round: 10
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


def small(*overrides: str) -> Recipe:
    return parse_recipe(SMALL, overrides)


def test_start_run__leaves_a_run_that_parses_and_a_redesign(scripted: ScriptedPolicy, tmp_path: Path) -> None:
    store = start_run(small(), tmp_path / "run", Watch())
    assert parse_recipe(store.read_text(RECIPE)) == small()
    assert store.has("round_01/done")
    redesign = store.read_record("round_00/proposal.json", Redesign)
    assert redesign.configuration["3"]["data_ratio"] == 0.6
    assert read_table(store.read_text("round_01/config.yaml")) == redesign.configuration
    assert REPLY in store.read_text("round_00/reply.txt")
    assert "3" in store.read_text("round_00/context.md")


def test_start_run__twice_gives_the_same_files(scripted: ScriptedPolicy, tmp_path: Path) -> None:
    def contents(name: str) -> dict[str, bytes]:
        path = start_run(small(), tmp_path / name, Watch()).path
        files = [file for file in path.rglob("*.*") if file.is_file() and file.name not in ("events.jsonl", ".lock")]
        return {str(file.relative_to(path)): re.sub(rb'"seconds": [\d.e-]+', b"", file.read_bytes()) for file in files}

    assert contents("one") == contents("two")


def test_start_run__the_seed_matters(scripted: ScriptedPolicy, tmp_path: Path) -> None:
    one = start_run(small(), tmp_path / "one", Watch())
    two = start_run(small("seed=2"), tmp_path / "two", Watch())
    assert one.read_tasks("round_00/train.parquet") != two.read_tasks("round_00/train.parquet")


def test_start_run__overwrites_no_run(scripted: ScriptedPolicy, tmp_path: Path) -> None:
    start_run(small(), tmp_path / "run", Watch())
    with pytest.raises(RunDirectoryError, match="resume"):
        start_run(small("rounds=1"), tmp_path / "run", Watch())
    assert parse_recipe((tmp_path / "run" / RECIPE).read_text()) == small()


@pytest.mark.parametrize(
    ("override", "fault"),
    [
        ("configuration={3: {data_ratio: 0.7, hole_ratio: 0.2, wait_ratio: 0}}", ConfigurationError),
        ("trainer={kind: grpo, arguments: {learning: 1}}", RecipeError),
        ("trainer={kind: grpo, arguments: {seed: 1}}", RecipeError),
        ("policy.model=/no/such/model", DataFileError),
    ],
)
def test_start_run__a_faulty_recipe_leaves_nothing(tmp_path: Path, override: str, fault: type[EnvwrightError]) -> None:
    with pytest.raises(fault):
        start_run(small(override), tmp_path / "run", Watch())
    assert not (tmp_path / "run").exists()


def test_resume_run__refuses_a_directory_in_use(scripted: ScriptedPolicy, tmp_path: Path) -> None:
    store = start_run(small(), tmp_path / "run", Watch())
    (store.path / "round_01" / "done").unlink()
    with store.locked(), pytest.raises(RunDirectoryError, match="in use by process"):
        resume_run(store.path, Watch())


def test_resume_run__goes_on_from_the_files_alone(scripted: ScriptedPolicy, tmp_path: Path) -> None:
    store = start_run(small(), tmp_path / "run", Watch())
    before = (store.path / "round_01" / "evidence.json").read_bytes()
    for name in ("evidence.json", "done"):
        (store.path / "round_01" / name).unlink()
    resume_run(store.path, Watch())
    assert (store.path / "round_01" / "evidence.json").read_bytes() == before


def test_resume_run__loads_nothing_for_a_finished_run(
    scripted: ScriptedPolicy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = start_run(small(), tmp_path / "run", Watch())
    monkeypatch.delattr(TransformersPolicy, "load")
    resume_run(store.path, Watch())


def test_resume_run__wants_a_run(tmp_path: Path) -> None:
    with pytest.raises(RunDirectoryError):
        resume_run(tmp_path, Watch())


@pytest.mark.parametrize("kind", ["keep", "uniform", "random"])
def test_start_run__every_engineer_without_evidence_gives_a_legal_run(
    scripted: ScriptedPolicy, tmp_path: Path, kind: str
) -> None:
    store = start_run(small(f"engineer={{kind: {kind}}}"), tmp_path / "run", Watch())
    first, second = (read_table(store.read_text(f"round_0{index}/config.yaml")) for index in range(2))
    assert (first == second) == (kind in ("keep", "uniform"))


def test_start_configuration__uniform_is_the_testbeds() -> None:
    testbed = build_testbed(small())
    assert start_configuration(small(), testbed) == testbed.uniform_configuration()


def test_start_configuration__random_depends_on_the_seed_alone() -> None:
    def start(seed: int):
        recipe = small("configuration=random", f"seed={seed}")
        return start_configuration(recipe, build_testbed(recipe))

    assert start(1) == start(1)
    assert start(1) != start(2)


def test_start_configuration__table_is_taken_as_it_is() -> None:
    table = {
        "3": {"data_ratio": 0.25, "hole_ratio": 0.1, "wait_ratio": 0.5},
        "4": {"data_ratio": 0.75, "hole_ratio": 0.2, "wait_ratio": 1.0},
    }
    recipe = small(f"configuration={json.dumps(table)}")
    assert start_configuration(recipe, build_testbed(recipe)).table() == table


@pytest.mark.parametrize(
    ("knob", "value", "message"),
    [
        ("data_ratio", 0.9, "must sum to 1, got 1.4"),
        ("hole_ratio", 0.9, r"3\.hole_ratio: .* 0\.5, got 0\.9"),
        ("wait_ratio", -0.1, r"3\.wait_ratio: .* 0, got -0\.1"),
        ("wait_ratio", float("nan"), r"3\.wait_ratio"),
    ],
)
def test_legal_configuration__says_what_must_hold(knob: str, value: float, message: str) -> None:
    testbed = build_testbed(small())
    table = testbed.uniform_configuration().table()
    table["3"][knob] = value
    with pytest.raises(ConfigurationError, match=message):
        legal_configuration(table, testbed)


@pytest.mark.parametrize("sources", [["3"], ["3", "4", "5"]])
def test_legal_configuration__covers_the_sources_exactly(sources: list[str]) -> None:
    knobs = {"data_ratio": 1 / len(sources), "hole_ratio": 0.2, "wait_ratio": 0.5}
    with pytest.raises(ConfigurationError, match="sizes 3, 4, got"):
        legal_configuration(dict.fromkeys(sources, knobs), build_testbed(small()))


def test_loop_settings__the_validation_set_can_keep_its_seed() -> None:
    assert loop_settings(small()).validation_seed == 1
    assert loop_settings(small("validation.seed=9", "seed=5")).validation_seed == 9


def test_environment__names_versions_seed_and_code() -> None:
    found = environment(load_recipe("cpu", ["seed=4"]))
    assert found["seed"] == 4
    assert {"envwright", "numpy", "pydantic"} <= set(found["packages"])
    assert json.loads(json.dumps(found)) == found


def test_store__of_a_run_opens_by_its_path(scripted: ScriptedPolicy, tmp_path: Path) -> None:
    start_run(small(), tmp_path / "run", Watch())
    assert RunStore.open(tmp_path / "run").rounds() == [0, 1]


def test_start_run__seats_another_checkpoint(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    other = str(miniature_path())
    answers = {other: REPLY, "miniature": "nothing"}
    monkeypatch.setattr(TransformersPolicy, "load", lambda settings: ScriptedPolicy([answers[settings.model]]))
    seat = f"engineer={{kind: llm, model: checkpoint, checkpoint: {{model: {other}}}}}"
    redesign = start_run(small(seat), tmp_path / "run", Watch()).read_record("round_00/proposal.json", Redesign)
    assert redesign.configuration["3"]["data_ratio"] == 0.6


def test_start_run__wants_the_engineers_checkpoint_before_anything_is_written(
    scripted: ScriptedPolicy, tmp_path: Path
) -> None:
    seat = "engineer={kind: llm, model: checkpoint, checkpoint: {model: /no/such/model}}"
    with pytest.raises(DataFileError, match="/no/such/model"):
        start_run(small(seat), tmp_path / "run", Watch())
    assert not (tmp_path / "run").exists()
