"""The JSON schema of an engineer's answer, for servers that hold a model to one."""

from collections.abc import Sequence
from typing import Any

from envwright.configuration import KnobBounds
from envwright.engineers.proposal_parser import REASONS


def answer_schema(sources: Sequence[str], knobs: Sequence[KnobBounds]) -> dict[str, Any]:
    """Returns the schema of a whole table with a reason per source, the reasons first.

    Every key is required and no other allowed, which servers with a strict mode ask for.
    """
    row = _closed({knob.name: _number(knob) for knob in knobs})
    reasons = _closed({source: {"type": "string"} for source in sources})
    return _closed({REASONS: reasons, **dict.fromkeys(sources, row)})


def _number(knob: KnobBounds) -> dict[str, Any]:
    return {"type": "number", "minimum": knob.lower, "maximum": knob.upper, "description": knob.description}


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
