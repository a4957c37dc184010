"""What one finished run tells: its answers on each set of tasks, and what its engineer did."""

from collections.abc import Sequence
from dataclasses import dataclass

from envwright.ablation.plan import Run
from envwright.ablation.records import SeedResult
from envwright.engineer import Redesign
from envwright.rollout import Rollout
from envwright.run_store import RunStore, round_name

SECONDS_PER_HOUR = 3600


@dataclass(frozen=True)
class Answers:
    """One policy on one set of tasks, in their order.

    Attributes:
        tasks: ids.
        valid: per task.
        optimal: valid and optimal, per task.
        subsets: name of a part -> the indices of its tasks.
    """

    tasks: tuple[str, ...]
    valid: tuple[bool, ...]
    optimal: tuple[bool, ...]
    subsets: dict[str, tuple[int, ...]]

    @classmethod
    def of(cls, rollouts: Sequence[Rollout], subsets: dict[str, tuple[int, ...]] | None = None) -> "Answers":
        """Returns the answers of judged rollouts."""
        verdicts = [rollout.verdict for rollout in rollouts]
        return cls(
            tasks=tuple(rollout.task.id for rollout in rollouts),
            valid=tuple(verdict.valid for verdict in verdicts),
            optimal=tuple(verdict.valid and verdict.optimal for verdict in verdicts),
            subsets=subsets or {},
        )


@dataclass(frozen=True)
class RunResult:
    """One run, as far as it came; without answers it is not finished."""

    record: SeedResult
    validation: Answers | None = None
    benchmark: Answers | None = None


def read_result(run: Run, store: RunStore, benchmark: Answers | None) -> RunResult:
    """Returns what a finished run tells.

    Raises:
        DataFileError: one of its files is damaged.
    """
    last = run.recipe.rounds - 1
    answers = Answers.of(store.read_rollouts(f"{round_name(last)}/rollouts.parquet"))
    redesigns = [store.read_record(f"{round_name(index)}/proposal.json", Redesign) for index in range(last)]
    asked = [redesign.proposal.attempts for redesign in redesigns if redesign.proposal.attempts]
    record = SeedResult(
        seed=run.recipe.seed,
        state="finished",
        tasks=len(answers.tasks),
        valid=sum(answers.valid),
        optimal=sum(answers.optimal),
        redesigns=len(redesigns),
        asked=len(asked),
        usable_first=sum(attempts[0].error is None for attempts in asked),
        corrections=sum(len(redesign.corrections) for redesign in redesigns),
        kept=sum(redesign.status == "kept" for redesign in redesigns),
        engineer_tokens=sum(attempt.tokens for attempts in asked for attempt in attempts),
        hours=sum(float(event.get("seconds", 0)) for event in store.events()) / SECONDS_PER_HOUR,
    )
    return RunResult(record, answers, benchmark)
