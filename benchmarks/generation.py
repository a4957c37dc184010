"""Generation: boards a second of the uniform configuration with two agents, on one core."""

import random
import time
from collections.abc import Sequence

from rich.console import Console
from rich.progress import track

from benchmarks.boards import SEED, draw
from benchmarks.solvers import Answer, Search, Solver, run
from benchmarks.table import Result, Value, percent
from envwright.seeds import derive_seed
from envwright.testbeds.mapf_frozenlake.generator import generate
from envwright.testbeds.mapf_frozenlake.instance import Instance
from envwright.testbeds.mapf_frozenlake.knobs import SIZES, MapfConfiguration, MapfKnobs
from envwright.testbeds.mapf_frozenlake.solver import Status, analyse

AGENTS = 2
HOLE_RATIO = 0.3
WAIT_RATIO = 0.5
WITHOUT_DROPPED = "boards/s, drops free"
GIVE_UP = 0.1
"""Seconds after which the rejection generator drops a board: a peer cannot tell that a board has no plan."""


def generation(boards: int, peers: Sequence[Solver], console: Console) -> list[Result]:
    """Returns one table: our generator, and plain rejection with our solver and with each peer's."""
    ours = _generated(20 * boards)
    rejections = [_rejected(solver, 2 * boards, console) for solver in (Solver("envwright analyse", _analyse), *peers)]
    rows = [ours, *rejections]
    for row in rows:
        row["generate / it"] = ours["boards/s"] / row["boards/s"]
        row["generate / it, drops free"] = ours["boards/s"] / row[WITHOUT_DROPPED]
    title = f"generation, sizes 3 to 10, {AGENTS} agents, {HOLE_RATIO:.0%} holes, one core"
    return [
        Result(
            title,
            rows,
            [
                f"envwright generate: both optima and both wait labels, {WAIT_RATIO:.0%} of the boards need a wait",
                "rejection: plain draws and one optimum (analyse: all labels), whatever waits they need",
                f"rejection drops a board that is unsolvable or not solved in {GIVE_UP:g} s: a peer cannot tell which",
                "drops free: without the time spent on dropped boards",
            ],
        )
    ]


def _generated(count: int) -> dict[str, Value]:
    share = 1 / len(SIZES)
    knobs = MapfKnobs(data_ratio=share, hole_ratio=HOLE_RATIO, wait_ratio=WAIT_RATIO)
    configuration = MapfConfiguration(sources={str(size): knobs for size in SIZES})
    generate(configuration, 2 * len(SIZES), SEED + 1, agents=AGENTS)  # warm-up
    begin = time.perf_counter()
    # Few boards of 3x3 need a wait, and a round may repeat them, as in training.
    made = generate(configuration, count, SEED, agents=AGENTS, allow_repeats=True)
    return _row("envwright generate", len(made), time.perf_counter() - begin, 0, 0.0)


def _rejected(solver: Solver, count: int, console: Console) -> dict[str, Value]:
    run(solver, draw(SIZES[0], HOLE_RATIO, AGENTS, random.Random(SEED)), GIVE_UP)  # warm-up
    name = f"rejection + {solver.name}"
    dropped, wasted = 0, 0.0
    begin = time.perf_counter()
    for index in track(range(count), name, console=console):
        size = SIZES[index % len(SIZES)]
        rng = random.Random(derive_seed("benchmark rejection", SEED, index))  # what one drops moves no other board
        while (outcome := run(solver, draw(size, HOLE_RATIO, AGENTS, rng), GIVE_UP)).status is not Status.SOLVED:
            dropped += 1
            wasted += outcome.seconds
    return _row(name, count, time.perf_counter() - begin, dropped, wasted)


def _analyse(board: Instance, limit: float) -> Search:
    def search() -> Answer:
        return analyse(board).status, None

    return search


def _row(name: str, boards: int, seconds: float, dropped: int, wasted: float) -> dict[str, Value]:
    return {
        "generator": name,
        "boards": boards,
        "s": seconds,
        "boards/s": boards / seconds,
        "dropped %": percent(dropped, boards + dropped),
        WITHOUT_DROPPED: boards / (seconds - wasted),
    }
