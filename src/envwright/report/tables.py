"""The run as Markdown tables, in the form of the paper's: valid % / optimal % per size, failures, configurations."""

from collections.abc import Iterable, Sequence

from envwright.engineer import Score
from envwright.evaluation.metrics import wilson_interval
from envwright.report.run_data import RunData


def render_tables(run: RunData) -> str:
    """Returns the whole Markdown text."""
    sections = [f"# {run.name}", _summary(run)]
    if run.stages:
        sections += [_rates(run), _objectives(run), _failures(run), _configurations(run), _redesigns(run)]
    return "\n\n".join(section for section in sections if section) + "\n"


def _summary(run: RunData) -> str:
    state = "" if run.finished else " The run is not finished: what it has so far."
    if run.gain is None:
        return f"Recipe `{run.recipe.name}`, seed {run.recipe.seed}.{state}"
    difference, low, high = (100 * number for number in run.gain)
    first, last = run.stages[0], run.stages[-1]
    return (
        f"Recipe `{run.recipe.name}`, seed {run.recipe.seed}. Valid rate on {first.overall.rollouts} fixed tasks: "
        f"{percent(first.overall.valid_rate)} ({first.title}) -> {percent(last.overall.valid_rate)} ({last.title}), "
        f"difference {difference:+.1f} points, 95% interval {low:+.1f} to {high:+.1f} (paired bootstrap over tasks; "
        f"one seed, so it says nothing about other training runs).{state}"
    )


def _rates(run: RunData) -> str:
    header = ["valid % / optimal %", *(f"{source}" for source in run.sources), "all", "valid 95%"]
    rows = [
        [
            stage.title,
            *(pair(stage.of_source(source)) for source in run.sources),
            pair(stage.overall),
            interval(stage.overall),
        ]
        for stage in run.stages
    ]
    return f"## Validation by {_source_word(run)}\n\n{table(header, rows)}"


def _objectives(run: RunData) -> str:
    header = ["stage", "valid %", "optimal % (sum of costs)", "optimal % (makespan)", "parsed %", "tokens per answer"]
    rows = [
        [
            stage.title,
            percent(stage.overall.valid_rate),
            percent(stage.detail_rate("optimal_sum_of_costs")),
            percent(stage.detail_rate("optimal_makespan")),
            percent(stage.overall.rate(stage.overall.parsed)),
            f"{stage.overall.mean_tokens:.1f}",
        ]
        for stage in run.stages
    ]
    return f"## Both objectives\n\n{table(header, rows)}"


def _failures(run: RunData) -> str:
    kinds = list(dict.fromkeys(kind for stage in run.stages for kind in stage.overall.failures))
    rows = [[stage.title, *(str(stage.overall.failures.get(kind, 0)) for kind in kinds)] for stage in run.stages]
    return f"## Failures by kind (counts)\n\n{table(['stage', *kinds], rows)}"


def _configurations(run: RunData) -> str:
    rows = [
        [stage.title, source, *(f"{value:.3f}" for value in knobs.values())]
        for stage in run.stages
        for source, knobs in (stage.configuration or {}).items()
    ]
    if not rows:
        return ""
    knobs = next(list(row) for stage in run.stages for row in (stage.configuration or {}).values())
    return f"## Configurations\n\n{table(['round', _source_word(run), *knobs], rows)}"


def _redesigns(run: RunData) -> str:
    rows = [
        [
            stage.title,
            stage.redesign.status,
            str(len(stage.redesign.proposal.attempts)),
            str(sum(attempt.error is not None for attempt in stage.redesign.proposal.attempts)),
            str(len(stage.redesign.corrections)),
            str(sum(attempt.tokens for attempt in stage.redesign.proposal.attempts)),
        ]
        for stage in run.stages
        if stage.redesign
    ]
    header = ["after", "proposal", "answers", "unusable", "corrections", "tokens"]
    return f"## Redesigns\n\n{table(header, rows)}" if rows else ""


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Returns a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def percent(rate: float) -> str:
    """Returns a rate in per cent with one digit."""
    return f"{100 * rate:.1f}"


def pair(score: Score) -> str:
    """Returns "valid / optimal" in per cent."""
    return f"{percent(score.valid_rate)} / {percent(score.optimal_rate)}"


def interval(score: Score) -> str:
    """Returns the 95% interval of the valid rate in per cent."""
    low, high = wilson_interval(score.valid, score.rollouts)
    return f"{percent(low)}-{percent(high)}"


def _source_word(run: RunData) -> str:
    return "size" if run.recipe.testbed.kind == "mapf_frozenlake" else "source"
