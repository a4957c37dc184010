"""Rounds that did worse than an earlier one, as a whole or on one source, and whether chance explains it."""

from collections.abc import Mapping, Sequence

from envwright.engineer import Record
from envwright.evaluation.metrics import paired_difference
from envwright.rollout import Rollout

EVERYTHING = "all"


class Setback(Record):
    """A valid rate below an earlier round's on the same tasks, with the paired 95% interval of the difference."""

    scope: str
    """A source, or `EVERYTHING`."""
    round_index: int
    rate: float
    best_round: int
    best_rate: float
    difference: float
    low: float
    high: float

    @property
    def beyond_chance(self) -> bool:
        """Whether the whole interval lies below 0."""
        return self.high < 0


def setback_note(setback: Setback, source_word: str) -> str:
    """Returns what an engineer and the event log are told: the setback and what a guardrail did about it."""
    if setback.scope == EVERYTHING:
        what, action = f"round {setback.round_index}", f"training goes on from round {setback.best_round}"
    else:
        what, action = f"{source_word} {setback.scope}", "its data_ratio is kept up"
    return (
        f"{what} fell to valid {setback.rate:.2f} from {setback.best_rate:.2f} in round {setback.best_round}; {action}"
    )


def compare_with_best(scope: str, rounds: Mapping[int, Sequence[Rollout]]) -> Setback | None:
    """Returns how far the last round is below the best one; None if it is the best, the later one of equal ones.

    Args:
        scope: what the rollouts cover, `EVERYTHING` or a source.
        rounds: round index -> rollouts on the same tasks in the same order.
    """
    valid = {index: [rollout.verdict.valid for rollout in rollouts] for index, rollouts in rounds.items()}
    last, best = max(rounds), max(rounds, key=lambda index: (sum(valid[index]), index))
    if last == best:
        return None
    difference, low, high = paired_difference(valid[best], valid[last])
    rates = {index: sum(valid[index]) / len(valid[index]) for index in (last, best)}
    return Setback(
        scope=scope,
        round_index=last,
        rate=rates[last],
        best_round=best,
        best_rate=rates[best],
        difference=difference,
        low=low,
        high=high,
    )


def find_forgotten(sources: Sequence[str], rounds: Mapping[int, Sequence[Rollout]]) -> list[Setback]:
    """Returns the sources on which the last round fell below their own best one by more than chance explains."""
    found: list[Setback] = []
    for source in sources:
        parts = {index: [r for r in rollouts if r.task.source == source] for index, rollouts in rounds.items()}
        setback = compare_with_best(source, parts)
        if setback and setback.beyond_chance:
            found.append(setback)
    return found
