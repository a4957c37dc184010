"""Engineering dialogues for the miniature: random evidence, and answers that follow the guideline by local edits.

The contexts are the real ones (every preset), the answers have the real format. What varies at random: sizes, round,
configuration, rates and failures, the wording, and the size of each edit. The evidence is invented, so nothing about
any real run leaks into the model; the miniature learns the trade of reading a table and editing a configuration.
"""

import random
from collections.abc import Iterator

from envwright.configuration import format_table
from envwright.diagnosis.context import PRESETS, ContextSettings, render_context
from envwright.engineer import Bookkeeping, Evidence, RoundEvidence, Score, Table
from envwright.testbeds.mapf_frozenlake.testbed import MapfFrozenLake, MapfSettings

FAILURES = ("parse", "illegal_move", "hole", "conflict", "goal")
SOURCE_RANGES = (
    (3, 4),
    (3, 5),
    (3, 6),
    (3, 6),
    (3, 6),
    (3, 7),
    (3, 8),
    (3, 10),
    (4, 6),
    (4, 7),
    (4, 8),
    (5, 8),
    (6, 10),
)
MASTERED, TOO_HARD = 0.65, 0.25
SMALLEST_SHARE = 0.02

WORDING = {
    "mastered": (
        "valid {valid}: mastered, less of it, more holes",
        "valid {valid} is solved: fewer boards, and harder ones",
    ),
    "frontier": (
        "valid {valid}: at the frontier, more of it",
        "valid {valid} gives signal: give it more boards",
    ),
    "too hard": (
        "valid {valid}: too hard, less of it, fewer holes",
        "valid {valid} is out of reach: fewer boards, and easier ones",
    ),
}
"""The rate comes first: the miniature reads it off, then judges what it has just written."""

SHARE_FACTORS = {"mastered": (0.6, 0.8), "frontier": (1.3, 1.5), "too hard": (0.7, 0.9)}
HOLE_STEPS = {"mastered": (0.05, 0.10), "frontier": (0.0, 0.0, 0.05), "too hard": (-0.10, -0.05)}
WAIT_STEPS = {"mastered": (0.05, 0.10), "frontier": (0.0, 0.05), "too hard": (-0.10, -0.05)}


def dialogues(count: int, seed: int) -> Iterator[tuple[str, str]]:
    """Yields `count` pairs of (context, answer), the presets in turn."""
    generator = random.Random(seed)
    presets = list(PRESETS)
    for index in range(count):
        evidence = random_evidence(generator)
        yield context(evidence, presets[index % len(presets)]), answer(evidence, generator)


def context(evidence: Evidence, preset: str) -> str:
    """Returns the real context for the evidence."""
    sizes = tuple(int(source) for source in evidence.current.by_source)
    return render_context(evidence, MapfFrozenLake(MapfSettings(sizes=sizes)), ContextSettings(modules=preset))


def random_evidence(generator: random.Random) -> Evidence:
    """Returns invented evidence over a random range of sizes."""
    first, last = generator.choice(SOURCE_RANGES)
    sources = tuple(str(size) for size in range(first, last + 1))
    rounds = generator.choice((2, 3, 3, 3, 3, 4))
    current = generator.randrange(rounds - 1)
    skill = generator.uniform(0.0, 1.0)
    history = [_round(index, rounds, sources, skill, generator) for index in range(current + 1)]
    bookkeeping = Bookkeeping(
        round_index=current,
        rounds=rounds,
        epochs=generator.choice((1, 1, 2, 2, 3)),
        samples_per_round=generator.choice((256, 512, 768, 1024, 1280, 1536, 2048, 4000)),
    )
    return Evidence(current=history[-1], earlier=tuple(history[:-1]), bookkeeping=bookkeeping)


def _round(index: int, rounds: int, sources: tuple[str, ...], skill: float, generator: random.Random) -> RoundEvidence:
    boards = generator.choice((25, 40, 50, 60, 80, 100, 120, 150))
    level = skill + 0.1 * index / rounds
    scores = {source: _score(int(source), boards, level, generator) for source in sources}
    table = _random_table(sources, generator)
    splits = {
        f"{source}/{value}": _part(scores[source], share)
        for source in sources
        for value, share in (("True", generator.uniform(0.3, 0.5)), ("False", 0.5))
    }
    return RoundEvidence(
        round_index=index,
        configuration=table,
        overall=_sum(list(scores.values())),
        by_source=scores,
        by_tag={"wait": splits},
        reasons=_reasons(scores, generator) if index else {},
    )


def _score(size: int, boards: int, level: float, generator: random.Random) -> Score:
    """Returns a score whose valid rate falls with the size from about the level, with noise."""
    rate = min(0.98, max(0.0, level + 0.15 - generator.uniform(0.04, 0.16) * (size - 3) + generator.gauss(0, 0.08)))
    valid = sum(generator.random() < rate for _ in range(boards))
    failures: dict[str, int] = dict.fromkeys(FAILURES, 0)
    weights = [generator.random() ** 2 + 0.01 for _ in FAILURES]
    for kind in generator.choices(FAILURES, weights, k=boards - valid):
        failures[kind] += 1
    groups = generator.choice((0, boards, 2 * boards))
    without_signal = int(groups * min(1.0, abs(rate - 0.5) * generator.uniform(0.8, 1.9)))
    return Score(
        rollouts=boards,
        valid=valid,
        optimal=int(valid * generator.uniform(0.5, 1.0)),
        parsed=boards - failures["parse"],
        failures=failures,
        mean_tokens=generator.uniform(10, 60),
        groups=groups,
        groups_without_signal=without_signal,
    )


def _part(score: Score, share: float) -> Score:
    rollouts = score.rollouts // 2
    return Score(rollouts=rollouts, valid=min(rollouts, int(score.valid * share)))


def _sum(scores: list[Score]) -> Score:
    return Score(
        rollouts=sum(score.rollouts for score in scores),
        valid=sum(score.valid for score in scores),
        optimal=sum(score.optimal for score in scores),
        parsed=sum(score.parsed for score in scores),
        failures={kind: sum(score.failures[kind] for score in scores) for kind in FAILURES},
        groups=sum(score.groups for score in scores),
        groups_without_signal=sum(score.groups_without_signal for score in scores),
    )


def _random_table(sources: tuple[str, ...], generator: random.Random) -> Table:
    uniform = generator.random() < 0.3
    weights = [1.0 if uniform else generator.uniform(0.2, 1.5) for _ in sources]
    holes, waits = generator.uniform(0.1, 0.4), generator.uniform(0.2, 0.7)
    spread = 0.0 if uniform else 0.12
    return {
        source: {
            "data_ratio": max(SMALLEST_SHARE, round(weight / sum(weights), 2)),
            "hole_ratio": _step(holes, generator.uniform(-spread, spread), 0.5),
            "wait_ratio": _step(waits, generator.uniform(-spread, spread), 1.0),
        }
        for source, weight in zip(sources, weights, strict=True)
    }


def _step(value: float, change: float, upper: float) -> float:
    return round(min(upper, max(0.0, value + change)), 2)


def answer(evidence: Evidence, generator: random.Random) -> str:
    """Returns an answer in the asked format; reasons come first, as a small model must decide before it edits."""
    current = evidence.current
    judgements = {source: judge(score) for source, score in current.by_source.items()}
    reasons = [f'  {source}: "{reason}"' for source, reason in _reasons(current.by_source, generator).items()]
    table = _edited(current.configuration, judgements, generator)
    return "\n".join(("```yaml", "reasons:", *reasons, format_table(table), "```"))


def _reasons(scores: dict[str, Score], generator: random.Random) -> dict[str, str]:
    style = generator.randrange(2)
    return {
        source: WORDING[judge(score)][style].format(valid=f"{score.valid_rate:.2f}") for source, score in scores.items()
    }


def judge(score: Score) -> str:
    """Returns where a size stands: mastered, at the frontier, or too hard."""
    if score.valid_rate >= MASTERED:
        return "mastered"
    return "too hard" if score.valid_rate < TOO_HARD else "frontier"


def _edited(table: Table, judgements: dict[str, str], generator: random.Random) -> Table:
    factors = {source: generator.choice(SHARE_FACTORS[judgement]) for source, judgement in judgements.items()}
    total = sum(table[source]["data_ratio"] * factor for source, factor in factors.items())
    return {
        source: {
            "data_ratio": max(SMALLEST_SHARE, round(table[source]["data_ratio"] * factors[source] / total, 2)),
            "hole_ratio": _step(table[source]["hole_ratio"], generator.choice(HOLE_STEPS[judgement]), 0.5),
            "wait_ratio": _step(table[source]["wait_ratio"], generator.choice(WAIT_STEPS[judgement]), 1.0),
        }
        for source, judgement in judgements.items()
    }
