"""The table of an ablation: one row per recipe, and a sentence on what may be read from it."""

from collections.abc import Sequence

from envwright.ablation.records import Ablation, Difference, Measured, Rate, Row
from envwright.evaluation.metrics import CONFIDENCE, RESAMPLES
from envwright.report.tables import Grid, markdown, percent

NOTHING = "-"


def render(ablation: Ablation) -> str:
    """Returns the whole table as Markdown."""
    faults = [f"- {' '.join(line.split())}" for line in ablation.failed]
    failed = ["## Failed runs\n\n" + "\n".join(faults)] if faults else []
    return "\n\n".join(["# Ablation", *(markdown(grid) for grid in grids(ablation)), note(ablation), *failed]) + "\n"


def grids(ablation: Ablation) -> list[Grid]:
    """Returns the tables: the validation set, the benchmark if it was asked for, and the engineers' work."""
    benchmark = [_on_benchmark(ablation)] if ablation.benchmark else []
    return [_on_validation(ablation), *benchmark, _work(ablation)]


def note(ablation: Ablation) -> str:
    """Returns how many seeds and tasks the table is made from, how its intervals are made, and what may be claimed."""
    first = ablation.rows[0]
    measured = [row.validation for row in ablation.rows if row.validation]
    if not measured:
        return "No run is finished yet."
    seeds, tasks = (sorted({*values}) for values in ((len(m.seeds) for m in measured), (m.tasks for m in measured)))
    text = [
        f"{_numbers(seeds, 'seed')} per recipe, {_numbers(tasks, 'fixed validation task')} per seed.",
        _method(seeds, all(m.same_tasks for m in measured)),
        f"Differences are to {first.recipe}, paired by seed and task.",
        "p is the exact sign-flip test over tasks (with one seed McNemar's), adjusted by Holm over the recipes; it "
        "speaks of these checkpoints, not of new seeds.",
        "Nothing is claimed where the interval holds 0 or p is not below 0.05; * marks the differences that remain.",
    ]
    if max(seeds) == 1:
        text.append("One training seed says nothing about other seeds.")
    elif max(seeds) < 5:
        text.append("With fewer than 5 seeds an interval over seeds tends to be too narrow.")
    return " ".join(text)


def _method(seeds: Sequence[int], same_tasks: bool) -> str:
    """Returns how the intervals are made; `seeds` are the numbers of seeds that rows have, in rising order."""
    level = f"{100 * CONFIDENCE:.0f}% intervals: "
    kind = "the same tasks in every seed" if same_tasks else "tasks within their seed"
    several = f"a bootstrap over seeds and tasks ({kind}; {RESAMPLES:,} resamples)"
    single = f"Wilson's for rates and a paired bootstrap over tasks ({RESAMPLES:,} resamples) for differences"
    if seeds[0] > 1:
        return f"{level}{several}."
    return f"{level}{single}." if seeds[-1] == 1 else f"{level}{several}; with one seed {single}."


def _numbers(values: Sequence[int], what: str) -> str:
    text = str(values[0]) if len(values) == 1 else f"{values[0]} to {values[-1]}"
    return f"{text} {what}{'' if values[-1] == 1 else 's'}"


def _on_validation(ablation: Ablation) -> Grid:
    header = ["recipe", "context", "engineer", "seeds", "valid %", "optimal %"]
    header += ["difference in valid, points", "p (Holm)", "difference in optimal, points"]
    rows = [
        [row.recipe, row.context, row.engineer, _seeds(row), *_rates(row.validation), *_differences(row.validation)]
        for row in ablation.rows
    ]
    return Grid("Validation set, last round", header, rows)


def _on_benchmark(ablation: Ablation) -> Grid:
    """The paper's columns: valid % at each wait ratio, valid % / optimal % for each number of agents."""
    answered = [row.benchmark for row in ablation.rows if row.benchmark]
    parts = list(answered[0].subsets) if answered else []
    waits, agents = ([name for name in parts if name.startswith("wait") is wanted] for wanted in (True, False))
    header = ["recipe", *(f"valid %, {name}" for name in waits), *(f"{name}, valid % / optimal %" for name in agents)]
    header += ["all, valid %", "all, optimal %", "difference in valid, points", "p (Holm)"]
    header += ["difference in optimal, points"]
    rows = [
        [
            row.recipe,
            *(percent(row.benchmark.subsets[name][0]) if row.benchmark else NOTHING for name in waits),
            *(_pair(row.benchmark.subsets[name]) if row.benchmark else NOTHING for name in agents),
            *_rates(row.benchmark),
            *_differences(row.benchmark),
        ]
        for row in ablation.rows
    ]
    boards = f", {answered[0].tasks:,} boards" if answered else ""
    return Grid(f"Benchmark {ablation.benchmark}{boards}, last checkpoint", header, rows)


def _work(ablation: Ablation) -> Grid:
    header = ["recipe", "usable first answers / redesigns", "corrections", "redesigns kept", "engineer tokens", "hours"]
    return Grid("The engineers' work, summed over seeds", header, [_work_of(row) for row in ablation.rows])


def _work_of(row: Row) -> list[str]:
    done = [run for run in row.runs if run.state == "finished"]
    if not done:
        return [row.recipe, *[NOTHING] * 5]
    asked = sum(run.asked for run in done)
    return [
        row.recipe,
        f"{sum(run.usable_first for run in done)} / {asked}" if asked else NOTHING,
        str(sum(run.corrections for run in done)),
        str(sum(run.kept for run in done)),
        str(sum(run.engineer_tokens for run in done)),
        f"{sum(run.hours for run in done):.2f}",
    ]


def _seeds(row: Row) -> str:
    done = sum(run.state == "finished" for run in row.runs)
    return str(done) if done == len(row.runs) else f"{done} of {len(row.runs)}"


def _rates(measured: Measured | None) -> list[str]:
    return [_interval(measured.valid), _interval(measured.optimal)] if measured else [NOTHING] * 2


def _differences(measured: Measured | None) -> list[str]:
    if not measured or not measured.valid_difference or not measured.optimal_difference:
        return [NOTHING] * 3
    valid = measured.valid_difference
    return [_points(valid) + ("*" if valid.shown else ""), _p(valid), _points(measured.optimal_difference)]


def _interval(rate: Rate) -> str:
    return f"{percent(rate.mean)} ({percent(rate.low)}-{percent(rate.high)})"


def _points(difference: Rate) -> str:
    mean, low, high = (100 * value for value in (difference.mean, difference.low, difference.high))
    return f"{mean:+.1f} ({low:+.1f} to {high:+.1f})"


def _p(difference: Difference) -> str:
    return "<0.001" if difference.p_holm < 0.001 else f"{difference.p_holm:.3f}"


def _pair(rates: tuple[float, float]) -> str:
    return f"{percent(rates[0])} / {percent(rates[1])}"
