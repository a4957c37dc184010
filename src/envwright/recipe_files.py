"""Recipe files before they are checked: shipped or given, small ones over a main one, and dotted overrides.

A file that says `extends: <recipe>` holds only what differs. A variation is such a file without a base of its own:
"cpu:v1" is the recipe cpu with recipes/ablation/v1.yaml over it, and is called cpu-v1.
"""

import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from envwright.errors import DataFileError, RecipeError

EXTENDS = "extends"
FILE_ENDINGS = (".yaml", ".yml")

Mapping = dict[str, Any]
"""A recipe as YAML gives it, not checked yet."""


def shipped_recipes() -> dict[str, str]:
    """Returns name -> text of the recipes inside the package."""
    return _texts("recipes")


def shipped_variations() -> dict[str, str]:
    """Returns name -> text of the small files that may be laid over any recipe."""
    return _texts("recipes", "ablation")


def read_recipe(name_or_path: str) -> Mapping:
    """Returns the values of a recipe with all that it extends; nothing is checked against the schema yet.

    Args:
        name_or_path: a shipped name or a YAML file, with any number of variations after colons.

    Raises:
        RecipeError: a name is unknown, a file is no YAML mapping, or files extend each other in a circle.
        DataFileError: a file cannot be read.
    """
    return _read(name_or_path, Path(), ())


def _read(name: str, folder: Path, above: tuple[str, ...]) -> Mapping:
    base, colon, variation = name.rpartition(":")
    if colon and not name.endswith(FILE_ENDINGS):
        return _varied(_read(base, folder, above), variation)
    if name.endswith(FILE_ENDINGS):
        path = folder / name
        return _extended(_read_file(path), str(path.resolve()), path.parent, above)
    shipped = shipped_recipes()
    if name not in shipped:
        raise RecipeError(
            f"a recipe must be a .yaml file or one of {', '.join(sorted(shipped))}, got {name!r}; "
            f"variations follow a colon, as in cpu:v1: {', '.join(sorted(shipped_variations()))}"
        )
    return _extended(shipped[name], name, Path(), above)


def _extended(text: str, identity: str, folder: Path, above: tuple[str, ...]) -> Mapping:
    """Returns the values of a text, over those of the recipe it extends; `above` are the files that extend it."""
    chain = (*above, identity)
    if identity in above:
        raise RecipeError(f"recipes must not extend each other in a circle: {' -> '.join(chain)}; remove one `extends`")
    data = read_mapping(text)
    if EXTENDS not in data:
        return data
    base = data.pop(EXTENDS)
    if not isinstance(base, str):
        raise RecipeError(f"extends must be a recipe's name or a .yaml file, got {base!r} in {identity}")
    return merged(_read(base, folder, chain), data)


def _varied(base: Mapping, variation: str) -> Mapping:
    known = shipped_variations()
    if variation not in known:
        raise RecipeError(f"a variation of a recipe must be one of {', '.join(sorted(known))}, got {variation!r}")
    data = merged(base, read_mapping(known[variation]))
    return {**data, "name": f"{data['name']}-{variation}"} if "name" in data else data


def merged(base: Mapping, over: Mapping) -> Mapping:
    """Returns the base with the other's values; nested mappings merge, unless the kind of a section changes.

    A table of round 0's knobs is one value, since another one may cover fewer sources.
    """
    if _other_kind(base, over):
        return over
    result = dict(base)
    for key, value in over.items():
        below: Any = base.get(key)
        nested = isinstance(below, dict) and isinstance(value, dict) and key != "configuration"
        result[key] = merged(below, value) if nested else value
    return result


def apply_override(data: Mapping, override: str) -> None:
    """Sets one dotted `key=value` in place; a changed kind starts its section afresh.

    Raises:
        RecipeError: it is not of that form, or goes through a value.
    """
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
    if _other_kind(place, {last: new}):
        place.clear()
    place[last] = new


def read_mapping(text: str) -> Mapping:
    """Returns the mapping of a YAML text.

    Raises:
        RecipeError: the text is not YAML, or no mapping.
    """
    try:
        data = _read_yaml(text)
    except yaml.YAMLError as error:
        raise RecipeError(f"a recipe must be YAML: {error}") from error
    if not isinstance(data, dict):
        raise RecipeError(f"a recipe must be a mapping of keys to values, got {type(data).__name__}")
    return data


def _other_kind(section: Mapping, over: Mapping) -> bool:
    """Returns whether the kind of a section changes: the settings of another kind mean nothing to this one."""
    return "kind" in section and section["kind"] != over.get("kind", section["kind"])


def _texts(*folder: str) -> dict[str, str]:
    return {
        item.name.removesuffix(".yaml"): item.read_text(encoding="utf-8")
        for item in files("envwright").joinpath(*folder).iterdir()
        if item.name.endswith(".yaml")
    }


def _read_file(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataFileError(f"a recipe must be a readable YAML file, got {path}: {error}") from error


class _Yaml(yaml.SafeLoader):
    """YAML as people write numbers: 1e-6 is one, as in YAML 1.2 (PyYAML wants 1.0e-6)."""


_Yaml.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?\d+(\.\d*)?[eE][-+]?\d+\Z"), list("-+0123456789")
)


def _read_yaml(text: str) -> Any:
    return yaml.load(text, Loader=_Yaml)
