"""From an engineer's free text to plain configuration values: untrusted, size-limited, never loaded unsafely."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import yaml

from envwright.configuration import KnobBounds
from envwright.engineer import Table

MAX_ANSWER_CHARACTERS = 200_000
MAX_BLOCK_CHARACTERS = 20_000
MAX_NODES = 2_000
MAX_DEPTH = 6
MAX_REASON_CHARACTERS = 500
WRAPPERS = ("configuration", "config", "sizes", "sources")

_FENCE = re.compile(r"^[ \t]*```[^\n]*$", re.MULTILINE)
_ROW = re.compile(r"^[ \t]*[\"']?[\w ]{1,40}[\"']?[ \t]*:[ \t]*\{[^{}\n]*\},?[ \t]*$", re.MULTILINE)
_SOURCE_WORDS = re.compile(r"^(?:size|map)?[ _]*(\w+?)(?:x\1)?$", re.IGNORECASE)


class UnusableAnswer(ValueError):  # noqa: N818 - it names what the answer is, and its text is sent back
    """The answer gives no configuration; the message is what the engineer is told when asked again."""


def parse_proposal(text: str, previous: Table, knobs: Sequence[KnobBounds]) -> tuple[Table, dict[str, str]]:
    """Returns the full table an answer asks for, and its reasons per source; what is left out keeps its value.

    Args:
        text: anything; only the first 200,000 characters are looked at.
        previous: the configuration that the answer edits; its keys are the known sources.
        knobs: the known knobs. Values out of their bounds pass: guardrails clamp and record them.

    Raises:
        UnusableAnswer: there is no block with a usable table.
    """
    problems: list[str] = []
    for block in _blocks(text[:MAX_ANSWER_CHARACTERS]):
        try:
            return _read(_load(block), previous, {knob.name for knob in knobs})
        except UnusableAnswer as problem:
            problems.append(str(problem))
    raise UnusableAnswer(problems[0] if problems else "the answer must hold one fenced yaml block, there is none")


def _blocks(text: str) -> Iterator[str]:
    """Yields the candidates, best first: fenced blocks from the last on, then bare rows."""
    fences = list(_FENCE.finditer(text))
    inside = [text[a.end() : b.start()] for a, b in zip(fences[::2], fences[1::2], strict=False)]
    if len(fences) % 2:
        inside.append(text[fences[-1].end() :])  # a last fence that is never closed
    yield from reversed([block for block in inside if block.strip()])
    rows = _ROW.findall(text)
    if not inside and rows:
        yield "\n".join(row.strip().rstrip(",") for row in rows)


def _load(block: str) -> Any:
    if len(block) > MAX_BLOCK_CHARACTERS:
        raise UnusableAnswer(f"the block must have at most {MAX_BLOCK_CHARACTERS} characters, it has {len(block)}")
    try:
        _check_events(block)
        return yaml.load(block, Loader=_UniqueKeyLoader)  # noqa: S506 - a SafeLoader
    except yaml.YAMLError as error:
        raise UnusableAnswer(f"the block must be YAML: {_one_line(error)}") from error
    except (ValueError, RecursionError, OverflowError) as error:
        raise UnusableAnswer(f"the block must be plain YAML values: {_one_line(error)}") from error


def _check_events(block: str) -> None:
    """Refuses aliases, deep nesting and floods of nodes before anything is built from them."""
    depth = 0
    for count, event in enumerate(yaml.parse(block, Loader=yaml.SafeLoader)):
        if isinstance(event, yaml.AliasEvent):
            raise UnusableAnswer("the block must not use YAML aliases")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH or count > MAX_NODES:
            raise UnusableAnswer("the block must be one flat table of knobs per source")


class _UniqueKeyLoader(yaml.SafeLoader):
    """SafeLoader that refuses a key given twice."""


def _construct_mapping(loader: yaml.SafeLoader, node: yaml.MappingNode) -> dict[Any, Any]:
    pairs = [(loader.construct_object(k, deep=True), loader.construct_object(v, deep=True)) for k, v in node.value]
    keys = [str(key) for key, _ in pairs]
    twice = sorted({key for key in keys if keys.count(key) > 1})
    if twice:
        raise UnusableAnswer(f"each key may stand once, got twice: {', '.join(twice)}")
    return {key: value for key, value in pairs if not isinstance(key, (dict, list))}


_UniqueKeyLoader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _construct_mapping)


def _read(data: Any, previous: Table, knobs: set[str]) -> tuple[Table, dict[str, str]]:
    if not isinstance(data, Mapping):
        raise UnusableAnswer("the block must map each source to its knobs")
    rows: dict[str, Any] = {str(key): value for key, value in data.items()}
    reasons = _reasons(rows.pop("reasons", None), previous)
    for wrapper in WRAPPERS:
        if isinstance(inner := rows.get(wrapper), Mapping):
            rows = {str(key): value for key, value in inner.items()}
            reasons = reasons or _reasons(rows.pop("reasons", None), previous)
    if not rows:
        raise UnusableAnswer("the block must hold at least one row of knobs")
    table = {source: dict(values) for source, values in previous.items()}
    for name, row in rows.items():
        table[_source(name, previous)].update(_row(name, row, knobs))
    if not any(values["data_ratio"] > 0 for values in table.values()):
        raise UnusableAnswer("at least one data_ratio must be above 0")
    return table, reasons


def _source(name: str, previous: Table) -> str:
    match = _SOURCE_WORDS.match(name.strip())
    source = match.group(1) if match and match.group(1) in previous else name.strip()
    if source not in previous:
        raise UnusableAnswer(f"unknown row {name[:40]!r}; the known rows are {', '.join(previous)}")
    return source


def _row(name: str, row: Any, knobs: set[str]) -> dict[str, float]:
    if not isinstance(row, Mapping):
        raise UnusableAnswer(f"row {name[:40]!r} must map knobs to numbers")
    values: dict[str, float] = {}
    for knob, value in row.items():
        if knob not in knobs:
            raise UnusableAnswer(f"unknown knob {str(knob)[:40]!r} in row {name[:40]!r}; known: {', '.join(sorted(knobs))}")
        values[str(knob)] = _number(value, f"{name[:40]}.{knob}")
    return values


def _number(value: Any, place: str) -> float:
    """Returns a finite number; "30%" and "0,3" are understood."""
    number = math.nan
    try:
        if isinstance(value, str):
            text = value.strip().replace(",", ".")
            number = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            number = float(value)
    except (ValueError, OverflowError):
        pass
    if not math.isfinite(number):
        raise UnusableAnswer(f"{place} must be a finite number, got {_one_line(value)}")
    return number


def _reasons(value: Any, previous: Table) -> dict[str, str]:
    if not isinstance(value, Mapping):
        return {}
    texts = {str(key): " ".join(str(text).split())[:MAX_REASON_CHARACTERS] for key, text in value.items()}
    return {source: texts[source] for source in previous if source in texts}


def _one_line(value: object) -> str:
    try:
        return " ".join(str(value).split())[:200]
    except ValueError:  # an integer with more digits than Python prints
        return "a number far too long"
