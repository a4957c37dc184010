"""Random boards for tests."""

import random

from envwright.testbeds.mapf_frozenlake.instance import Instance


def random_board(size: int, agents: int, holes: int, generator: random.Random) -> Instance:
    """Returns a board with that many holes, which may well have no plan."""
    cells = [(row, column) for row in range(size) for column in range(size)]
    generator.shuffle(cells)
    free = cells[holes:]
    while True:
        starts, goals = generator.sample(free, agents), generator.sample(free, agents)
        if all(start != goal for start, goal in zip(starts, goals, strict=True)):
            return Instance(size, tuple(cells[:holes]), tuple(starts), tuple(goals))
