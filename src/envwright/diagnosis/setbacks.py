"""Rounds that did worse than an earlier one, as a whole or on one source, by more than chance explains."""

from collections.abc import Mapping, Sequence

from envwright.engineer import Record
from envwright.evaluation.metrics import paired_difference
from envwright.rollout import Rollout

EVERYTHING = "all"


class Setback(Record):
    """A valid rate below an earlier round's on the same tasks; the paired 95% interval of the difference is below 0."""

    scope: str
    """A source, or `EVERYTHING`."""
    round_index: int
    rate: float
    best_round: int
    best_rate: float
    difference: float
    low: float
    high: float


def setback_note(setback: Setback, source_word: str) -> str:
    """Returns what an engineer and the event log are told: the setback and what a guardrail did about it."""
    if setback.scope == EVERYTHING:
        what, action = f"round {setback.round_index}", f"training goes on from round {setback.best_round}"
    else:
        what, action = f"{source_word} {setback.scope}", "its data_ratio is kept up"
    return (
        f"{what} fell to valid {setback.rate:.2f} from {setback.best_rate:.2f} in round {setback.best_round}; {action}"
    )


def best_round(rounds: Mapping[int, Sequence[Rollout]]) -> int:
    """Returns the round with the most valid answers, the earliest of equal ones."""
    return max(sorted(rounds), key=lambda index: _valid(rounds[index]))


def find_setback(scope: str, rounds: Mapping[int, Sequence[Rollout]]) -> Setback | None:
    """Returns how the last round fell below the best one, or None if it did not by more than its interval.

    Args:
        scope: what the rollouts cover, `EVERYTHING` or a source.
        rounds: round index -> rollouts on the same tasks in the same order.
    """
    last, best = max(rounds), best_round(rounds)
    if last == best or not rounds[last]:
        return None
    before, after = ([rollout.verdict.valid for rollout in rounds[index]] for index in (best, last))
    difference, low, high = paired_difference(before, after)
    if high >= 0:
        return None
    return Setback(
        scope=scope,
        round_index=last,
        rate=_valid(rounds[last]) / len(after),
        best_round=best,
        best_rate=_valid(rounds[best]) / len(before),
        difference=difference,
        low=low,
        high=high,
    )


def find_forgotten(sources: Sequence[str], rounds: Mapping[int, Sequence[Rollout]]) -> list[Setback]:
    """Returns the sources on which the last round fell below their own best one."""
    found: list[Setback] = []
    for source in sources:
        parts = {index: [r for r in rollouts if r.task.source == source] for index, rollouts in rounds.items()}
        if setback := find_setback(source, parts):
            found.append(setback)
    return found


def _valid(rollouts: Sequence[Rollout]) -> int:
    return sum(rollout.verdict.valid for rollout in rollouts)
