"""The engineer's context: evidence rendered as short text, in modules that presets combine (paper, ablation V1..V6)."""

from collections.abc import Callable, Iterable
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from envwright.configuration import format_table, knob_bounds
from envwright.engineer import Evidence, RoundEvidence, Score
from envwright.errors import RecipeError
from envwright.testbed import Testbed

PRESETS: dict[str, tuple[str, ...]] = {
    "V1": ("F",),
    "V2": ("F", "G"),
    "V3": ("F", "G", "H0"),
    "V4": ("F", "G", "H"),
    "V5": ("F", "G", "H", "S"),
    "V6": ("F", "G", "H", "T"),
}
"""F failures, G guideline, H history (H0: with the round-0 default), S own earlier reasons, T training.

"Without the default" is read as: the failures of round 0 stay, its configuration goes. To drop the round altogether
would make V4 and V2 one in a run of three rounds, and the paper's differ there.
"""


class ContextSettings(BaseModel):
    """What an engineer reads: a preset's name or the modules themselves, and how much T tells.

    Raises:
        pydantic.ValidationError: a preset or module is unknown; the message lists the known ones.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    modules: str | tuple[str, ...] = "V6"
    training_details: Literal["bookkeeping", "full"] = "bookkeeping"
    max_tokens: int | None = Field(default=None, ge=1, description="token budget of the whole context; null: none")

    @field_validator("modules")
    @classmethod
    def _are_known(cls, modules: str | tuple[str, ...]) -> str | tuple[str, ...]:
        resolve_modules(modules)
        return modules


def resolve_modules(modules: str | tuple[str, ...]) -> tuple[str, ...]:
    """Returns the modules of a preset's name, or the given modules when all are known.

    Raises:
        RecipeError: a preset or module is unknown; the message lists the known ones.
    """
    if isinstance(modules, str):
        if modules not in PRESETS:
            raise RecipeError(f"a context preset must be one of {', '.join(PRESETS)}; got {modules!r}")
        return PRESETS[modules]
    unknown = [module for module in modules if module not in MODULES]
    if unknown:
        raise RecipeError(f"context modules must be among {', '.join(MODULES)}; got {', '.join(unknown)}")
    return modules


def render_context(evidence: Evidence, testbed: Testbed[Any], settings: ContextSettings) -> str:
    """Returns the whole text an engineer answers."""
    return "\n\n".join(text for text in context_sections(evidence, testbed, settings).values() if text) + "\n"


def context_sections(evidence: Evidence, testbed: Testbed[Any], settings: ContextSettings) -> dict[str, str]:
    """Returns the sections in reading order: constant text, earlier rounds, the current round, the answer's form."""
    wanted = {*_FRAME, *resolve_modules(settings.modules)}
    return {name: render(evidence, testbed, settings) for name, render in _SECTIONS.items() if name in wanted}


def retry_message(error: str) -> str:
    """Returns what an engineer is told when its answer was unusable: the validator's message, on one line."""
    return _template("retry").substitute(error=" ".join(error.split()))


def _role(evidence: Evidence, testbed: Testbed[Any], settings: ContextSettings) -> str:
    return _template("role").substitute(subject=testbed.subject)


def _knobs(evidence: Evidence, testbed: Testbed[Any], settings: ContextSettings) -> str:
    rows = (f"{k.name} ({k.lower:.2f} to {k.upper:.2f}): {k.description}" for k in knob_bounds(testbed.knobs_type))
    return _lines(f"## Knobs of each {testbed.source_word}", rows)


def _guideline(evidence: Evidence, testbed: Testbed[Any], settings: ContextSettings) -> str:
    return _template("guideline").template


def _training(evidence: Evidence, testbed: Testbed[Any], settings: ContextSettings) -> str:
    book = evidence.bookkeeping
    rows: dict[str, object] = {
        "round": book.round_index,
        "rounds": book.rounds,
        "epochs": f"{book.epochs:g}",
        "samples per round": book.samples_per_round,
    }
    if settings.training_details == "full":
        rows |= book.details
    return _lines("## Training", (f"{label}: {value}" for label, value in rows.items()))


def _history(evidence: Evidence, testbed: Testbed[Any], settings: ContextSettings) -> str:
    return _rounds(evidence.earlier, testbed, first_configuration=1)


def _history_with_default(evidence: Evidence, testbed: Testbed[Any], settings: ContextSettings) -> str:
    return _rounds(evidence.earlier, testbed, first_configuration=0)


def _rounds(rounds: Iterable[RoundEvidence], testbed: Testbed[Any], first_configuration: int) -> str:
    rows: list[str] = []
    for past in rounds:
        rows.append(f"round: {past.round_index}")
        if past.round_index >= first_configuration:
            rows.append(format_table(past.configuration))
        rows += _failure_rows(past, testbed)
    return _lines("## Earlier rounds", rows or ["none"])


def _reasons(evidence: Evidence, testbed: Testbed[Any], settings: ContextSettings) -> str:
    rows: list[str] = []
    for past in (*evidence.earlier, evidence.current):
        if past.reasons:
            rows.append(f"round: {past.round_index}")
            rows += [f"{testbed.source_word} {source}: {reason}" for source, reason in past.reasons.items()]
    return _lines("## Your earlier reasons", rows or ["none"])


def _notes(evidence: Evidence, testbed: Testbed[Any], settings: ContextSettings) -> str:
    return _lines("## Notes", (f"- {note}" for note in evidence.notes)) if evidence.notes else ""


def _configuration(evidence: Evidence, testbed: Testbed[Any], settings: ContextSettings) -> str:
    return _lines("## Configuration of this round", [format_table(evidence.current.configuration)])


def _failures(evidence: Evidence, testbed: Testbed[Any], settings: ContextSettings) -> str:
    current = evidence.current
    return _lines(_template("failures").template, [*_failure_rows(current, testbed), *_split_rows(current, testbed)])


def _failure_rows(past: RoundEvidence, testbed: Testbed[Any]) -> list[str]:
    rows = [f"{testbed.source_word} {source}: {_score(score, testbed)}" for source, score in past.by_source.items()]
    return [*rows, f"all: {_score(past.overall, testbed)}"]


def _score(score: Score, testbed: Testbed[Any]) -> str:
    parts = [f"tasks {score.rollouts}", f"valid {score.valid_rate:.2f}", f"optimal {score.optimal_rate:.2f}"]
    parts += [f"{kind} {score.failures.get(kind, 0)}" for kind in testbed.failure_kinds]
    if score.groups:
        parts.append(f"no_signal {score.no_signal_rate:.2f}")
    return ", ".join(parts)


def _split_rows(current: RoundEvidence, testbed: Testbed[Any]) -> list[str]:
    """One line per source and two-valued tag; finer splits stay in the data."""
    rows: list[str] = []
    for tag, scores in current.by_tag.items():
        for source in current.by_source:
            with_tag, without = scores.get(f"{source}/True"), scores.get(f"{source}/False")
            if with_tag and without:
                rates = f"{tag} {with_tag.valid_rate:.2f}, no {tag} {without.valid_rate:.2f}"
                rows.append(f"{testbed.source_word} {source} valid: {rates}")
    return rows


def _answer(evidence: Evidence, testbed: Testbed[Any], settings: ContextSettings) -> str:
    source = testbed.source_word.upper()
    knobs = ", ".join(f"{knob.name}: {knob.name.upper()}" for knob in knob_bounds(testbed.knobs_type))
    row = f"{source}: {{{knobs}}}"
    return _template("answer").substitute(source_word=testbed.source_word, source=source, row=row)


def _lines(heading: str, rows: Iterable[str]) -> str:
    return "\n".join((heading, *rows))


@cache
def _template(name: str) -> Template:
    text = files("envwright.diagnosis").joinpath("prompts", f"{name}.txt").read_text(encoding="utf-8")
    return Template(text.rstrip("\n"))


_Section = Callable[[Evidence, Testbed[Any], ContextSettings], str]

_SECTIONS: dict[str, _Section] = {
    "role": _role,
    "knobs": _knobs,
    "G": _guideline,
    "T": _training,
    "H0": _history_with_default,
    "H": _history,
    "S": _reasons,
    "notes": _notes,
    "configuration": _configuration,
    "F": _failures,
    "answer": _answer,
}

_FRAME = ("role", "knobs", "notes", "configuration", "answer")
"""The sections every context has; notes are empty unless a guardrail acted."""

MODULES: tuple[str, ...] = tuple(name for name in _SECTIONS if name not in _FRAME)
"""The modules a preset may name."""
