"""The engineer's seat of a recipe: who sits in it, and the guardrails around it."""

from collections.abc import Callable, Collection
from functools import partial
from typing import Any

from envwright.configuration import knob_bounds
from envwright.diagnosis.context import retry_message
from envwright.diagnosis.token_budget import fit_context
from envwright.engineer import Bookkeeping, Engineer, Proposal, Redesign, Table
from envwright.engineers import Parts, build_engineer
from envwright.engineers.candidates import predicted_learnability
from envwright.engineers.guardrails import project
from envwright.engineers.probe import probed_signal
from envwright.engineers.proposal_schema import answer_schema
from envwright.policies.endpoint import EndpointPolicy, check_endpoint
from envwright.policies.transformers_policy import TransformersPolicy, check_model
from envwright.policy import Policy
from envwright.recipe import LlmSection, Recipe
from envwright.redesign import Redesigner
from envwright.run_store import RunStore
from envwright.start import legal_configuration
from envwright.testbed import Testbed


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
