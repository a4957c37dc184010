"""Which checkpoint training goes on from: the last one, or an earlier one that was better."""

from collections.abc import Mapping, Sequence

from envwright.diagnosis.setbacks import EVERYTHING, Setback, compare_with_best, find_forgotten
from envwright.engineer import CarryMode, Record
from envwright.rollout import Rollout


class Carry(Record):
    """What a round's validation decided; the last round's names the checkpoint that is the run's result."""

    round_index: int
    """The round whose checkpoint is carried on."""
    fall: Setback | None = None
    """The comparison with the best round, if that one is carried instead of the last."""
    forgotten: tuple[Setback, ...] = ()

    @property
    def notes(self) -> tuple[Setback, ...]:
        """All that was found, the whole first."""
        return (self.fall, *self.forgotten) if self.fall else self.forgotten


def decide_carry(
    mode: CarryMode, check_forgetting: bool, rounds: Mapping[int, Sequence[Rollout]], sources: Sequence[str]
) -> Carry:
    """Returns what is carried on after the last of the rounds.

    Args:
        mode: "last": always the last; "best": the one with the highest valid rate; "rollback": the best one if the last
            fell below it by more than the paired 95% interval.
        check_forgetting: whether each source is compared with its own best round.
        rounds: round index -> rollouts on the same tasks in the same order.
        sources: of the testbed.
    """
    last = max(rounds)
    forgotten = tuple(find_forgotten(sources, rounds)) if check_forgetting else ()
    fall = None if mode == "last" else compare_with_best(EVERYTHING, rounds)
    if fall is None or (mode == "rollback" and not fall.beyond_chance):
        return Carry(round_index=last, forgotten=forgotten)
    return Carry(round_index=fall.best_round, fall=fall, forgotten=forgotten)
