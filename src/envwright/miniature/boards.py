"""Board lessons for the miniature: the project's real prompts with plans of the exact solver as answers."""

import random
from collections.abc import Iterator

from envwright.seeds import derive_seed
from envwright.testbeds.mapf_frozenlake.answer import format_cells
from envwright.testbeds.mapf_frozenlake.instance import Instance, Objective
from envwright.testbeds.mapf_frozenlake.prompt import task_messages
from envwright.testbeds.mapf_frozenlake.proposals import Grid, contested_board, plain_board
from envwright.testbeds.mapf_frozenlake.solver import solve

AGENT_WEIGHTS = {2: 0.84, 3: 0.10, 4: 0.06}
SIZE_WEIGHTS = {3: 1.0, 4: 1.5, 5: 1.5, 6: 1.5, 7: 1.0, 8: 1.0, 9: 0.7, 10: 0.7}
CONTESTED_SHARE = 0.5
LARGEST_HOLE_RATIO = 0.5
CELLS_PER_AGENT = 3
"""Crowded small boards are mostly unsolvable: each agent gets that many free cells."""

SOLVER_BUDGET = 300
"""Boards that take more work are left out: a lesson needs no hard board, and there are many."""


def board_lessons(count: int, seed: int) -> Iterator[tuple[str, str]]:
    """Yields `count` pairs of (prompt text, answer in the cell form), over all sizes, holes and 2 to 4 agents."""
    generator = random.Random(derive_seed("miniature boards", seed))
    given = 0
    while given < count:
        instance = _draw(generator)
        if instance is None:
            continue
        solution = solve(instance, Objective.SUM_OF_COSTS, SOLVER_BUDGET)
        if solution.paths is not None:
            given += 1
            yield task_messages(instance)[0]["content"], format_cells(solution.paths)


def _draw(generator: random.Random) -> Instance | None:
    """Returns a board on which paths cross at one time, or a plain one; None if the proposal found none."""
    agents, size = _choice(generator, AGENT_WEIGHTS), _choice(generator, SIZE_WEIGHTS)
    room = size * size - CELLS_PER_AGENT * agents
    holes = min(round(generator.uniform(0, LARGEST_HOLE_RATIO) * size * size), room)
    grid = Grid.draw(size, max(0, holes), generator)
    if generator.random() >= CONTESTED_SHARE:
        return plain_board(grid, agents, generator)
    return contested_board(grid, agents, generator, delay=generator.choice((0, 0, 1)), equal_length=False)


def _choice(generator: random.Random, weights: dict[int, float]) -> int:
    return generator.choices(list(weights), list(weights.values()))[0]
