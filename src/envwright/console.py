"""What a person sees while a run goes on: what is being waited for, a table per round, the engineer's words."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from envwright.configuration import Configuration
from envwright.diagnosis.statistics import score_rollouts
from envwright.engineer import Redesign, Score
from envwright.evaluation.metrics import wilson_interval
from envwright.report.tables import Grid
from envwright.rollout import Rollout
from envwright.trainer import TrainingProgress
from envwright.watch import Watch


class ConsoleWatch(Watch):
    """Shows the loop on the screen."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console()
        self._base: Score | None = None

    def round_begins(self, index: int, rounds: int, configuration: Configuration[Any]) -> None:
        """Prints the round's configuration."""
        self._console.rule(f"round {index} ({index + 1} of {rounds})", align="left")
        self._console.print(configuration_table(configuration.table()))

    def step_begins(self, what: str) -> None:
        """Prints what is waited for."""
        self._console.print(f"[dim]... {escape(what)}[/dim]")

    def step_ends(self, what: str, seconds: float) -> None:
        """Prints how long it took."""
        self._console.print(f"[dim]    {escape(what)}: {seconds:.1f} s[/dim]")

    @contextmanager
    def training(self) -> Generator[Callable[[TrainingProgress], None]]:
        """Shows a bar over optimizer steps, with the reward and the valid rate of the last batch sampled."""
        with _progress(self._console) as progress:
            bar = progress.add_task("training", total=None, note="first batch is being sampled")

            def report(state: TrainingProgress) -> None:
                shown = {"reward": "reward", "valid_rate": "valid"}
                note = "  ".join(
                    f"{word} {state.metrics[key]:.2f}" for key, word in shown.items() if key in state.metrics
                )
                progress.update(bar, total=state.steps, completed=state.step, note=note)

            yield report

    @contextmanager
    def rollouts(self, total: int) -> Generator[Callable[[int], None]]:
        """Shows a bar over rollouts."""
        with _progress(self._console) as progress:
            bar = progress.add_task("validation", total=total, note="")
            yield lambda done: progress.update(bar, completed=done)

    def validated(self, stage: str, rollouts: Sequence[Rollout]) -> None:
        """Prints the rates per source."""
        self._console.print(rates_table(stage, rollouts))

    def fell_back(self, note: str) -> None:
        """Prints the note."""
        self._console.print(f"[yellow]guardrail[/yellow] {escape(note)}")

    def redesigned(self, redesign: Redesign) -> None:
        """Prints the engineer's reasons, each correction and each attempt that could not be used."""
        say = self._console.print
        say(f"[bold]the engineer's proposal was {redesign.status}[/bold]")
        for number, attempt in enumerate(redesign.proposal.attempts, start=1):
            outcome = f"unusable: {attempt.error}" if attempt.error else "usable"
            say(f"  answer {number}: {escape(outcome)} ({attempt.tokens} tokens, {attempt.seconds:.1f} s)")
        for source, reason in redesign.proposal.reasons.items():
            say(f"  {source}: {escape(reason)}")
        for change in redesign.corrections:
            say(
                f"  [yellow]corrected[/yellow] {change.source}.{change.knob}: "
                f"{change.proposed:.3g} -> {change.became:.3g} ({escape(change.reason)})"
            )


def configuration_table(values: dict[str, dict[str, float]]) -> Table:
    """Returns a configuration as a table: one row per source."""
    knobs = list(next(iter(values.values())))
    table = Table("configuration", *knobs, box=None, header_style="dim")
    for source, row in values.items():
        table.add_row(source, *(f"{row[knob]:.2f}" for knob in knobs))
    return table


def grid_table(grid: Grid) -> Table:
    """Returns a report's grid for the screen; every row is framed, since narrow screens fold its cells."""
    table = Table(title=grid.title, title_justify="left", show_lines=True, header_style="bold")
    for heading in grid.header:
        table.add_column(heading, overflow="fold")
    for row in grid.rows:
        table.add_row(*(escape(cell) for cell in row))
    return table


def rates_table(title: str, rollouts: Sequence[Rollout]) -> Table:
    """Returns valid, optimal and parse rates per source and overall, the valid rate with its 95% interval."""
    table = Table(title, "tasks", "valid", "95% interval", "optimal", "parsed", box=None, header_style="bold")
    sources = dict.fromkeys(rollout.task.source for rollout in rollouts)
    for source in sorted(sources, key=lambda name: (len(name), name)):
        table.add_row(source, *_rates(score_rollouts([r for r in rollouts if r.task.source == source])))
    table.add_row("all", *_rates(score_rollouts(rollouts)), style="bold")
    return table


def _rates(score: Score) -> list[str]:
    low, high = wilson_interval(score.valid, score.rollouts)
    return [
        str(score.rollouts),
        f"{score.valid_rate:.3f}",
        f"{low:.3f}-{high:.3f}",
        f"{score.optimal_rate:.3f}",
        f"{score.rate(score.parsed):.3f}",
    ]


def _progress(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
        console=console,
        transient=True,
    )
