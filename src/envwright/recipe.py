"""The recipe: its schema, closed at every level, and how a recipe is loaded; cheap to read."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, ValidationError, model_validator

from envwright.diagnosis.context import ContextSettings
from envwright.engineers.guardrails import GuardrailSettings
from envwright.engineers.llm import LlmSettings
from envwright.engineers.null import NullSettings
from envwright.errors import RecipeError
from envwright.policies.endpoint import EndpointSettings
from envwright.policies.transformers_policy import ModelSettings
from envwright.policy import Sampling
from envwright.recipe_errors import explain
from envwright.recipe_files import apply_override, read_mapping, read_recipe
from envwright.testbeds.mapf_frozenlake.testbed import MapfSettings
from envwright.trainers.frozen import FrozenSettings
from envwright.trainers.grpo import GrpoSettings


class Closed(BaseModel):
    """Base of the recipe's sections: immutable, unknown keys are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class MapfSection(MapfSettings):
    """The MAPF-FrozenLake testbed."""

    kind: Literal["mapf_frozenlake"] = "mapf_frozenlake"


StartName = Annotated[Literal["uniform", "random"], Tag("name")]
StartTable = Annotated[dict[str, dict[str, float]], Tag("table")]


def _start_kind(value: Any) -> str:
    return "table" if isinstance(value, dict) else "name"


class ValidationSection(Closed):
    """The fixed validation set and how the policy is sampled on it."""

    tasks: int = Field(default=480, ge=1, description="size of the fixed set, balanced over sources")
    seed: int | None = Field(default=None, description="the set's own seed; the recipe's if not given")
    batch_size: int = Field(default=256, ge=1, description="prompts per call of the policy")
    sampling: Sampling = Field(default_factory=Sampling, description="temperature, top_p, max_tokens")


class LlmSection(LlmSettings):
    """A language model as engineer, with the section that its `model` needs."""

    checkpoint: ModelSettings | None = Field(default=None, description="the local model of model: checkpoint")
    endpoint: EndpointSettings | None = Field(default=None, description="the server of model: endpoint")

    @model_validator(mode="after")
    def _sections_match(self) -> "LlmSection":
        for name, section in (("checkpoint", self.checkpoint), ("endpoint", self.endpoint)):
            if self.model == name and section is None:
                raise ValueError(f"model: {name} needs the section {name}")
            if self.model != name and section is not None:
                raise ValueError(f"the section {name} goes with model: {name}, got model: {self.model}")
        return self


class Recipe(Closed):
    """Everything that decides a run."""

    name: str = Field(min_length=1, description="names the run; its default output is runs/<name>")
    seed: int = 0
    rounds: int = Field(default=3, ge=1, description="rounds of training; there is one redesign less (paper: 3)")
    samples_per_round: int = Field(default=4000, ge=1, description="training tasks per round (paper: 4,000)")
    testbed: MapfSection = Field(default_factory=MapfSection)
    configuration: Annotated[StartName | StartTable, Discriminator(_start_kind)] = Field(
        default="uniform", description="of round 0: uniform, random, or a table of knobs per source"
    )
    policy: ModelSettings = Field(default_factory=ModelSettings)
    trainer: Annotated[GrpoSettings | FrozenSettings, Field(discriminator="kind")] = Field(default_factory=GrpoSettings)
    validation: ValidationSection = Field(default_factory=ValidationSection)
    engineer: Annotated[LlmSection | NullSettings, Field(discriminator="kind")] = Field(description="who redesigns")
    context: ContextSettings = Field(default_factory=ContextSettings)
    guardrails: GuardrailSettings = Field(default_factory=GuardrailSettings)


def load_recipe(name_or_path: str, overrides: Sequence[str] = ()) -> Recipe:
    """Returns a shipped recipe by name or one from a file, with dotted `key=value` overrides.

    Args:
        name_or_path: "cpu", "mine.yaml", or either with variations: "cpu:v1".
        overrides: applied in order, the last wins.

    Raises:
        RecipeError: the name is unknown, or the recipe or an override breaks the schema.
        DataFileError: the file cannot be read.
    """
    return _validated(read_recipe(name_or_path), overrides)


def parse_recipe(text: str, overrides: Sequence[str] = ()) -> Recipe:
    """Returns the recipe of a complete YAML text, such as a run directory's, with overrides.

    Raises:
        RecipeError: the text is not YAML, or breaks the schema; the message names key, value and what is known.
    """
    return _validated(read_mapping(text), overrides)


def _validated(data: dict[str, Any], overrides: Sequence[str]) -> Recipe:
    for override in overrides:
        apply_override(data, override)
    if isinstance(table := data.get("configuration"), dict):
        data["configuration"] = {str(source): knobs for source, knobs in table.items()}
    try:
        return Recipe.model_validate(data)
    except ValidationError as error:
        raise RecipeError(explain(error, Recipe, data)) from error


def resolved_text(recipe: Recipe) -> str:
    """Returns the whole recipe as YAML, defaults included; it reads back equal."""
    return yaml.safe_dump(recipe.model_dump(mode="json"), sort_keys=False, allow_unicode=True)
