"""What surrounds an answer in a policy's text: thinking, answer tags, JSON, bold marks, and many spellings of a sign.

Every pattern here is linear in the text: possessive quantifiers (`*+`) never give back what they took.
"""

import json
import re
from typing import Any

_THINK_TAG = re.compile(r"<(/?)think(?:ing)?>", re.IGNORECASE)
_ANSWER_TAG = re.compile(r"<(/?)answer>", re.IGNORECASE)
_FLAT_OBJECT = re.compile(r'\{\s*+"[^{}]*+\}')
_AGENT_KEY = re.compile(r"(?:agent)?[\s_#-]*+([0-9]{1,3})", re.IGNORECASE)
_PAIRS = json.JSONDecoder(object_pairs_hook=list)

_DELETED = "*`\"'{}"
_ARROWS = (
    "\N{RIGHTWARDS ARROW}\N{LONG RIGHTWARDS ARROW}\N{RIGHTWARDS DOUBLE ARROW}\N{LONG RIGHTWARDS DOUBLE ARROW}➔➜➝➞➡"
)
_SPELLING = str.maketrans(
    {
        **dict.fromkeys(_DELETED, ""),
        **dict.fromkeys(_ARROWS, ">"),
        "\N{FULLWIDTH LEFT PARENTHESIS}": "(",
        "\N{FULLWIDTH RIGHT PARENTHESIS}": ")",
        "\N{FULLWIDTH COMMA}": ",",
        "\N{FULLWIDTH COLON}": ":",
        "\N{MINUS SIGN}": "-",
        "\N{VARIATION SELECTOR-16}": "",
    }
)


def without_thinking(text: str) -> str:
    """Returns the text without what is inside think tags or before a lone closing one."""
    kept: list[str] = []
    position, inside = 0, False
    for tag in _THINK_TAG.finditer(text):
        if not inside:
            kept.append(text[position : tag.start()])
        if tag[1] and not inside:
            kept.clear()  # the chat template had opened the tag before the text began
        position, inside = tag.end(), not tag[1]
    return "\n".join(kept if inside else [*kept, text[position:]])


def answer_tags(text: str) -> tuple[list[str], bool]:
    """Returns what stands in closed answer tags, and whether any such tag is opened at all."""
    closed: list[str] = []
    start: int | None = None
    opened = False
    for tag in _ANSWER_TAG.finditer(text):
        if not tag[1]:
            start, opened = tag.end(), True
        elif start is not None:
            closed.append(text[start : tag.start()])
            start = None
    return closed, opened


def plain(text: str) -> str:
    """Returns the text with JSON objects as agent lines, without marks, in one spelling of each sign."""
    return _FLAT_OBJECT.sub(_object_as_lines, text).translate(_SPELLING).replace("__", "")


def _object_as_lines(found: re.Match[str]) -> str:
    try:
        pairs: list[tuple[str, Any]] = _PAIRS.decode(found[0])
        lines = [_pair_as_line(key, value) for key, value in pairs]
    except (ValueError, RecursionError):
        return found[0]
    return "\n".join(("", *lines, ""))


def _pair_as_line(key: str, value: Any) -> str:
    agent = _AGENT_KEY.fullmatch(key)
    if agent is None or not isinstance(value, list):
        raise ValueError("not an agent with its steps")
    return f"Agent {agent[1]}: {', '.join(map(_step_as_text, value))}"


def _step_as_text(step: Any) -> str:
    """Returns a JSON step as a line would have it; what is no step stays visible, so that no later one moves up."""
    match step:
        case [int(row), int(column)]:
            return f"({row},{column})"
        case str() if any(map(str.isalnum, step)):
            return step
        case _:
            return "?"
