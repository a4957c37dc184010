"""From the runs to one row per recipe: rates over seeds, and differences to the first recipe."""

from collections.abc import Mapping, Sequence

from envwright.ablation.plan import Run
from envwright.ablation.records import Ablation, Difference, Measured, Rate, Row
from envwright.ablation.results import Answers, RunResult
from envwright.diagnosis.context import resolve_modules
from envwright.evaluation.across_seeds import (
    Interval,
    Outcomes,
    difference_over_seeds,
    differences,
    holm,
    rate_over_seeds,
    sign_flip_p,
)
from envwright.recipe import Recipe

BySeed = Mapping[int, Answers]
"""Seed -> the answers of one arm."""


def summarise(runs: Sequence[Run], results: Sequence[RunResult], benchmark: str | None) -> Ablation:
    """Returns one row per recipe, in the order of the runs.

    Args:
        runs: all runs.
        results: one per run.
        benchmark: the name of the benchmark's file, if there is one.
    """
    of_recipe: dict[str, list[RunResult]] = {}
    for run, result in zip(runs, results, strict=True):
        of_recipe.setdefault(run.recipe.name, []).append(result)
    recipes = {run.recipe.name: run.recipe for run in runs}
    arms = list(of_recipe.values())
    on_validation = measure([{r.record.seed: r.validation for r in arm if r.validation} for arm in arms])
    on_benchmark = measure([{r.record.seed: r.benchmark for r in arm if r.benchmark} for arm in arms])
    rows = [
        Row(
            recipe=name,
            context=_context(recipes[name]),
            engineer=_engineer(recipes[name]),
            runs=tuple(result.record for result in arm),
            validation=validation,
            benchmark=answered,
        )
        for (name, arm), validation, answered in zip(of_recipe.items(), on_validation, on_benchmark, strict=True)
    ]
    return Ablation(benchmark=benchmark, rows=tuple(rows))


def measure(arms: Sequence[BySeed]) -> list[Measured | None]:
    """Returns the rates of each arm and its difference to the first; None for an arm without answers.

    The valid rate is the one measure that is tested; its p-values are adjusted over the arms.
    """
    measured = [_measure(arms[0], arm) if arm else None for arm in arms]
    tested = [item.valid_difference for item in measured if item and item.valid_difference]
    adjusted = iter(holm([difference.p for difference in tested]))
    return [
        item.model_copy(
            update={"valid_difference": item.valid_difference.model_copy(update={"p_holm": next(adjusted)})}
        )
        if item and item.valid_difference
        else item
        for item in measured
    ]


def _measure(first: BySeed, arm: BySeed) -> Measured:
    answers = list(arm.values())
    same_tasks = _same_tasks(answers)
    differs = None if arm is first else _paired(first, arm)
    return Measured(
        tasks=len(answers[0].tasks),
        seeds=tuple(arm),
        same_tasks=same_tasks,
        valid=_rate(rate_over_seeds([a.valid for a in answers], same_tasks)),
        optimal=_rate(rate_over_seeds([a.optimal for a in answers], same_tasks)),
        valid_difference=differs[0] if differs else None,
        optimal_difference=differs[1] if differs else None,
        subsets={name: _subset(answers, indices) for name, indices in answers[0].subsets.items()},
    )


def _paired(first: BySeed, arm: BySeed) -> tuple[Difference, Rate] | None:
    """Returns the differences over the seeds that both have; None if there is none, or if the tasks are others."""
    pairs = [(first[seed], arm[seed]) for seed in arm if seed in first]
    if not pairs or any(old.tasks != new.tasks for old, new in pairs):
        return None
    same_tasks = _same_tasks([old for old, _ in pairs])
    before, after = [old.valid for old, _ in pairs], [new.valid for _, new in pairs]
    valid = _rate(difference_over_seeds(before, after, same_tasks))
    p = sign_flip_p(_units(before, after, same_tasks))
    optimal = difference_over_seeds([old.optimal for old, _ in pairs], [new.optimal for _, new in pairs], same_tasks)
    return Difference(**valid.model_dump(), p=p, p_holm=p), _rate(optimal)


def _units(before: Outcomes, after: Outcomes, same_tasks: bool) -> list[int]:
    """Returns the changes of the independent tasks: one that several seeds answered is one, with its changes summed."""
    rows = differences(before, after)
    return [sum(column) for column in zip(*rows, strict=True)] if same_tasks else [c for row in rows for c in row]


def _same_tasks(answers: Sequence[Answers]) -> bool:
    return all(other.tasks == answers[0].tasks for other in answers)


def _subset(answers: Sequence[Answers], indices: Sequence[int]) -> tuple[float, float]:
    """Returns the valid and the optimal rate over one part of the tasks, averaged over the seeds."""
    total = len(answers) * len(indices)
    valid = sum(one.valid[index] for one in answers for index in indices)
    optimal = sum(one.optimal[index] for one in answers for index in indices)
    return valid / total, optimal / total


def _rate(interval: Interval) -> Rate:
    mean, low, high = interval
    return Rate(mean=mean, low=low, high=high)


def _context(recipe: Recipe) -> str:
    """Returns the modules that the engineer reads, e.g. "F+G+H+T"; "-" for an engineer that reads no text."""
    if recipe.engineer.kind != "llm":
        return "-"
    modules = "+".join(resolve_modules(recipe.context.modules))
    full = recipe.context.training_details == "full" and "T" in modules
    return f"{modules} (T full)" if full else modules


def _engineer(recipe: Recipe) -> str:
    """Returns who redesigns; a language model by the policy it is."""
    names = {"policy": "checkpoint", "base": "base model", "checkpoint": "other checkpoint", "endpoint": "endpoint"}
    return names[recipe.engineer.model] if recipe.engineer.kind == "llm" else recipe.engineer.kind
