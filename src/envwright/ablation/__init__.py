"""Several recipes on the same seeds and data, and one table in the form of the paper's."""

import gc
from collections.abc import Sequence
from pathlib import Path

from envwright.ablation.benchmark import Benchmark
from envwright.ablation.plan import Run, check_output, plan_runs
from envwright.ablation.records import Ablation, SeedResult
from envwright.ablation.results import RunResult, read_result
from envwright.ablation.sharing import start_or_resume
from envwright.ablation.summary import summarise
from envwright.ablation.table import render
from envwright.errors import EnvwrightError, RunDirectoryError
from envwright.recipe import Recipe
from envwright.run_store import RunStore
from envwright.watch import Watch

TABLE, NUMBERS = "ablation.md", "ablation.json"


def run_ablation(
    recipes: Sequence[Recipe], seeds: Sequence[int], output: Path, watch: Watch, benchmark: Path | None = None
) -> Ablation:
    """Runs every recipe on every seed under `output`, or goes on with what an earlier call left there.

    The table is written anew after each run. A run that fails is recorded in it and the others go on.

    Args:
        recipes: the first is what the others are compared with.
        seeds: of the runs; the recipes' own seeds are not used.
        output: gets <recipe's name>/seed_<n>/, ablation.md and ablation.json.
        watch: told what happens, for people.
        benchmark: boards that the last checkpoint of each run answers.

    Raises:
        RecipeError: two recipes have one name, or a name is no folder's name.
        RunDirectoryError: the output holds something else, or runs of other recipes.
        EnvwrightError: a recipe or the benchmark file is faulty; nothing has been run then.
    """
    boards = Benchmark.read(benchmark) if benchmark else None
    runs = plan_runs(recipes, seeds, output)
    check_output(output, NUMBERS, runs)
    store = _open(output)
    results = [RunResult(SeedResult(seed=run.recipe.seed)) for run in runs]
    for index, run in enumerate(runs):
        _write(store, summarise(runs, results, boards.name if boards else None))
        watch.step_begins(f"run {index + 1} of {len(runs)}: {run.recipe.name}, seed {run.recipe.seed}")
        results[index] = _result(run, runs, boards, watch)
        gc.collect()  # a trainer and its callbacks hold each other: let the model go before the next one is loaded
    ablation = summarise(runs, results, boards.name if boards else None)
    _write(store, ablation)
    return ablation


def _result(run: Run, runs: Sequence[Run], benchmark: Benchmark | None, watch: Watch) -> RunResult:
    try:
        store = start_or_resume(run, runs, watch)
        return read_result(run, store, benchmark.answers(run.recipe, store, watch) if benchmark else None)
    except EnvwrightError as error:
        return RunResult(SeedResult(seed=run.recipe.seed, state="failed", error=str(error)))


def _open(output: Path) -> RunStore:
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunDirectoryError(f"an ablation must be able to make {output}: {error}; choose another output") from error
    return RunStore(output)


def _write(store: RunStore, ablation: Ablation) -> None:
    store.write_record(NUMBERS, ablation)
    store.write_text(TABLE, render(ablation))
