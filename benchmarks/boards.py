"""Boards to measure on: plain random draws, fixed by a seed, in which every goal can be reached from its start."""

import random
from collections.abc import Iterator

from envwright.seeds import derive_seed
from envwright.testbeds.mapf_frozenlake.instance import Instance
from envwright.testbeds.mapf_frozenlake.proposals import Grid, plain_board

SEED = 2606
HOLE_RATIOS = (0.1, 0.2, 0.3, 0.4, 0.5)
SIZES = tuple(range(3, 11))
AGENTS = (2, 3, 4, 5)


def mixed_boards() -> Iterator[Instance]:
    """Yields boards of all sizes, agents and hole ratios without end; a board is at least as wide as it has agents."""
    rng = random.Random(derive_seed("benchmark mixed", SEED))
    while True:
        agents = rng.choice(AGENTS)
        size = rng.choice([size for size in SIZES if size >= agents])
        yield draw(size, rng.choice(HOLE_RATIOS), agents, rng)


def cell_boards(size: int, hole_ratio: float, agents: int) -> Iterator[Instance]:
    """Yields boards of one kind without end."""
    rng = random.Random(derive_seed("benchmark cell", SEED, size, hole_ratio, agents))
    while True:
        yield draw(size, hole_ratio, agents, rng)


def draw(size: int, hole_ratio: float, agents: int, rng: random.Random) -> Instance:
    """Returns one board; solvable or not, since only the goals' reachability is looked at."""
    holes = round(hole_ratio * size * size)
    while True:
        if board := plain_board(Grid.draw(size, holes, rng), agents, rng):
            return board
