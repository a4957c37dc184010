"""What the smaller commands do: boards in and out of files, verdicts, drawings, a second opinion of the engineer."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track

from envwright.configuration import format_table, read_table
from envwright.diagnosis.carry import Carry
from envwright.diagnosis.context import render_context
from envwright.engineer import Proposal
from envwright.errors import AblationError, DataFileError, RecipeError, RunDirectoryError
from envwright.experiment import build_testbed, checkpoint_policy, loop_settings
from envwright.recipe import load_recipe, parse_recipe
from envwright.rollout import collect_rollouts
from envwright.run_store import RECIPE, RunStore, round_name
from envwright.seat import build_redesigner, build_seat
from envwright.seeds import derive_seed
from envwright.start import legal_configuration, start_configuration
from envwright.task_files import write_rollouts, write_tasks
from envwright.testbed import Completion, Task
from envwright.testbeds.mapf_frozenlake.instance import Objective, SolvedInstance
from envwright.testbeds.mapf_frozenlake.testbed import MapfFrozenLake, MapfSettings


def compare_recipes(
    names: Sequence[str], seeds: str, overrides: Sequence[str], output: Path, benchmark: Path | None
) -> None:
    """Runs an ablation, prints its tables, and ends with an error if a run failed."""
    from envwright.ablation import TABLE, run_ablation
    from envwright.ablation.plan import expand_groups, parse_seeds
    from envwright.ablation.table import grids, note
    from envwright.console import ConsoleWatch, grid_table

    recipes = [load_recipe(name, overrides) for name in expand_groups(names)]
    console = Console()
    ablation = run_ablation(recipes, parse_seeds(seeds), output, ConsoleWatch(console), benchmark)
    for grid in grids(ablation):
        console.print(grid_table(grid))
    console.print(note(ablation), highlight=False)
    print(f"table: {output / TABLE}")
    if ablation.failed:
        raise AblationError(
            "some runs failed; mend them and give the same command again:\n" + "\n".join(ablation.failed)
        )


def sample_tasks(
    recipe: str, overrides: Sequence[str], count: int, seed: int, configuration: Path | None, output: Path | None
) -> None:
    """Draws training boards and writes them as JSONL, or as training rows if the output ends in .parquet."""
    loaded = load_recipe(recipe, overrides)
    testbed = build_testbed(loaded)
    start = start_configuration(loaded, testbed)
    if configuration:
        try:
            table = read_table(_read_text(configuration))
        except ValueError as error:
            raise DataFileError(f"{configuration}: {error}") from error
        start = legal_configuration(table, testbed)
    tasks = testbed.sample(start, count, seed)
    if output is None:
        for task in tasks:
            print(_board_line(task))
        return
    must_be_new(output)
    if output.suffix == ".parquet":
        write_tasks(output, tasks, testbed.name)
    else:
        output.write_text("".join(_board_line(task) + "\n" for task in tasks), encoding="utf-8")


def solve_boards(boards: Path, objective: str, solver: str) -> None:
    """Prints one JSON row per board: status, optimum, plan."""
    from envwright.testbeds.mapf_frozenlake.cbs import conflict_based_search
    from envwright.testbeds.mapf_frozenlake.solver import solve

    goal = _objective(objective)
    if solver not in ("exact", "cbs") or (solver == "cbs" and goal is not Objective.SUM_OF_COSTS):
        raise RecipeError(f"the solver must be exact, or cbs for the objective sum_of_costs; got {solver!r} for {goal}")
    for board in read_boards(boards):
        exact = solver == "exact"
        solution = solve(board.instance, goal) if exact else conflict_based_search(board.instance)
        row = {"id": board.instance.id, "status": solution.status, goal: solution.cost, "paths": solution.paths}
        print(json.dumps(row))


def verify_answers(boards: Path, answers: Path, objective: str) -> None:
    """Prints one verdict per answer, as a JSON row with the board's id."""
    testbed = MapfFrozenLake(MapfSettings(objective=_objective(objective)))
    tasks = {board.instance.id: testbed.task(board) for board in read_boards(boards)}
    for number, line in enumerate(_read_text(answers).splitlines(), start=1):
        try:
            row: Any = json.loads(line)
            task, answer = tasks[row["id"]], str(row["answer"])
        except (ValueError, TypeError, KeyError) as error:
            raise DataFileError(
                f'{answers}, line {number}: a row must be {{"id": <of a board in {boards}>, "answer": "..."}}, '
                f"got {line[:80]!r} ({type(error).__name__}: {error})"
            ) from error
        verdict = testbed.verify(task, Completion(text=answer, tokens=0))
        print(json.dumps({"id": task.id, **verdict.model_dump()}))


def evaluate_model(
    model: str, boards: Path | None, recipe: str, temperature: float | None, output: Path | None
) -> None:
    """Validates a model on boards of a file, or on a fresh validation set of the recipe."""
    from envwright.console import rates_table
    from envwright.policies.transformers_policy import TransformersPolicy

    loaded = load_recipe(recipe)
    if output:
        must_be_new(output)
    tasks = _evaluation_tasks(loaded, boards)
    settings = loaded.policy.model_copy(update={"model": model})
    sampling = loaded.validation.sampling.model_copy(update={"seed": derive_seed(loaded.seed, "validate")})
    if temperature is not None:
        sampling = sampling.model_copy(update={"temperature": temperature})
    console = Console()
    with console.status(f"{len(tasks)} boards are being answered"):
        policy = TransformersPolicy.load(settings)
        rollouts = collect_rollouts(policy, tasks, build_testbed(loaded), sampling, loaded.validation.batch_size)
    console.print(rates_table(f"{model}, temperature {sampling.temperature:g}", rollouts))
    if output:
        write_rollouts(output, rollouts)


def write_benchmark_file(
    output: Path, agents: list[int] | None, sizes: list[int] | None, per_cell: int, workers: int
) -> None:
    """Writes the benchmark or a part of it, with a bar, and prints its checksum."""
    from envwright.testbeds.mapf_frozenlake.benchmark import (
        BOARDS_PER_CELL,
        FROZEN_SHA256,
        SIZES_BY_AGENTS,
        benchmark_set,
        write_benchmark,
    )

    must_be_new(output)
    from rich.progress import Progress

    with Progress() as progress:
        bar = progress.add_task("drawing and solving boards", total=None)
        undecided = 0

        def report(done: int, left_out: int) -> None:
            nonlocal undecided
            undecided = left_out
            progress.update(bar, completed=done)

        chosen = benchmark_set(
            agents=agents or tuple(SIZES_BY_AGENTS),
            sizes=sizes or tuple(range(3, 11)),
            per_cell=per_cell,
            workers=workers,
            on_board=report,
        )
    checksum = write_benchmark(output, chosen)
    print(f"{len(chosen)} boards, sha256 {checksum}; {undecided} candidates were left out, undecided within the budget")
    if not (agents or sizes) and per_cell == BOARDS_PER_CELL:
        frozen = "this is the frozen benchmark" if checksum == FROZEN_SHA256 else f"NOT the frozen {FROZEN_SHA256}"
        print(frozen)


def propose_again(directory: Path, index: int, preset: str | None, show_context: bool) -> None:
    """Asks the engineer on the evidence of a finished round and prints its answer; the run is only read."""
    store = RunStore.open(directory)
    recipe = parse_recipe(store.read_text(RECIPE), [f"context.modules={preset}"] if preset else [])
    if not store.has(f"{round_name(index)}/evidence.json"):
        done = [number for number in store.rounds() if store.has(f"{round_name(number)}/evidence.json")]
        raise RunDirectoryError(f"round {index} of {directory} must be finished; finished are {done}")
    testbed = build_testbed(recipe)
    carry = store.read_record(f"{round_name(index)}/carry.json", Carry)
    engineer = build_seat(recipe, testbed, lambda: checkpoint_policy(recipe, store, carry.round_index))
    evidence = build_redesigner(recipe, testbed, store, engineer).evidence(index, carry)
    if show_context:
        print(engineer.context(evidence) or render_context(evidence, testbed, recipe.context), end="")
        return
    _print_proposal(engineer.propose(evidence))


def show_board(boards: Path, number: int, plan: Path | None, gif: Path | None) -> None:
    """Prints a board and a plan on it step by step; an invalid plan stops at its first failure, marked."""
    from envwright.testbeds.mapf_frozenlake.animation import write_gif
    from envwright.testbeds.mapf_frozenlake.answer import Plan, Unreadable, read_answer
    from envwright.testbeds.mapf_frozenlake.solver import solve
    from envwright.testbeds.mapf_frozenlake.verifier import judge
    from envwright.testbeds.mapf_frozenlake.viewer import coloured, plan_frames

    if gif:
        must_be_new(gif)
    found = read_boards(boards)
    if number >= len(found):
        raise DataFileError(f"{boards} has {len(found)} boards, numbered from 0; there is no number {number}")
    instance = found[number].instance
    if plan:
        answer = read_answer(_read_text(plan), instance.agents)
    else:
        paths = solve(instance, Objective.SUM_OF_COSTS).paths
        answer = Plan("cells", paths) if paths else Unreadable("parse_error", "the board has no plan within the budget")
    if isinstance(answer, Unreadable):
        raise DataFileError(f"{plan or boards}: {answer.reason}: {answer.detail}")
    judgement = judge(instance, answer)
    console = Console()
    for frame in plan_frames(instance, judgement.paths or (), judgement):
        console.print(coloured(frame))
    if gif:
        write_gif(gif, instance, judgement.paths or (), judgement.faults)


def read_boards(path: Path) -> list[SolvedInstance]:
    """Returns the boards of a JSONL file that `sample` or `benchmark` wrote.

    Raises:
        DataFileError: the file is missing, empty or damaged; the message names the line.
    """
    lines = _read_text(path).splitlines()
    if not lines:
        raise DataFileError(f"{path} must hold at least one board, it is empty")
    boards: list[SolvedInstance] = []
    for number, line in enumerate(track(lines, "reading boards", transient=True, disable=len(lines) < 1_000), start=1):
        try:
            boards.append(SolvedInstance.from_json(line))
        except ValueError as error:
            raise DataFileError(f"{path}, line {number}: a line must be one board as JSON, {error}") from error
    return boards


def _evaluation_tasks(recipe: Any, boards: Path | None) -> list[Task]:
    testbed = build_testbed(recipe)
    if boards is None:
        return testbed.validation_set(recipe.validation.tasks, loop_settings(recipe).validation_seed)
    return [MapfFrozenLake(testbed.settings).task(board) for board in read_boards(boards)]  # type: ignore[attr-defined]


def _print_proposal(proposal: Proposal) -> None:
    for attempt in proposal.attempts:
        print(attempt.text)
        print(f"# {'unusable: ' + attempt.error if attempt.error else 'usable'}")
    if proposal.table:
        print(format_table(proposal.table))


def _board_line(task: Task) -> str:
    return json.dumps({"id": task.id, **task.tags, **json.loads(task.payload)})


def _objective(name: str) -> Objective:
    try:
        return Objective(name)
    except ValueError as error:
        raise RecipeError(f"the objective must be one of {', '.join(Objective)}, got {name!r}") from error


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataFileError(f"{path} must be a readable text file: {error}") from error


def must_be_new(path: Path) -> None:
    """Checks that an output can be written without replacing anything.

    Raises:
        DataFileError: the path exists, or its directory cannot be written.
    """
    if path.exists():
        raise DataFileError(f"the output must not exist yet, got {path}: choose another or remove it")
    if not os.access(path.parent, os.W_OK):
        raise DataFileError(f"the output must lie in a directory that can be written, got {path}: make {path.parent}")
