"""Builds the parts of a recipe and puts them into the loop: the only module that knows every kind."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from envwright.environment import environment
from envwright.loop import Loop, LoopSettings
from envwright.policies.transformers_policy import ModelSettings, TransformersPolicy, checkpoint_settings
from envwright.policy import Policy
from envwright.recipe import Recipe, parse_recipe, resolved_text
from envwright.run_store import RECIPE, RunStore, round_name
from envwright.seat import build_redesigner, build_seat, check_engineer
from envwright.start import start_configuration
from envwright.testbed import Testbed
from envwright.testbeds.mapf_frozenlake.testbed import MapfFrozenLake, MapfSettings
from envwright.trainer import Trainer
from envwright.trainers.frozen import FrozenTrainer
from envwright.trainers.grpo import GrpoTrainer
from envwright.watch import Watch

TESTBEDS: dict[str, Callable[[Any], Testbed[Any]]] = {"mapf_frozenlake": lambda settings: MapfFrozenLake(settings)}

TRAINERS: dict[str, Callable[[Recipe, Testbed[Any], Path], Trainer]] = {
    "grpo": lambda recipe, testbed, path: GrpoTrainer(
        recipe.policy,
        recipe.trainer,  # pyright: ignore[reportArgumentType]  # the key is its kind
        testbed,
        path / ".trainer",
        recipe.seed,
    ),
    "frozen": lambda recipe, testbed, path: FrozenTrainer(TransformersPolicy.load(recipe.policy)),
}


def start_run(recipe: Recipe, output: Path, watch: Watch) -> RunStore:
    """Runs a recipe in a new run directory.

    Raises:
        EnvwrightError: anything the user can mend; what was computed before stays.
    """
    testbed = build_testbed(recipe)
    start_configuration(recipe, testbed)
    RunStore.check_new(output)
    check_engineer(recipe)
    trainer = _trainer(recipe, testbed, output, watch)  # every fault of a recipe shows before anything is written
    store = RunStore.create(output, resolved_text(recipe), environment(recipe))
    with store.locked():
        _loop(recipe, testbed, trainer, store, watch).run()
    return store


def resume_run(path: Path, watch: Watch) -> RunStore:
    """Goes on with a run where it stopped; a finished run is left as it is."""
    store = RunStore.open(path)
    recipe = parse_recipe(store.read_text(RECIPE))
    if not store.has(f"{round_name(recipe.rounds - 1)}/done"):
        testbed = build_testbed(recipe)
        check_engineer(recipe)
        with store.locked():
            _loop(recipe, testbed, _trainer(recipe, testbed, path, watch), store, watch).run()
    return store


def _trainer(recipe: Recipe, testbed: Testbed[Any], path: Path, watch: Watch) -> Trainer:
    watch.step_begins("load the policy")
    trainer = TRAINERS[recipe.trainer.kind](recipe, testbed, path)
    trainer.check(recipe.samples_per_round)
    return trainer


def _loop(recipe: Recipe, testbed: Testbed[Any], trainer: Trainer, store: RunStore, watch: Watch) -> Loop:
    return Loop(
        testbed=testbed,
        trainer=trainer,
        redesigner=build_redesigner(recipe, testbed, store, build_seat(recipe, testbed, lambda: trainer.policy)),
        start=start_configuration(recipe, testbed),
        settings=loop_settings(recipe),
        store=store,
        watch=watch,
    )


def build_testbed(recipe: Recipe) -> Testbed[Any]:
    """Returns the testbed of the recipe."""
    settings = MapfSettings.model_validate(recipe.testbed.model_dump(exclude={"kind"}))
    return TESTBEDS[recipe.testbed.kind](settings)


def checkpoint_policy(recipe: Recipe, store: RunStore, index: int) -> Policy:
    """Returns the policy that a round of a run left."""
    checkpoint = store.path / round_name(index) / "checkpoint"
    settings: ModelSettings = recipe.policy
    if recipe.trainer.kind != "frozen":
        settings = checkpoint_settings(recipe.policy, checkpoint)
    return TransformersPolicy.load(settings)


def loop_settings(recipe: Recipe) -> LoopSettings:
    """Returns the numbers of the loop."""
    validation = recipe.validation
    seed = recipe.seed if validation.seed is None else validation.seed
    return LoopSettings(
        seed=recipe.seed,
        rounds=recipe.rounds,
        samples_per_round=recipe.samples_per_round,
        validation_tasks=validation.tasks,
        validation_seed=seed,
        sampling=validation.sampling,
        batch_size=validation.batch_size,
        base_mix=recipe.guardrails.base_mix,
    )
