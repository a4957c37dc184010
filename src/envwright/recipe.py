"""The recipe: one YAML file with `key=value` overrides, closed at every level, cheap to read."""

import difflib
import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import yaml
from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, ValidationError

from envwright.diagnosis.context import ContextSettings
from envwright.engineers import EngineerSettings
from envwright.engineers.guardrails import GuardrailSettings
from envwright.errors import DataFileError, RecipeError
from envwright.policies.transformers_policy import ModelSettings
from envwright.policy import Sampling
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
    engineer: EngineerSettings = Field(description="who redesigns")
    context: ContextSettings = Field(default_factory=ContextSettings)
    guardrails: GuardrailSettings = Field(default_factory=GuardrailSettings)


def shipped_recipes() -> dict[str, str]:
    """Returns name -> text of the recipes inside the package."""
    folder = files("envwright").joinpath("recipes")
    return {
        item.name.removesuffix(".yaml"): item.read_text(encoding="utf-8")
        for item in folder.iterdir()
        if item.name.endswith(".yaml")
    }


def load_recipe(name_or_path: str, overrides: Sequence[str] = ()) -> Recipe:
    """Returns a shipped recipe by name or one from a file, with dotted `key=value` overrides.

    Raises:
        RecipeError: the name is unknown, or the recipe or an override breaks the schema.
        DataFileError: the file cannot be read.
    """
    shipped = shipped_recipes()
    if name_or_path in shipped:
        text = shipped[name_or_path]
    elif name_or_path.endswith((".yaml", ".yml")):
        try:
            text = Path(name_or_path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise DataFileError(f"a recipe must be a readable YAML file, got {name_or_path}: {error}") from error
    else:
        raise RecipeError(f"a recipe must be a .yaml file or one of {', '.join(sorted(shipped))}, got {name_or_path!r}")
    return parse_recipe(text, overrides)


def parse_recipe(text: str, overrides: Sequence[str] = ()) -> Recipe:
    """Returns the recipe of a YAML text with overrides.

    Raises:
        RecipeError: the text is not YAML, or breaks the schema; the message names key, value and what is known.
    """
    try:
        data = _read_yaml(text)
    except yaml.YAMLError as error:
        raise RecipeError(f"a recipe must be YAML: {error}") from error
    if not isinstance(data, dict):
        raise RecipeError(f"a recipe must be a mapping of keys to values, got {type(data).__name__}")
    for override in overrides:
        _apply(data, override)
    if isinstance(table := data.get("configuration"), dict):
        data["configuration"] = {str(source): knobs for source, knobs in table.items()}
    try:
        return Recipe.model_validate(data)
    except ValidationError as error:
        raise RecipeError(explain(error, Recipe, data)) from error


def resolved_text(recipe: Recipe) -> str:
    """Returns the whole recipe as YAML, defaults included; it reads back equal."""
    return yaml.safe_dump(recipe.model_dump(mode="json"), sort_keys=False, allow_unicode=True)


def _apply(data: dict[str, Any], override: str) -> None:
    path, found, value = override.partition("=")
    if not found or not path:
        raise RecipeError(f"an override must be key=value, e.g. trainer.epochs=1, got {override!r}")
    *parents, last = path.split(".")
    place: Any = data
    for parent in parents:
        place = place.setdefault(parent, {})
        if not isinstance(place, dict):
            raise RecipeError(f"the override {override!r} must go through sections, but {parent!r} is a value")
    try:
        new = _read_yaml(value)
    except yaml.YAMLError as error:
        raise RecipeError(f"the value of the override {override!r} must be YAML: {error}") from error
    if last == "kind" and place.get("kind", new) != new:
        place.clear()  # the settings of another kind mean nothing to this one
    place[last] = new


class _Yaml(yaml.SafeLoader):
    """YAML as people write numbers: 1e-6 is one, as in YAML 1.2 (PyYAML wants 1.0e-6)."""


_Yaml.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?\d+(\.\d*)?[eE][-+]?\d+\Z"), list("-+0123456789")
)


def _read_yaml(text: str) -> Any:
    return yaml.load(text, Loader=_Yaml)


def explain(error: ValidationError, schema: type[BaseModel], data: Any) -> str:
    """Returns one line per fault: the key, what must hold, what was got; unknown keys get the known ones."""
    return "\n".join(_explain_one(dict(fault), schema, data) for fault in error.errors())


def _explain_one(fault: Mapping[str, Any], schema: type[BaseModel], data: Any) -> str:
    location = [str(part) for part in fault["loc"]]
    key = ".".join(_keys(location, data))
    if fault["type"] == "extra_forbidden":
        known = _known_keys(schema, location[:-1])
        nearest = difflib.get_close_matches(location[-1], known, n=1)
        hint = f" (did you mean {nearest[0]!r}?)" if nearest else ""
        return f"unknown key {key!r}{hint}; known keys there: {', '.join(known)}"
    if fault["type"] == "union_tag_invalid":
        return f"{key}.kind: must be one of {fault['ctx']['expected_tags']}, got {fault['ctx']['tag']!r}"
    if fault["type"] == "union_tag_not_found":
        kinds = [kind for model in _models_at(schema, location) for kind in _kinds(model)]
        return f"{key}.kind: must be given, one of {', '.join(kinds)}"
    message = fault["msg"].removeprefix("Value error, ")
    got = fault.get("input")
    if isinstance(got, dict | list):
        return f"{key}: {message}" if key else message
    return f"{key}: {message}, got {got!r}"


def _keys(location: Sequence[str], data: Any) -> list[str]:
    """Returns the keys of a fault's location as the recipe has them: pydantic adds the branches of unions."""
    keys: list[str] = []
    for part in location:
        if isinstance(data, list) and part.isdigit():
            data = data[int(part)]
        elif isinstance(data, dict) and (part in data or part == location[-1]):
            data = data.get(part)
        else:
            continue
        keys.append(part)
    return keys


def _known_keys(schema: type[BaseModel], path: Sequence[str]) -> list[str]:
    return sorted({key for model in _models_at(schema, path) for key in model.model_fields})


def _models_at(schema: type[BaseModel], path: Sequence[str]) -> list[type[BaseModel]]:
    models = [schema]
    for name in path:
        fields = [model.model_fields[name] for model in models if name in model.model_fields]
        models = (
            [kind for field in fields for kind in _models_in(field.annotation)]
            or [model for model in models if name in _kinds(model)]
            or models
        )
    return models


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in _models_in(part)]


def _kinds(model: type[BaseModel]) -> tuple[Any, ...]:
    field = model.model_fields.get("kind")
    return get_args(field.annotation) if field else ()
