"""The teacher of the engineering dialogues: it follows the guideline by one rule, in one of two wordings."""

import random

from envwright.configuration import format_table
from envwright.engineer import Evidence, Score, Table

MASTERED, TOO_HARD = 0.65, 0.25

WORDING = {
    "mastered": (
        "valid {valid}: mastered, less of it, more holes",
        "valid {valid} is solved: fewer boards, and harder ones",
    ),
    "frontier": (
        "valid {valid}: at the frontier, more of it",
        "valid {valid} gives signal: give it more boards",
    ),
    "too hard": (
        "valid {valid}: too hard, less of it, fewer holes",
        "valid {valid} is out of reach: fewer boards, and easier ones",
    ),
}
"""The rate comes first: the miniature reads it off, then judges what it has just written."""

WEIGHTS = {"mastered": 1, "frontier": 3, "too hard": 1}
"""Shares follow the judgements: most tasks at the frontier, some everywhere."""

STEPS = {"mastered": 0.05, "frontier": 0.0, "too hard": -0.05}
"""Change of the other knobs. One that does not change is left out, as the form allows: there is nothing to copy."""


def answer(evidence: Evidence, generator: random.Random) -> str:
    """Returns an answer in the asked format; reasons come first, as a small model must decide before it edits."""
    current = evidence.current
    judgements = {source: judge(score) for source, score in current.by_source.items()}
    lines = [f'  {source}: "{reason}"' for source, reason in reasons(current.by_source, generator).items()]
    table = _edited(current.configuration, judgements)
    return "\n".join(("```yaml", "reasons:", *lines, format_table(table), "```"))


def reasons(scores: dict[str, Score], generator: random.Random) -> dict[str, str]:
    """Returns one reason per source, all in one wording drawn at random; each quotes the valid rate."""
    style = generator.randrange(2)
    return {
        source: WORDING[judge(score)][style].format(valid=f"{score.valid_rate:.2f}") for source, score in scores.items()
    }


def judge(score: Score) -> str:
    """Returns where a size stands: mastered, at the frontier, or too hard."""
    if score.valid_rate >= MASTERED:
        return "mastered"
    return "too hard" if score.valid_rate < TOO_HARD else "frontier"


def _edited(table: Table, judgements: dict[str, str]) -> Table:
    total = sum(WEIGHTS[judgement] for judgement in judgements.values())
    edited: Table = {}
    for source, judgement in judgements.items():
        edited[source] = {"data_ratio": round(WEIGHTS[judgement] / total, 2)}
        for knob, upper in (("hole_ratio", 0.5), ("wait_ratio", 1.0)):
            value = step(table[source][knob], STEPS[judgement], upper)
            if value != table[source][knob]:
                edited[source][knob] = value
    return edited


def step(value: float, change: float, upper: float) -> float:
    """Returns the changed value within 0 and the upper bound, in two digits."""
    return round(min(upper, max(0.0, value + change)), 2)
