"""Invented evidence for the engineering dialogues: nothing about any real run leaks into the miniature."""

import random

from envwright.diagnosis.setbacks import EVERYTHING, Setback, setback_note
from envwright.engineer import Bookkeeping, Evidence, RoundEvidence, Score, Table
from envwright.miniature.teacher import reasons, step
from envwright.testbeds.mapf_frozenlake.testbed import MapfFrozenLake

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
SMALLEST_SHARE = 0.02
NOTED_SHARE = 0.15


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
    notes = _notes(current, sources, generator) if current and generator.random() < NOTED_SHARE else ()
    return Evidence(current=history[-1], earlier=tuple(history[:-1]), bookkeeping=bookkeeping, notes=notes)


def _notes(current: int, sources: tuple[str, ...], generator: random.Random) -> tuple[str, ...]:
    """Returns invented notes in the words of the guardrails."""
    scopes = generator.sample((EVERYTHING, *sources), generator.choice((1, 1, 2)))
    notes: list[str] = []
    for scope in scopes:
        best, fall = generator.uniform(0.3, 0.9), generator.uniform(0.05, 0.25)
        setback = Setback(
            scope=scope,
            round_index=current,
            rate=best - fall,
            best_round=generator.randrange(current),
            best_rate=best,
            difference=-fall,
            low=-fall - 0.05,
            high=-fall + 0.05,
        )
        notes.append(setback_note(setback, MapfFrozenLake.source_word))
    return tuple(notes)


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
        reasons=reasons(scores, generator) if index else {},
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
    holes, waits = generator.uniform(0.05, 0.4), generator.uniform(0.05, 0.7)
    spread = 0.0 if uniform else 0.12
    return {
        source: {
            "data_ratio": max(SMALLEST_SHARE, round(weight / sum(weights), 2)),
            "hole_ratio": step(holes, generator.uniform(-spread, spread), 0.5),
            "wait_ratio": step(waits, generator.uniform(-spread, spread), 1.0),
        }
        for source, weight in zip(sources, weights, strict=True)
    }
