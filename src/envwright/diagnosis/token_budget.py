"""A context within a budget of tokens: whole parts are left out in a declared order, nothing is cut in the middle."""

from collections.abc import Callable, Iterator
from typing import Any

from envwright.diagnosis.context import ContextSettings, render_context
from envwright.engineer import Evidence
from envwright.errors import ContextTooLongError
from envwright.testbed import Testbed

SHORTENING = (
    "the engineer's reasons, oldest round first",
    "earlier rounds, oldest first",
    "full training details, down to the bookkeeping",
    "the splits of this round by tag",
)
"""What is left out, in this order, until the context fits. Rules, failures of this round and answer form stay."""


def fit_context(
    evidence: Evidence, testbed: Testbed[Any], settings: ContextSettings, count_tokens: Callable[[str], int]
) -> str:
    """Returns the context, shortened as far as `settings.max_tokens` asks; a note in it says what was left out.

    Raises:
        ContextTooLongError: it is too long even with all of that left out; the message states the tokens needed.
    """
    text = render_context(evidence, testbed, settings)
    if settings.max_tokens is None or count_tokens(text) <= settings.max_tokens:
        return text
    whole = text
    for shorter, fewer, what in _shortenings(evidence, settings):
        text = render_context(shorter, testbed, fewer)
        if text == whole:
            continue  # the preset does not show what was left out
        text = render_context(_noted(shorter, what), testbed, fewer)
        if count_tokens(text) <= settings.max_tokens:
            return text
    raise ContextTooLongError(
        f"the context must have at most context.max_tokens = {settings.max_tokens} tokens, it still has "
        f"{count_tokens(text)} with everything left out that may be: raise the limit or choose a smaller preset"
    )


def _shortenings(evidence: Evidence, settings: ContextSettings) -> Iterator[tuple[Evidence, ContextSettings, str]]:
    """Yields shorter and shorter versions, each with a word for what all of it leaves out."""
    silent = evidence
    for index in range(len(evidence.earlier)):
        earlier = tuple(
            past.model_copy(update={"reasons": {}}) if number <= index else past
            for number, past in enumerate(evidence.earlier)
        )
        silent = evidence.model_copy(update={"earlier": earlier})
        yield silent, settings, "older reasons"
    silent = silent.model_copy(update={"current": evidence.current.model_copy(update={"reasons": {}})})
    yield silent, settings, "older reasons"
    for index in range(1, len(evidence.earlier) + 1):
        yield silent.model_copy(update={"earlier": silent.earlier[index:]}), settings, "older rounds"
    alone = silent.model_copy(update={"earlier": ()})
    brief = settings.model_copy(update={"training_details": "bookkeeping"})
    yield alone, brief, "older rounds and training details"
    unsplit = alone.model_copy(update={"current": alone.current.model_copy(update={"by_tag": {}})})
    yield unsplit, brief, "older rounds, training details and splits by tag"


def _noted(evidence: Evidence, what: str) -> Evidence:
    return evidence.model_copy(update={"notes": (*evidence.notes, f"{what} are left out to fit the token budget")})
