"""The command line: thin commands; heavy packages are imported by the command that needs them."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from envwright.errors import EnvwrightError

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
miniature = typer.Typer(no_args_is_help=True, help="The bundled miniature policy.")
app.add_typer(miniature, name="miniature")
boards_app = typer.Typer(no_args_is_help=True, help="Boards from and to foreign formats.")
app.add_typer(boards_app, name="boards")

INTERRUPTED = 130
"""The exit code that typer gives after an interrupt from the keyboard."""

RecipeName = Annotated[
    str, typer.Argument(help="a shipped recipe (cpu, qwen3-4b) or a YAML file, with variations as in cpu:v1")
]
Overrides = Annotated[list[str] | None, typer.Argument(help="dotted overrides, e.g. trainer.epochs=1")]
RunDirectory = Annotated[Path, typer.Argument(help="a run directory")]
Boards = Annotated[Path, typer.Argument(help="boards as JSONL, as `sample` and `benchmark` write them")]
FormatName = Annotated[str, typer.Argument(metavar="FORMAT", help="movingai, pogema, libmultirobot or mapped_json")]
ObjectiveName = Annotated[str, typer.Option(help="sum_of_costs or makespan")]


@app.command()
def run(
    recipe: RecipeName,
    overrides: Overrides = None,
    output: Annotated[Path | None, typer.Option(help="the new run directory; default runs/<name>")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="print the resolved recipe and stop")] = False,
) -> None:
    """Run a recipe: generate, train, validate, diagnose, redesign, round after round."""
    from envwright.recipe import load_recipe, resolved_text

    loaded = load_recipe(recipe, overrides or [])
    if dry_run:
        from envwright.experiment import build_testbed
        from envwright.start import start_configuration

        start_configuration(loaded, build_testbed(loaded))
        typer.echo(resolved_text(loaded), nl=False)
        return
    from envwright.console import ConsoleWatch
    from envwright.experiment import start_run

    _report(start_run(loaded, output or Path("runs") / loaded.name, ConsoleWatch()).path)


@app.command()
def resume(directory: RunDirectory) -> None:
    """Go on with a run where it stopped."""
    from envwright.console import ConsoleWatch
    from envwright.experiment import resume_run

    _report(resume_run(directory, ConsoleWatch()).path)


@app.command()
def report(directory: RunDirectory) -> None:
    """Write a run's tables and page again, from its files alone."""
    _report(directory)


@app.command()
def ablate(
    recipes: Annotated[
        list[str], typer.Argument(help="recipes; cpu:v1 is a variation, cpu:contexts six, cpu:paper all")
    ],
    output: Annotated[Path, typer.Option(help="a new directory, or one to go on with")],
    seeds: Annotated[str, typer.Option(help="training seeds, the same for every recipe")] = "0,1,2",
    overrides: Annotated[list[str] | None, typer.Option("--set", help="key=value for every recipe; repeatable")] = None,
    benchmark: Annotated[Path | None, typer.Option(help="boards that each last checkpoint answers")] = None,
) -> None:
    """Run several recipes on the same seeds and data and compare them with the first in one table."""
    from envwright.commands import compare_recipes

    compare_recipes(recipes, seeds, overrides or [], output, benchmark)


@app.command()
def sample(
    recipe: RecipeName = "cpu",
    overrides: Overrides = None,
    count: Annotated[int, typer.Option(min=1, help="number of boards")] = 10,
    seed: Annotated[int, typer.Option(help="any integer")] = 0,
    configuration: Annotated[Path | None, typer.Option(help="a config.yaml; default: the recipe's")] = None,
    output: Annotated[Path | None, typer.Option(help="a JSONL or parquet file; default: the screen, as JSONL")] = None,
) -> None:
    """Draw training boards of a configuration."""
    from envwright.commands import sample_tasks

    sample_tasks(recipe, overrides or [], count, seed, configuration, output)


@app.command()
def solve(
    boards: Boards,
    objective: ObjectiveName = "sum_of_costs",
    solver: Annotated[str, typer.Option(help="exact, or cbs: plain conflict-based search (sum_of_costs)")] = "exact",
) -> None:
    """Print the optimum and an optimal plan of each board."""
    from envwright.commands import solve_boards

    solve_boards(boards, objective, solver)


@app.command()
def verify(
    boards: Boards,
    answers: Annotated[Path, typer.Argument(help='JSONL rows {"id": ..., "answer": "..."}')],
    objective: ObjectiveName = "sum_of_costs",
) -> None:
    """Judge answers to boards, one verdict per row."""
    from envwright.commands import verify_answers

    verify_answers(boards, answers, objective)


@app.command()
def evaluate(
    model: Annotated[str, typer.Argument(help="miniature, a checkpoint directory, or a Hugging Face id")],
    boards: Annotated[Path | None, typer.Option(help="boards as JSONL; default: a fresh validation set")] = None,
    recipe: Annotated[str, typer.Option(help="whose testbed and validation settings to use")] = "cpu",
    temperature: Annotated[float | None, typer.Option(min=0, help="default: the recipe's")] = None,
    output: Annotated[Path | None, typer.Option(help="write the rollouts to this parquet file")] = None,
) -> None:
    """Validate a model: valid, optimal and parse rate with intervals."""
    from envwright.commands import evaluate_model

    evaluate_model(model, boards, recipe, temperature, output)


@app.command()
def benchmark(
    output: Annotated[Path, typer.Argument(help="a JSONL file that does not exist yet")],
    agents: Annotated[list[int] | None, typer.Option(help="only these numbers of agents")] = None,
    sizes: Annotated[list[int] | None, typer.Option(help="only these sizes")] = None,
    per_cell: Annotated[int, typer.Option(min=1, help="boards per agents, size and wait subset")] = 50,
    workers: Annotated[int, typer.Option(min=1, help="processes; the boards are the same for any number")] = 2,
) -> None:
    """Write the frozen benchmark: 3 to 5 agents, wait ratios 0.25, 0.50 and 0.75."""
    from envwright.commands import write_benchmark_file

    write_benchmark_file(output, agents, sizes, per_cell, workers)


@app.command()
def propose(
    directory: RunDirectory,
    round_index: Annotated[int, typer.Option("--round", min=0, help="a finished round")] = 0,
    context: Annotated[str | None, typer.Option(help="context preset V1..V6; default: the recipe's")] = None,
    show_context: Annotated[
        bool, typer.Option("--show-context", help="print what the engineer reads and stop")
    ] = False,
) -> None:
    """Ask a run's engineer again, on the evidence of a finished round; changes nothing in the run."""
    from envwright.commands import propose_again

    propose_again(directory, round_index, context, show_context)


@app.command()
def show(
    boards: Boards,
    number: Annotated[int, typer.Option(min=0, help="which board of the file")] = 0,
    plan: Annotated[Path | None, typer.Option(help="an answer as text; default: an optimal plan")] = None,
    gif: Annotated[Path | None, typer.Option(help="also write an animated GIF")] = None,
) -> None:
    """Draw a board and a plan on it, step by step."""
    from envwright.commands import show_board

    show_board(boards, number, plan, gif)


@miniature.command("build")
def build(
    output: Annotated[Path, typer.Argument(help="a directory that does not exist yet")],
    seed: Annotated[int, typer.Option(help="any integer")] = 0,
    boards: Annotated[int | None, typer.Option(min=1, help="board lessons; default: as shipped")] = None,
    dialogues: Annotated[int | None, typer.Option(min=1, help="engineering dialogues; default: as shipped")] = None,
) -> None:
    """Make the miniature again: tokenizer, data, training, its own evaluation report."""
    from envwright.miniature.build import build as build_miniature
    from envwright.miniature.settings import MiniatureSettings

    chosen = {"boards": boards, "dialogues": dialogues}
    settings = MiniatureSettings(seed=seed, **{name: value for name, value in chosen.items() if value is not None})
    build_miniature(output, settings, typer.echo)


@boards_app.command("import")
def import_boards(
    format_name: FormatName,
    sources: Annotated[list[Path], typer.Argument(metavar="SOURCE", help="files of that format")],
    output: Annotated[Path, typer.Option(help="a JSONL file that does not exist yet")],
    agents: Annotated[int | None, typer.Option(min=1, help="the first so many agents of each board")] = None,
    mapping: Annotated[Path | None, typer.Option(help="for mapped_json: a YAML file that names the fields")] = None,
) -> None:
    """Read foreign boards, prove their optima and write them as JSONL; those without a plan are left out."""
    from envwright.interchange_commands import import_boards as read_foreign_boards

    read_foreign_boards(format_name, sources, output, agents, mapping)


@boards_app.command("export")
def export_boards(
    format_name: FormatName,
    boards: Boards,
    output: Annotated[Path, typer.Argument(metavar="OUTPUT_DIR", help="a directory that does not exist yet")],
) -> None:
    """Write boards as files of a foreign format, for other planners."""
    from envwright.interchange_commands import export_boards as write_foreign_boards

    write_foreign_boards(format_name, boards, output)


@boards_app.command("answers")
def import_answers(
    format_name: FormatName,
    boards: Boards,
    results: Annotated[Path, typer.Argument(metavar="RESULTS_DIR", help="results named as the exported boards")],
    output: Annotated[Path, typer.Option(help="a JSONL file that does not exist yet")],
) -> None:
    """Turn plans of a foreign planner into answers that `verify` judges."""
    from envwright.interchange_commands import import_answers as read_foreign_plans

    read_foreign_plans(format_name, boards, results, output)


def _report(directory: Path) -> None:
    from envwright.report import write_report

    typer.echo(f"report: {write_report(directory)}")


def main() -> None:
    """Runs the command line; what the user can mend is one message and exit code 2."""
    try:
        app()
    except EnvwrightError as error:
        typer.echo(f"envwright: {error}", err=True)
        sys.exit(2)
    except SystemExit as end:
        if end.code == INTERRUPTED:
            typer.echo(
                "envwright: interrupted; `envwright resume DIR`, or the same `ablate` again, goes on where it stopped",
                err=True,
            )
        raise
