"""Board lessons for the miniature: the project's real prompts with plans of the exact solver as answers."""

import random
from collections.abc import Callable, Iterator, Sequence

from envwright.seeds import derive_seed
from envwright.testbeds.mapf_frozenlake.answer import format_cells
from envwright.testbeds.mapf_frozenlake.generator import Stratum, draw_boards
from envwright.testbeds.mapf_frozenlake.instance import Objective, SolvedInstance
from envwright.testbeds.mapf_frozenlake.prompt import task_messages
from envwright.testbeds.mapf_frozenlake.solver import solve

AGENT_WEIGHTS = {2: 0.80, 3: 0.13, 4: 0.07}
SIZE_WEIGHTS = {3: 1.0, 4: 1.5, 5: 1.5, 6: 1.5, 7: 1.0, 8: 1.0, 9: 0.7, 10: 0.7}
WAIT_SHARE = 0.35
LARGEST_HOLE_RATIO = 0.5


def board_lessons(
    count: int, seed: int, on_board: Callable[[int], None] = lambda done: None
) -> Iterator[tuple[str, str]]:
    """Yields `count` pairs of (prompt text, answer in the cell form)."""
    for solved in lesson_boards(count, seed, on_board):
        solution = solve(solved.instance, Objective.SUM_OF_COSTS)
        if solution.paths is not None:
            yield task_messages(solved.instance)[0]["content"], format_cells(solution.paths)


def lesson_boards(count: int, seed: int, on_board: Callable[[int], None]) -> list[SolvedInstance]:
    """Returns boards over all sizes, 2 to 4 agents and the whole range of holes."""
    generator = random.Random(derive_seed("miniature strata", seed))
    strata = [_stratum(generator) for _ in range(count)]
    return draw_boards(strata, derive_seed("miniature boards", seed), allow_repeats=True, on_board=on_board)


def _stratum(generator: random.Random) -> Stratum:
    agents = _choice(generator, AGENT_WEIGHTS)
    size = _choice(generator, SIZE_WEIGHTS)
    # Crowded small boards are mostly unsolvable: leave each agent three cells.
    room = 1 - 3 * agents / (size * size)
    ratio = generator.uniform(0.0, max(0.0, min(LARGEST_HOLE_RATIO, room)))
    return Stratum.of(size, ratio, agents, generator.random() < WAIT_SHARE)


def _choice(generator: random.Random, weights: dict[int, float]) -> int:
    values: Sequence[int] = list(weights)
    return generator.choices(values, list(weights.values()))[0]
