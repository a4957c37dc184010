"""Foreign files as plain data: limited in size, never executed, and every complaint names its place."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from envwright.errors import DataFileError

MAX_BOARD_BYTES = 2_000_000
"""The largest file of one board or its agents; a map of 1024x1024 is read, and refused for its size in cells."""

MAX_RECORDS_BYTES = 64_000_000
"""The largest file of many boards."""

MAX_YAML_BYTES = 200_000
MAX_YAML_NODES = 50_000
MAX_YAML_DEPTH = 12

ModelT = TypeVar("ModelT", bound=BaseModel)


def read_text(path: Path, limit: int = MAX_BOARD_BYTES) -> str:
    """Returns a file's text, at most `limit` bytes of it.

    Raises:
        DataFileError: the file cannot be read, is no UTF-8, is empty or is larger.
    """
    try:
        with path.open("rb") as file:
            data = file.read(limit + 1)
    except (OSError, ValueError) as error:  # a name taken from another file may be no name at all
        raise DataFileError(f"{path} must be a readable file: {error}") from error
    if len(data) > limit:
        raise DataFileError(f"{path} must have at most {limit:,} bytes, it has more")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataFileError(f"{path} must be text in UTF-8: {error}") from error
    if not text.strip():
        raise DataFileError(f"{path} must hold a board, it is empty")
    return text


def read_yaml(path: Path) -> Any:
    """Returns mappings, lists and strings; tags such as `!!python/tuple` are passed over, aliases are refused.

    Raises:
        DataFileError: the file is no such YAML, or too large; the message names the line.
    """
    text = read_text(path, MAX_YAML_BYTES)
    try:
        _require_plain(path, text)
        return yaml.load(text, Loader=yaml.BaseLoader)  # knows no tags, so it can build nothing but plain data
    except yaml.MarkedYAMLError as error:
        raise DataFileError(f"{_place(path, error.problem_mark)}: the file must be YAML: {error.problem}") from error
    except DataFileError:
        raise
    except (yaml.YAMLError, ValueError) as error:  # characters and escapes that YAML does not have
        raise DataFileError(f"{path} must be YAML: {error}") from error


def _require_plain(path: Path, text: str) -> None:
    depth = nodes = 0
    for event in yaml.parse(text, Loader=yaml.BaseLoader):
        if isinstance(event, yaml.AliasEvent):
            raise DataFileError(f"{_place(path, event.start_mark)}: YAML aliases are not read; write it out")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        nodes += isinstance(event, yaml.NodeEvent)
        if depth > MAX_YAML_DEPTH or nodes > MAX_YAML_NODES:
            raise DataFileError(f"{_place(path, event.start_mark)}: a board is not nested so deep or so large")


def _place(path: Path, mark: Any) -> str:
    return f"{path}, line {mark.line + 1}" if mark else str(path)


def parse_json(text: str, place: Callable[[int], str]) -> Any:
    """Returns the data of a JSON text.

    Args:
        text: one JSON value.
        place: the line of a fault, from 1 within the text -> how a message names it.

    Raises:
        DataFileError: the text is no JSON.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise DataFileError(f"{place(error.lineno)}: the text must be JSON: {error.msg}") from error
    except (ValueError, RecursionError) as error:  # numbers of thousands of digits, brackets of thousands of levels
        raise DataFileError(f"{place(1)}: the text must be plain JSON: {error}") from error


def validated(model: type[ModelT], data: Any, place: str) -> ModelT:
    """Returns the data as the model.

    Raises:
        DataFileError: the data does not fit; the message names the first field that does not.
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        fault = error.errors()[0]
        name = ".".join(str(part) for part in fault["loc"])
        got = "" if fault["type"] == "missing" else f", got {repr(fault['input'])[:60]}"
        message = fault["msg"].removeprefix("Value error, ")
        raise DataFileError(f"{place}: {name + ': ' if name else ''}{message}{got}") from error
