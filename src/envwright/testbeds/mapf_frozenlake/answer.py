"""Reads a plan out of any text a model may write: tolerant of form, strict about content, linear in time."""

import json
import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

from envwright.testbeds.mapf_frozenlake.instance import Cell, Paths

MOVES: dict[Cell, str] = {(-1, 0): "UP", (1, 0): "DOWN", (0, -1): "LEFT", (0, 1): "RIGHT", (0, 0): "WAIT"}
LONGEST_PLAN = 10_000
"""Steps of one agent that are looked at; a longer line is no plan."""

_THINK, _THINK_END = "<think>", "</think>"
_OPEN = "<answer>"
_TAG = re.compile(r"</?answer>", re.IGNORECASE)
_AGENT_LINE = re.compile(r"^[\s>*_`#-]*agent[\s*_`#]{0,8}(\w{1,8})[\s*_`]{0,8}[:=](.*)$", re.IGNORECASE)
_CELL = re.compile(r"[(\[]\s{0,8}(-?\d{1,4})\s{0,8}[,;]\s{0,8}(-?\d{1,4})\s{0,8}[)\]]")
_WORD = re.compile(r"[^\W\d_]+")
_BETWEEN_CELLS = re.compile(r"[\s,;|>*_`.-]*(?:(?:to|then)[\s,]*)?", re.IGNORECASE)
_ARROWS = str.maketrans({"→": ">", "➔": ">", "⇒": ">", "➜": ">", "⟶": ">", "—": "-"})


@dataclass(frozen=True)
class Plan:
    """What an answer says, before anyone judges it.

    Attributes:
        form: cells (from the start on) or actions.
        steps: per agent 0..k-1, its cells or its upper-case action words; unknown words are kept.
    """

    form: Literal["cells", "actions"]
    steps: tuple[tuple[Cell | str, ...], ...]


@dataclass(frozen=True)
class Unreadable:
    """Why a text holds no plan for these agents."""

    reason: Literal["parse_error", "wrong_agent_count"]
    detail: str


Steps = tuple[Literal["cells", "actions"], tuple[Cell | str, ...]]
Block = dict[int, Steps]
"""Agent number -> its line, read."""


def format_cells(paths: Paths) -> str:
    """Returns the answer in the cell form, exactly as the prompt asks for it."""
    return _format([" -> ".join(f"({row},{column})" for row, column in path) for path in paths])


def format_actions(paths: Paths) -> str:
    """Returns the answer in the action form, exactly as the prompt asks for it."""
    return _format([", ".join(MOVES[b[0] - a[0], b[1] - a[1]] for a, b in pairwise(path)) for path in paths])


def _format(lines: list[str]) -> str:
    rows = [f"Agent {number}: {line}".rstrip() for number, line in enumerate(lines)]
    return "\n".join(("<answer>", *rows, "</answer>"))


def read_answer(text: str, agents: int, truncated: bool = False) -> Plan | Unreadable:
    """Returns the plan of the last complete block, or why there is none; never raises.

    A block is the text between answer tags, or without tags a run of agent lines or one JSON object. Text before the
    last `</think>` is thought, not answer; text after the block is ignored.

    Args:
        text: anything.
        agents: how many agents the plan must have.
        truncated: the text stops at a token limit; then only a block closed by its tag counts.
    """
    said = text.rpartition(_THINK_END)[2].partition(_THINK)[0]
    closed, unclosed = _tagged(said)
    if closed:
        return _first_readable(reversed([_blocks(part) for part in closed]), agents)
    if truncated or unclosed:
        return Unreadable("parse_error", "the answer is cut off before it ends")
    return _first_readable([_blocks(said)], agents)


def _tagged(text: str) -> tuple[list[str], bool]:
    """Returns the parts between an opening tag and the closing tag after it, and whether a last tag stays open."""
    parts: list[str] = []
    opened: int | None = None
    for tag in _TAG.finditer(text):
        if tag.group().lower() == _OPEN:
            opened = tag.end()
        elif opened is not None:
            parts.append(text[opened : tag.start()])
            opened = None
    return parts, opened is not None


def _first_readable(candidates: Any, agents: int) -> Plan | Unreadable:
    """Returns the first complete block, looking at each candidate part from its end."""
    verdict: Unreadable | None = None
    for blocks in candidates:
        for block in reversed(blocks):
            plan = _plan(block, agents)
            if isinstance(plan, Plan):
                return plan
            if verdict is None or plan.reason == "parse_error":
                verdict = plan  # a line that cannot be read explains a missing agent
    return verdict or Unreadable("parse_error", "there is no line for any agent")


def _plan(block: Block | Unreadable, agents: int) -> Plan | Unreadable:
    if isinstance(block, Unreadable):
        return block
    if set(block) != set(range(agents)):
        known = ", ".join(str(number) for number in sorted(block)[:10])
        return Unreadable("wrong_agent_count", f"the answer must have agents 0..{agents - 1}, it has {known}")
    forms = {form for form, steps in block.values() if steps}
    if len(forms) > 1:
        return Unreadable("parse_error", "all agents must use the same form, cells or actions")
    form = forms.pop() if forms else "actions"
    return Plan(form, tuple(block[number][1] for number in range(agents)))


def _blocks(text: str) -> list[Block | Unreadable]:
    """Returns the runs of agent lines in order; a number that comes again begins a new run."""
    blocks: list[Block | Unreadable] = []
    current: Block = {}
    for line in text.splitlines():
        match = _AGENT_LINE.match(line)
        if match is None:
            continue
        number, steps = match.group(1), _steps(match.group(2))
        if not number.isdecimal() or steps is None:
            blocks.append(Unreadable("parse_error", f"cannot read the line {line.strip()[:60]!r}"))
            current = {}
            continue
        if int(number) in current or not current:
            current = {}
            blocks.append(current)
        current[int(number)] = steps
    return blocks or _json_blocks(text)


def _steps(line: str) -> Steps | None:
    """Returns a line as cells, or as action words; None when it is neither."""
    line = line.translate(_ARROWS).strip().strip("*_`").strip()
    cells = [(int(row), int(column)) for row, column in _CELL.findall(line)]
    if cells:
        rest = _CELL.split(line)[::3]
        separators = all(_BETWEEN_CELLS.fullmatch(part) for part in rest if part)
        return ("cells", tuple(cells)) if separators and len(cells) <= LONGEST_PLAN else None
    if re.search(r"\d", line):
        return None
    words = tuple(word.upper() for word in _WORD.findall(line))
    return ("actions", words) if len(words) <= LONGEST_PLAN else None


def _json_blocks(text: str) -> list[Block | Unreadable]:
    """Returns the last JSON object {"0": [[r, c], ...] or ["UP", ...]}, if the text holds one."""
    first, last = text.find("{"), text.rfind("}")
    if first < 0 or last < first:
        return []
    try:
        data = json.loads(text[first : last + 1])
    except (ValueError, RecursionError):
        return []
    if not isinstance(data, dict):
        return []
    block: Block = {}
    for key, value in data.items():
        number = str(key).strip().lower().removeprefix("agent").strip(" _")
        steps = _json_steps(value)
        if not number.isdecimal() or len(number) > 4 or steps is None:
            return [Unreadable("parse_error", "a JSON answer must map agent numbers to lists of cells or actions")]
        block[int(number)] = steps
    return [block] if block else []


def _json_steps(value: Any) -> Steps | None:
    if not isinstance(value, list) or len(value) > LONGEST_PLAN:
        return None
    if all(isinstance(step, str) for step in value):
        return "actions", tuple(str(step).strip().upper() for step in value)
    cells: list[Cell] = []
    for step in value:
        if not isinstance(step, list) or len(step) != 2 or not all(type(part) is int for part in step):
            return None
        if any(abs(part) > 9_999 for part in step):
            return None
        cells.append((step[0], step[1]))
    return "cells", tuple(cells)
