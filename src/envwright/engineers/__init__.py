"""The kinds of engineer: one dictionary from kind to builder, and one function that uses it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any

from pydantic import Field

from envwright.configuration import KnobBounds
from envwright.engineer import Engineer, Evidence, Proposal, Table
from envwright.engineers.candidates import BestOf, CandidateSettings, Judge
from envwright.engineers.llm import LlmEngineer, LlmSettings
from envwright.engineers.null import Fixed, Keep, NullSettings, Random
from envwright.policy import Policy
from envwright.seeds import derive_seed

EngineerSettings = Annotated[LlmSettings | NullSettings, Field(discriminator="kind")]


@dataclass(frozen=True)
class Parts:
    """What the builders may use; each takes what its kind needs.

    Attributes:
        policies: `LlmSettings.model` -> a function that gives the policy when it is asked.
        render: (evidence, counter of tokens) -> the context text.
        retry_message: the reader's message -> what the engineer is told.
        knobs: the knobs of the testbed.
        uniform: the testbed's uniform configuration.
        seed: the run's seed.
        legal: (proposal, previous table) -> the configuration that the guardrails make of it.
        judges: rule -> a function from the settings of candidates to what scores them.
    """

    policies: dict[str, Callable[[], Policy]]
    render: Callable[[Evidence, Callable[[str], int]], str]
    retry_message: Callable[[str], str]
    knobs: tuple[KnobBounds, ...]
    uniform: Table
    seed: int
    legal: Callable[[Proposal, Table], Table]
    judges: dict[str, Callable[[CandidateSettings], Judge]]


def _llm(settings: LlmSettings, parts: Parts) -> Engineer:
    policy = parts.policies[settings.model]
    if settings.candidates is None:
        return LlmEngineer(policy, parts.render, parts.retry_message, parts.knobs, settings, parts.seed)

    def draws() -> Callable[[int], Engineer]:
        once = cache(policy)  # a model that is loaded for the occasion serves all draws of a redesign

        def draw(number: int) -> Engineer:
            seed = derive_seed(parts.seed, "candidate", number)
            return LlmEngineer(once, parts.render, parts.retry_message, parts.knobs, settings, seed)

        return draw

    rule = settings.candidates.rule
    return BestOf(draws, settings.candidates.count, parts.legal, parts.judges[rule](settings.candidates), rule)


ENGINEERS: dict[str, Callable[[Any, Parts], Engineer]] = {
    "llm": _llm,
    "keep": lambda settings, parts: Keep(),
    "uniform": lambda settings, parts: Fixed(parts.uniform),
    "random": lambda settings, parts: Random(parts.knobs, parts.seed),
}


def build_engineer(settings: EngineerSettings, parts: Parts) -> Engineer:
    """Returns the engineer of the settings' kind."""
    return ENGINEERS[settings.kind](settings, parts)
