"""The run as tables, in the form of the paper's: valid % / optimal % per size, failures, configurations."""

from collections.abc import Sequence
from dataclasses import dataclass

from envwright.diagnosis.statistics import score_rollouts, tag_label
from envwright.engineer import Score
from envwright.evaluation.metrics import wilson_interval
from envwright.report.run_data import RunData, Stage


@dataclass(frozen=True)
class Grid:
    """One table: the cells of each row stand under those of the header."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]


def render_tables(run: RunData) -> str:
    """Returns all tables as one Markdown text; those that a run has nothing for yet are left out."""
    grids = [
        rates_by_source(run),
        rates_overall(run),
        *rates_by_tag(run),
        failures(run),
        training_groups(run),
        configurations(run),
        redesigns(run),
        corrections(run),
    ]
    sections = [f"# {run.name}", _summary(run), *(markdown(grid) for grid in grids if grid.rows)]
    return "\n\n".join(sections) + "\n"


def rates_by_source(run: RunData) -> Grid:
    """Returns valid / optimal per source and in all: the paper's main table, with rounds as rows."""
    rows = [
        [stage.title, *(pair(stage.of_source(source)) for source in run.sources), pair(stage.overall)]
        for stage in run.stages
    ]
    return Grid(f"Valid % / optimal % by {source_word(run)}", ["stage", *run.sources, "all"], rows)


def rates_overall(run: RunData) -> Grid:
    """Returns every rate over all validation tasks, with its 95% interval."""
    header = [
        "stage",
        "tasks",
        "valid %",
        "optimal % (sum of costs)",
        "optimal % (makespan)",
        "parsed %",
        "truncated %",
        "tokens per answer",
    ]
    rows = [
        [
            stage.title,
            str(stage.overall.rollouts),
            *(rate_with_interval(count, stage.overall.rollouts) for count in _counts(stage)),
            f"{stage.overall.mean_tokens:.1f}",
        ]
        for stage in run.stages
    ]
    return Grid("All rates, with 95% intervals", header, rows)


def _counts(stage: Stage) -> list[int]:
    objectives = [
        sum(bool(rollout.verdict.details.get(name)) for rollout in stage.rollouts)
        for name in ("optimal_sum_of_costs", "optimal_makespan")
    ]
    return [stage.overall.valid, *objectives, stage.overall.parsed, stage.overall.truncated]


def rates_by_tag(run: RunData) -> list[Grid]:
    """Returns the valid rate per value of each tag that the evidence is split by, e.g. holes and wait."""
    tags = dict.fromkeys(tag for stage in run.stages if stage.evidence for tag in stage.evidence.by_tag)
    return [_rates_by_tag(run, tag) for tag in tags]


def _rates_by_tag(run: RunData, tag: str) -> Grid:
    by_stage = [_scores_of_tag(stage, tag) for stage in run.stages]
    labels = sorted({label for scores in by_stage for label in scores})
    rows = [
        [stage.title, *(rate_with_interval(scores[label].valid, scores[label].rollouts) for label in labels)]
        for stage, scores in zip(run.stages, by_stage, strict=True)
    ]
    return Grid(f"Valid % by {tag}, with 95% intervals", ["stage", *labels], rows)


def _scores_of_tag(stage: Stage, tag: str) -> dict[str, Score]:
    tagged = [(tag_label(rollout.task.tags[tag]), rollout) for rollout in stage.rollouts if tag in rollout.task.tags]
    labels = dict.fromkeys(label for label, _ in tagged)
    return {label: score_rollouts([rollout for other, rollout in tagged if other == label]) for label in labels}


def failures(run: RunData) -> Grid:
    """Returns the counts of each failure kind per stage."""
    kinds = list(dict.fromkeys(kind for stage in run.stages for kind in stage.overall.failures))
    rows = [[stage.title, *(str(stage.overall.failures.get(kind, 0)) for kind in kinds)] for stage in run.stages]
    return Grid("Failures by kind (counts)", ["stage", *kinds], rows)


def training_groups(run: RunData) -> Grid:
    """Returns the share of training groups whose rewards were all equal, which teach nothing."""
    scores = [(stage.title, stage.evidence.overall) for stage in run.stages if stage.evidence]
    rows = [
        [title, str(score.groups), rate_with_interval(score.groups_without_signal, score.groups)]
        for title, score in scores
        if score.groups
    ]
    return Grid("Training groups", ["round", "groups", "without signal %"], rows)


def configurations(run: RunData) -> Grid:
    """Returns the knobs of every source, round by round."""
    tables = [(stage.title, stage.configuration) for stage in run.stages if stage.configuration]
    knobs = list(dict.fromkeys(knob for _, table in tables for row in table.values() for knob in row))
    rows = [
        [title, source, *(f"{row[knob]:.3f}" for knob in knobs)]
        for title, table in tables
        for source, row in table.items()
    ]
    return Grid("Configurations", ["round", source_word(run), *knobs], rows)


def redesigns(run: RunData) -> Grid:
    """Returns what became of each proposal, and what it cost."""
    rows = [
        [
            stage.title,
            stage.redesign.status,
            str(len(stage.redesign.proposal.attempts)),
            str(sum(attempt.error is not None for attempt in stage.redesign.proposal.attempts)),
            str(len(stage.redesign.corrections)),
            str(sum(attempt.tokens for attempt in stage.redesign.proposal.attempts)),
            f"{sum(attempt.seconds for attempt in stage.redesign.proposal.attempts):.1f}",
        ]
        for stage in run.stages
        if stage.redesign
    ]
    return Grid("Redesigns", ["after", "proposal", "answers", "unusable", "corrections", "tokens", "seconds"], rows)


def corrections(run: RunData) -> Grid:
    """Returns every change that a guardrail made, with its reason."""
    rows = [
        [stage.title, change.source, change.knob, f"{change.proposed:.3g}", f"{change.became:.3g}", change.reason]
        for stage in run.stages
        if stage.redesign
        for change in stage.redesign.corrections
    ]
    return Grid("Corrections", ["after", source_word(run), "knob", "proposed", "became", "reason"], rows)


def reading(run: RunData) -> str:
    """Returns what the gain allows to say, beyond its numbers."""
    _, low, high = run.gain or (0.0, 0.0, 0.0)
    shown = " It holds 0, so the run shows no change." if low <= 0 <= high else ""
    return f"The interval is a paired bootstrap over tasks.{shown} One training seed says nothing about other seeds."


def percent(rate: float) -> str:
    """Returns a rate in per cent with one digit."""
    return f"{100 * rate:.1f}"


def pair(score: Score) -> str:
    """Returns "valid / optimal" in per cent."""
    return f"{percent(score.valid_rate)} / {percent(score.optimal_rate)}"


def rate_with_interval(count: int, trials: int) -> str:
    """Returns a rate and its 95% interval in per cent, "40.6 (36.3-45.1)"; "-" without trials."""
    if not trials:
        return "-"
    low, high = wilson_interval(count, trials)
    return f"{percent(count / trials)} ({percent(low)}-{percent(high)})"


def source_word(run: RunData) -> str:
    """Returns what a source of tasks is called."""
    return "size" if run.recipe.testbed.kind == "mapf_frozenlake" else "source"


def _summary(run: RunData) -> str:
    facts = f"Recipe `{run.recipe.name}`, seed {run.recipe.seed}."
    state = "" if run.finished else " The run is not finished: this is what it has so far."
    if run.gain is None:
        return facts + state
    difference, low, high = (100 * number for number in run.gain)
    first, last = run.stages[0], run.stages[-1]
    return (
        f"{facts} Valid rate on {first.overall.rollouts} fixed tasks: {percent(first.overall.valid_rate)} "
        f"({first.title}) -> {percent(last.overall.valid_rate)} ({last.title}), difference {difference:+.1f} points, "
        f"95% interval {low:+.1f} to {high:+.1f}. {reading(run)}{state}"
    )


def markdown(grid: Grid) -> str:
    """Returns a grid as a Markdown section."""
    lines = [grid.header, ["---"] * len(grid.header), *([_cell(cell) for cell in row] for row in grid.rows)]
    table = "\n".join("| " + " | ".join(cells) + " |" for cells in lines)
    return f"## {grid.title}\n\n{table}"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
