"""The run as one HTML page that needs nothing but itself; all text from models is escaped."""

from html import escape
from importlib.resources import files
from string import Template

from envwright.diagnosis.setbacks import setback_note
from envwright.engineer import Candidate
from envwright.evaluation.metrics import wilson_interval
from envwright.report.figures import Series, line_chart, scale_of, stacked_bars
from envwright.report.run_data import RunData, Stage
from envwright.report.tables import (
    Grid,
    percent,
    rates_by_source,
    rates_by_tag,
    rates_overall,
    reading,
    source_word,
)


def render_page(run: RunData) -> str:
    """Returns the whole page."""
    template = Template(files("envwright.report").joinpath("page.html").read_text(encoding="utf-8"))
    sections = [_headline(run)]
    if run.stages:
        sections += [_charts(run), _rates(run), _configurations(run), _redesigns(run)]
    return template.substitute(title=escape(run.name), content="\n".join(sections))


def _headline(run: RunData) -> str:
    model = escape(run.recipe.policy.model)
    facts = f"recipe {escape(run.recipe.name)}, seed {run.recipe.seed}, model {model}, {run.recipe.rounds} rounds"
    notice = "" if run.finished else '<p class="notice">This run is not finished: this is what it has so far.</p>'
    if run.gain is None:
        return f"<h1>{escape(run.name)}</h1><p>{facts}</p>{notice}"
    difference, low, high = (100 * number for number in run.gain)
    first, last = run.stages[0].overall, run.stages[-1].overall
    return (
        f"<h1>{escape(run.name)}</h1><p>{facts}</p>{notice}"
        f'<p class="verdict">Valid rate on {first.rollouts} fixed tasks: <b>{percent(first.valid_rate)}%</b> (base) '
        f"&rarr; <b>{percent(last.valid_rate)}%</b> ({escape(run.stages[-1].title)}), "
        f"<b>{difference:+.1f}</b> points, 95% interval {low:+.1f} to {high:+.1f}.</p><p>{reading(run)}</p>"
    )


def _charts(run: RunData) -> str:
    ticks = [stage.title for stage in run.stages]
    overall = line_chart(
        "valid and optimal rate, with 95% intervals", ticks, [_series(run, "valid"), _series(run, "optimal")]
    )
    failed = stacked_bars("failures by kind (counts)", ticks, [stage.overall.failures for stage in run.stages])
    by_source = {source: [_series(run, what, source) for what in ("valid", "optimal")] for source in run.sources}
    scale = scale_of([one for series in by_source.values() for one in series])
    word = source_word(run)
    small = [
        line_chart(f"{word} {source}", ticks, series, width=300, height=190, scale=scale)
        for source, series in by_source.items()
    ]
    return (
        f'<h2>Rates per round</h2><div class="row">{overall}{failed}</div>'
        f'<h2>Rates per round and {word}</h2><div class="row small">{"".join(small)}</div>'
    )


def _series(run: RunData, what: str, source: str | None = None) -> Series:
    scores = [stage.of_source(source) if source else stage.overall for stage in run.stages]
    counts = [score.valid if what == "valid" else score.optimal for score in scores]
    pairs = list(zip(counts, scores, strict=True))
    return Series(
        what,
        [score.rate(count) for count, score in pairs],
        [wilson_interval(count, score.rollouts) for count, score in pairs],
    )


def _signal(run: RunData) -> str:
    scores = [(stage.title, stage.evidence.overall) for stage in run.stages if stage.evidence]
    trained = [(title, score) for title, score in scores if score.groups]
    if not trained:
        return ""
    series = Series(
        "no signal",
        [score.no_signal_rate for _, score in trained],
        [wilson_interval(score.groups_without_signal, score.groups) for _, score in trained],
    )
    titles = [title for title, _ in trained]
    return line_chart("training groups without signal (all rewards equal)", titles, [series], height=180)


def _rates(run: RunData) -> str:
    grids = (rates_by_source(run), rates_overall(run), *rates_by_tag(run))
    return f"<h2>Tables</h2>{''.join(_table(grid) for grid in grids)}"


def _configurations(run: RunData) -> str:
    stages = [(stage.title, stage.configuration) for stage in run.stages if stage.configuration]
    if not stages:
        return ""
    sources = list(stages[0][1])
    head = "".join(f"<th>{escape(source)}</th>" for source in sources)
    blocks: list[str] = []
    for knob in next(iter(stages[0][1].values())):
        peak = max(table[source][knob] for _, table in stages for source in sources) or 1.0
        rows = "".join(
            f"<tr><th>{escape(title)}</th>{''.join(_heat(table[source][knob], peak) for source in sources)}</tr>"
            for title, table in stages
        )
        blocks.append(f"<table><caption>{escape(knob)}</caption><tr><th></th>{head}</tr>{rows}</table>")
    content = "".join(blocks) + _signal(run)
    return f'<h2>Configuration of each round</h2><div class="row top">{content}</div>'


def _heat(value: float, peak: float) -> str:
    return f'<td style="background: rgb(0 114 178 / {0.55 * value / peak:.2f})">{value:.2f}</td>'


def _redesigns(run: RunData) -> str:
    parts = [_redesign(stage, source_word(run)) for stage in run.stages if stage.redesign]
    return f"<h2>The engineer</h2>{''.join(parts)}" if parts else ""


def _candidate(candidate: Candidate) -> str:
    outcome = candidate.note if candidate.score is None else f"{candidate.rule} {candidate.score:.3f}"
    cost = f", {candidate.tokens} tokens probed" if candidate.tokens else ""
    return f"{candidate.number}: {outcome}{cost}{' (kept)' if candidate.chosen else ''}"


def _redesign(stage: Stage, word: str) -> str:
    redesign = stage.redesign
    assert redesign is not None
    proposal = redesign.proposal
    reasons = "".join(f"<li>{escape(source)}: {escape(reason)}</li>" for source, reason in proposal.reasons.items())
    corrections = "".join(
        f"<li>{escape(c.source)}.{escape(c.knob)}: {c.proposed:.3g} &rarr; {c.became:.3g} ({escape(c.reason)})</li>"
        for c in redesign.corrections
    )
    notes = "".join(f"<li>{escape(setback_note(setback, word))}</li>" for setback in stage.setbacks)
    candidates = "".join(f"<li>{escape(_candidate(candidate))}</li>" for candidate in proposal.candidates)
    answers = "".join(
        f"<p>answer {number}: {escape('unusable: ' + attempt.error) if attempt.error else 'usable'}, "
        f"{attempt.tokens} tokens, {attempt.seconds:.1f} s</p><pre>{escape(attempt.text)}</pre>"
        for number, attempt in enumerate(proposal.attempts, start=1)
    )
    context = f"<details><summary>context</summary><pre>{escape(proposal.context)}</pre></details>" if answers else ""
    return (
        f"<section><h3>after {escape(stage.title)}: {escape(redesign.status)}</h3>"
        f"{'<p>guardrails</p><ul>' + notes + '</ul>' if notes else ''}"
        f"{'<p>candidates</p><ul>' + candidates + '</ul>' if candidates else ''}"
        f"{'<p>reasons</p><ul>' + reasons + '</ul>' if reasons else ''}"
        f"{'<p>corrections</p><ul>' + corrections + '</ul>' if corrections else ''}"
        f"{context}{answers}</section>"
    )


def _table(grid: Grid) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in grid.header)
    rows = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in grid.rows)
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    table = f'<table class="rates"><tr>{head}</tr>{body}</table>'
    return f'<h3>{escape(grid.title)}</h3><div class="wide">{table}</div>'
