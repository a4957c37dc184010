"""Why a recipe breaks its schema, in the recipe's own words: the key, what must hold, what was got, what is known."""

import difflib
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from pydantic import BaseModel, ValidationError


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
