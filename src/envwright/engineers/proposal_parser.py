"""From an engineer's free text to plain configuration values: untrusted, bounded in time and size, never executed."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from typing import Any

import yaml

from envwright.configuration import KnobBounds
from envwright.engineer import Table
from envwright.policy import writable

MAX_ANSWER_CHARACTERS = 200_000
MAX_BLOCKS = 20
MAX_BLOCK_CHARACTERS = 20_000
MAX_NODES = 2_000
MAX_DEPTH = 6
MAX_REASON_CHARACTERS = 500
REASONS = "reasons"
WRAPPERS = ("configuration", "config", "sizes", "sources")
NO_BLOCK = "the answer must hold one fenced yaml block, there is none"
THINK_BEGIN, THINK_END = "<think>", "</think>"

_FENCE = re.compile(r"^[ \t]*```[ \t]*(?P<language>\w*)[^\n]*$", re.MULTILINE)
_ROW = re.compile(r"[\"']?[\w ]{1,40}[\"']?[ \t]*:[ \t]*\{[^{}]*\},?")
_SIZE = re.compile(r"(?:size|map)?[ _]*(\d+)(?: ?[x\u00d7] ?\1)?", re.IGNORECASE)
_NUMBER = re.compile(r"([-+]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:e[-+]?\d+)?)\s*(%?)", re.IGNORECASE | re.ASCII)
_DECIMAL_COMMA = re.compile(r"(:[ \t]*[-+]?\d+),(\d+%?(?=[ \t]*(?:[,}\r\n]|\Z)))")


class UnusableAnswer(ValueError):
    """The answer gives no configuration; the message is what the engineer is told when asked again."""


def parse_proposal(text: str, previous: Table, knobs: Sequence[KnobBounds]) -> tuple[Table, dict[str, str]]:
    """Returns the full table an answer asks for, and its reasons per source; what is left out keeps its value.

    The last fenced block that holds a table decides; an answer without one is read as a whole (it may be JSON), then
    for bare rows. What stands before the end of the model's thinking is no part of the answer.

    Args:
        text: anything; only the last 200,000 characters are looked at.
        previous: the configuration that the answer edits; its keys are the known sources.
        knobs: the known knobs. Values out of their bounds pass: guardrails clamp and record them.

    Raises:
        UnusableAnswer: there is no table, or it cannot be understood as a whole.
    """
    answer = _after_thinking(text)[-MAX_ANSWER_CHARACTERS:]
    return _read(_find_table(answer), previous, [knob.name for knob in knobs])


def _after_thinking(text: str) -> str:
    """Returns what follows the last </think>; templates that open the thinking leave only its end in the text."""
    answer = text.rpartition(THINK_END)[2]
    if THINK_BEGIN in answer:
        raise UnusableAnswer(f"the answer must come after the thinking, which has no end: {THINK_END} is missing")
    return answer


def _find_table(text: str) -> dict[str, Any]:
    problems: list[str] = []
    for block in reversed(_fenced_blocks(text)[-MAX_BLOCKS:]):
        try:
            return _load_table(block)
        except UnusableAnswer as problem:
            problems.append(str(problem))
    if problems:
        raise UnusableAnswer(problems[0])
    for block in (text, _bare_rows(text)):
        with suppress(UnusableAnswer):
            return _load_table(block)
    raise UnusableAnswer(NO_BLOCK)


def _fenced_blocks(text: str) -> list[str]:
    """Returns the blocks that hold anything, in order; a fence with a language always opens one."""
    blocks: list[str] = []
    start: int | None = None
    for fence in _FENCE.finditer(text):
        if start is not None:
            blocks.append(text[start : fence.start()])
        start = fence.end() if start is None or fence["language"] else None
    if start is not None:
        blocks.append(text[start:])
    return [block for block in blocks if block.strip()]


def _bare_rows(text: str) -> str:
    """Returns the last run of lines that look like rows of a table."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    runs = [list(run) for is_row, run in groupby(lines, lambda line: bool(_ROW.fullmatch(line))) if is_row]
    return "\n".join(line.rstrip(",") for line in runs[-1]) if runs else ""


def _load_table(block: str) -> dict[str, Any]:
    data = _unwrap(_load(block))
    if not isinstance(data, dict) or not any(isinstance(row, dict) for key, row in data.items() if key != REASONS):
        raise UnusableAnswer("the block must map each row's name to its knobs")
    return data


def _unwrap(data: Any) -> Any:
    """Returns what stands under a key like `configuration`, with the reasons beside it."""
    if isinstance(data, dict):
        for key, inner in data.items():
            if key.lower() in WRAPPERS and isinstance(inner, dict):
                return _unwrap({REASONS: data.get(REASONS), **inner})
    return data


def _load(block: str) -> Any:
    if len(block) > MAX_BLOCK_CHARACTERS:
        raise UnusableAnswer(f"the block must have at most {MAX_BLOCK_CHARACTERS} characters, it has {len(block)}")
    plain = _DECIMAL_COMMA.sub(r"\1.\2", block.replace("\t", "  "))
    try:
        return yaml.load(plain, Loader=_PlainLoader)
    except yaml.MarkedYAMLError as error:
        line = f" in its line {error.problem_mark.line}" if error.problem_mark else ""
        raise UnusableAnswer(f"the block must be YAML: {error.problem}{line}") from error
    except UnusableAnswer:
        raise
    except (yaml.YAMLError, ValueError, OverflowError) as error:  # characters and escapes that YAML does not have
        raise UnusableAnswer("the block must be YAML: it holds a character that is not allowed") from error


class _PlainLoader(yaml.BaseLoader):
    """Reads mappings, lists and texts only; refuses anchors, repeated keys, deep nesting and floods of nodes."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._nodes = 0
        self._depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        if self.peek_event().anchor is not None:
            raise UnusableAnswer("the block must not use YAML anchors or aliases")
        self._nodes += 1
        self._depth += 1
        if self._nodes > MAX_NODES or self._depth > MAX_DEPTH:
            raise UnusableAnswer("the block must be one flat table of knobs per row")
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = Counter(str(key.value) for key, _ in node.value if isinstance(key, yaml.ScalarNode))
        twice = [_shown(key) for key, count in keys.items() if count > 1]
        if twice:
            raise UnusableAnswer(f"each key may stand once, got twice: {', '.join(twice[:5])}")
        return super().construct_mapping(node, deep=True)


def _read(rows: dict[str, Any], previous: Table, knobs: Sequence[str]) -> tuple[Table, dict[str, str]]:
    table = {source: dict(values) for source, values in previous.items()}
    read: set[str] = set()
    for name, row in rows.items():
        if name == REASONS:
            continue
        source = _source(name, previous)
        if source is None:
            raise UnusableAnswer(f"unknown row {_shown(name)}; the known rows are {', '.join(previous)}")
        if source in read:
            raise UnusableAnswer(f"each row may stand once, got twice: {source}")
        read.add(source)
        table[source].update(_row(source, row, knobs))
    if not any(values["data_ratio"] > 0 for values in table.values()):
        raise UnusableAnswer("at least one data_ratio must be above 0")
    return table, _reasons(rows.get(REASONS), previous)


def _source(name: str, previous: Table) -> str | None:
    """Returns the known source that a row's name means: "5", "size 5" and "5x5" are one."""
    if name in previous:
        return name
    match = _SIZE.fullmatch(name.strip())
    return match[1] if match and match[1] in previous else None


def _row(source: str, row: Any, knobs: Sequence[str]) -> dict[str, float]:
    if not isinstance(row, Mapping):
        raise UnusableAnswer(f"row {source} must map knobs to numbers, got {_shown(row)}")
    unknown = [_shown(knob) for knob in row if knob not in knobs]
    if unknown:
        raise UnusableAnswer(f"unknown knob {unknown[0]} in row {source}; the known knobs are {', '.join(knobs)}")
    return {str(knob): _number(value, f"{knob} of row {source}") for knob, value in row.items()}


def _number(value: Any, place: str) -> float:
    """Returns a finite number; "30%" and "0,3" are understood."""
    match = _NUMBER.fullmatch(value.strip()) if isinstance(value, str) else None
    number = float(match[1].replace(",", ".")) / (100 if match[2] else 1) if match else math.nan
    if not math.isfinite(number):
        raise UnusableAnswer(f"{place} must be a finite number, got {_shown(value)}")
    return number


def _reasons(value: Any, previous: Table) -> dict[str, str]:
    """Returns one line per known source; anything else is let go, because no number depends on it."""
    if not isinstance(value, Mapping):
        return {}
    texts = {_source(str(name), previous): " ".join(writable(str(text)).split()) for name, text in value.items()}
    return {source: texts[source][:MAX_REASON_CHARACTERS] for source in previous if texts.get(source)}


def _shown(value: object) -> str:
    """Returns the start of a value, quoted and printable."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."
