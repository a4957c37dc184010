"""What a report is made from: the stages of a run, each with its rollouts, configuration, evidence and redesign."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from envwright.diagnosis.carry import Carry
from envwright.diagnosis.setbacks import Setback
from envwright.diagnosis.statistics import score_rollouts
from envwright.engineer import Redesign, RoundEvidence, Score, Table
from envwright.evaluation.metrics import paired_difference
from envwright.recipe import Recipe, parse_recipe
from envwright.rollout import Rollout
from envwright.run_store import RECIPE, RunStore, round_name


@dataclass(frozen=True)
class Stage:
    """The base policy or the policy after one round; what a run has not reached yet is None."""

    title: str
    rollouts: Sequence[Rollout]
    configuration: Table | None = None
    evidence: RoundEvidence | None = None
    carry: Carry | None = None
    redesign: Redesign | None = None

    @cached_property
    def overall(self) -> Score:
        """The counts over all validation tasks."""
        return score_rollouts(self.rollouts)

    def of_source(self, source: str) -> Score:
        """Returns the counts over one source's tasks."""
        return score_rollouts([rollout for rollout in self.rollouts if rollout.task.source == source])

    @property
    def setbacks(self) -> tuple[Setback, ...]:
        """What a guardrail acted on after this stage."""
        return self.carry.notes if self.carry else ()


@dataclass(frozen=True)
class RunData:
    """One run as its files tell it."""

    name: str
    recipe: Recipe
    stages: Sequence[Stage]

    @property
    def finished(self) -> bool:
        """Whether every round has been validated."""
        return len(self.stages) == self.recipe.rounds + 1

    @cached_property
    def sources(self) -> list[str]:
        """The sources of the validation tasks, shorter names first."""
        found = {rollout.task.source for stage in self.stages for rollout in stage.rollouts}
        return sorted(found, key=lambda name: (len(name), name))

    @cached_property
    def gain(self) -> tuple[float, float, float] | None:
        """The paired difference in valid rate from the base to the last stage, with its interval."""
        if len(self.stages) < 2:
            return None
        first, last = ([r.verdict.valid for r in stage.rollouts] for stage in (self.stages[0], self.stages[-1]))
        return paired_difference(first, last)


def read_run(store: RunStore) -> RunData:
    """Returns what a run directory holds; a run that is still going on gives the stages it has."""
    recipe = parse_recipe(store.read_text(RECIPE))
    stages: list[Stage] = []
    if store.has("base/rollouts.parquet"):
        stages.append(Stage("base", store.read_rollouts("base/rollouts.parquet")))
    for index in store.rounds():
        name = round_name(index)
        if not store.has(f"{name}/rollouts.parquet"):
            break
        evidence, carry, proposal = (f"{name}/{file}.json" for file in ("evidence", "carry", "proposal"))
        stages.append(
            Stage(
                title=f"round {index}",
                rollouts=store.read_rollouts(f"{name}/rollouts.parquet"),
                configuration=store.read_table(f"{name}/config.yaml"),
                evidence=store.read_record(evidence, RoundEvidence) if store.has(evidence) else None,
                carry=store.read_record(carry, Carry) if store.has(carry) else None,
                redesign=store.read_record(proposal, Redesign) if store.has(proposal) else None,
            )
        )
    return RunData(store.path.resolve().name, recipe, stages)
