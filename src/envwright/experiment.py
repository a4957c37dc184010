"""Builds the parts of a recipe and puts them into the loop: the only module that knows every kind."""

import importlib.metadata
import platform
import subprocess
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from envwright.configuration import Configuration, knob_bounds
from envwright.diagnosis.context import retry_message
from envwright.diagnosis.token_budget import fit_context
from envwright.engineer import Bookkeeping, Engineer, Proposal, Redesign, Table
from envwright.engineers import Parts, build_engineer
from envwright.engineers.candidates import predicted_learnability
from envwright.engineers.guardrails import project
from envwright.engineers.null import random_table
from envwright.engineers.probe import probed_signal
from envwright.engineers.proposal_schema import answer_schema
from envwright.errors import ConfigurationError
from envwright.loop import Loop, LoopSettings
from envwright.policies.endpoint import EndpointPolicy, check_endpoint
from envwright.policies.transformers_policy import ModelSettings, TransformersPolicy, check_model, checkpoint_settings
from envwright.policy import Policy
from envwright.recipe import LlmSection, Recipe, parse_recipe, resolved_text
from envwright.recipe_errors import explain
from envwright.redesign import Redesigner
from envwright.run_store import RECIPE, RunStore, round_name
from envwright.seeds import derive_seed
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

PACKAGES = (
    "envwright",
    "torch",
    "transformers",
    "trl",
    "accelerate",
    "datasets",
    "numpy",
    "pydantic",
    "pyarrow",
    "httpx",
)


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


def build_redesigner(recipe: Recipe, testbed: Testbed[Any], store: RunStore, engineer: Engineer) -> Redesigner:
    """Returns the engineer with the recipe's guardrails around it."""
    return Redesigner(
        engineer=engineer,
        project=partial(_project, recipe, testbed),
        carry_mode=recipe.guardrails.carry,
        check_forgetting=recipe.guardrails.forgetting_floor is not None,
        sources=testbed.sources,
        source_word=testbed.source_word,
        bookkeeping=_bookkeeping(recipe),
        store=store,
    )


def build_testbed(recipe: Recipe) -> Testbed[Any]:
    """Returns the testbed of the recipe."""
    settings = MapfSettings.model_validate(recipe.testbed.model_dump(exclude={"kind"}))
    return TESTBEDS[recipe.testbed.kind](settings)


def build_seat(recipe: Recipe, testbed: Testbed[Any], live: Callable[[], Policy]) -> Engineer:
    """Returns the recipe's engineer; `live` gives the policy of the moment."""
    parts = Parts(
        policies=_seat_policies(recipe, testbed, live),
        render=lambda evidence, count: fit_context(evidence, testbed, recipe.context, count),
        retry_message=retry_message,
        knobs=knob_bounds(testbed.knobs_type),
        uniform=testbed.uniform_configuration().table(),
        seed=recipe.seed,
        legal=lambda proposal, previous: _project(recipe, testbed, proposal, previous, ()).configuration,
        judges={
            "learnability": lambda settings: predicted_learnability(testbed.mixture),
            "probe": lambda settings: probed_signal(
                settings,
                lambda table, count, seed: testbed.sample(legal_configuration(table, testbed), count, seed),
                lambda task, answer: testbed.verify(task, answer).reward,
                live,
                recipe.validation.sampling,
                recipe.seed,
            ),
        },
    )
    return build_engineer(recipe.engineer, parts)


def check_engineer(recipe: Recipe) -> None:
    """Makes sure that the engineer's model can be asked, as far as that shows without asking.

    Raises:
        DataFileError: there is no such checkpoint.
        MissingExtraError: a package is not installed.
        RecipeError: the endpoint's key is not in the environment.
    """
    if isinstance(recipe.engineer, LlmSection):
        if recipe.engineer.checkpoint:
            check_model(recipe.engineer.checkpoint)
        if recipe.engineer.endpoint:
            check_endpoint(recipe.engineer.endpoint)


def _seat_policies(
    recipe: Recipe, testbed: Testbed[Any], live: Callable[[], Policy]
) -> dict[str, Callable[[], Policy]]:
    """Returns the models that an engineer may be; a local one is loaded each time it is asked for."""
    policies: dict[str, Callable[[], Policy]] = {
        "policy": live,
        "base": lambda: TransformersPolicy.load(recipe.policy),
    }
    if not isinstance(recipe.engineer, LlmSection):
        return policies
    if checkpoint := recipe.engineer.checkpoint:
        policies["checkpoint"] = lambda: TransformersPolicy.load(checkpoint)
    if endpoint := recipe.engineer.endpoint:
        seat = EndpointPolicy(endpoint, answer_schema(testbed.sources, knob_bounds(testbed.knobs_type)))
        policies["endpoint"] = lambda: seat
    return policies


def checkpoint_policy(recipe: Recipe, store: RunStore, index: int) -> Policy:
    """Returns the policy that a round of a run left."""
    checkpoint = store.path / round_name(index) / "checkpoint"
    settings: ModelSettings = recipe.policy
    if recipe.trainer.kind != "frozen":
        settings = checkpoint_settings(recipe.policy, checkpoint)
    return TransformersPolicy.load(settings)


def start_configuration(recipe: Recipe, testbed: Testbed[Any]) -> Configuration[Any]:
    """Returns the configuration of round 0.

    Raises:
        ConfigurationError: the recipe's table does not cover the sources, or breaks a bound or the sum.
    """
    if recipe.configuration == "uniform":
        return testbed.uniform_configuration()
    if recipe.configuration == "random":
        seed = derive_seed(recipe.seed, "round 0")
        return legal_configuration(random_table(testbed.sources, knob_bounds(testbed.knobs_type), seed), testbed)
    return legal_configuration(recipe.configuration, testbed)


def legal_configuration(table: Table, testbed: Testbed[Any]) -> Configuration[Any]:
    """Returns the configuration of plain values.

    Raises:
        ConfigurationError: it does not cover exactly the testbed's sources, or breaks a bound or the sum.
    """
    if set(table) != set(testbed.sources):
        raise ConfigurationError(
            f"a configuration must cover the {testbed.source_word}s {', '.join(testbed.sources)}, "
            f"got {', '.join(table)}"
        )
    schema = type(testbed.uniform_configuration())
    data = {"sources": {source: table[source] for source in testbed.sources}}
    try:
        return schema.model_validate(data)
    except ValidationError as error:
        raise ConfigurationError(f"the configuration is not legal. {explain(error, schema, data)}") from error


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


def _bookkeeping(recipe: Recipe) -> Bookkeeping:
    return Bookkeeping(
        round_index=0,
        rounds=recipe.rounds,
        epochs=float(getattr(recipe.trainer, "epochs", 0)),
        samples_per_round=recipe.samples_per_round,
        details={"trainer": recipe.trainer.kind, **getattr(recipe.trainer, "arguments", {})},
    )


def _project(
    recipe: Recipe, testbed: Testbed[Any], proposal: Proposal, previous: Table, forgotten: Collection[str]
) -> Redesign:
    return project(proposal, previous, knob_bounds(testbed.knobs_type), recipe.guardrails, forgotten)


def environment(recipe: Recipe) -> dict[str, Any]:
    """Returns what else decides the numbers: versions, machine, seed, and the state of the code."""
    versions: dict[str, str] = {}
    for package in PACKAGES:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "processor": platform.machine(),
        "packages": versions,
        "seed": recipe.seed,
        "git": _git_state(),
    }


def _git_state() -> str | None:
    """Returns the commit of the code, "+" if there are changes; None outside a checkout."""
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty=+", "--exclude=*"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return None
