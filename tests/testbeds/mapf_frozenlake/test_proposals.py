import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envwright.testbeds.mapf_frozenlake.instance import Cell, Instance
from envwright.testbeds.mapf_frozenlake.proposals import Grid, contested_board, plain_board
from envwright.testbeds.mapf_frozenlake.solver import analyse

SEEDS = st.integers(0, 10_000)


def all_shortest_paths(board: Instance, agent: int) -> list[list[Cell]]:
    free = {(r, c) for r in range(board.size) for c in range(board.size)} - set(board.holes)
    paths = [[board.starts[agent]]]
    while paths and not any(path[-1] == board.goals[agent] for path in paths):
        paths = [
            [*path, cell]
            for path in paths
            for row, column in [path[-1]]
            for cell in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1))
            if cell in free and cell not in path
        ]
    return [path for path in paths if path[-1] == board.goals[agent]]


def contested(seed: int, size: int = 4, agents: int = 2, delay: int = 0, equal_length: bool = False) -> Instance:
    rng = random.Random(seed)
    while True:
        board = contested_board(Grid.draw(size, size, rng), agents, rng, delay=delay, equal_length=equal_length)
        if board is not None:
            return board


@given(seed=SEEDS, size=st.integers(3, 10), share=st.floats(0.0, 0.5))
def test_grid_draw__has_exactly_the_asked_holes(seed: int, size: int, share: float):
    holes = round(share * size * size)
    grid = Grid.draw(size, holes, random.Random(seed))
    assert grid.free.bit_count() == size * size - holes


@given(seed=SEEDS, agents=st.integers(2, 5))
def test_plain_board__keeps_holes_and_agents_and_joins_each_start_to_its_goal(seed: int, agents: int):
    rng = random.Random(seed)
    board = plain_board(Grid.draw(4, 4, rng), agents, rng)
    if board is not None:
        assert (board.agents, len(board.holes)) == (agents, 4)
        assert all(all_shortest_paths(board, agent) for agent in range(agents))


def common_cells(board: Instance, delay: int) -> set[Cell]:
    """Cells that both agents pass on every shortest path, agent 1 `delay` steps after agent 0 or the reverse."""
    first, second = all_shortest_paths(board, 0), all_shortest_paths(board, 1)
    return {
        cell
        for early, late in ((first, second), (second, first))
        for time, cell in enumerate(early[0])
        if all(path[time] == cell for path in early)
        and all(len(path) > time + delay and path[time + delay] == cell for path in late)
    }


@pytest.mark.parametrize("delay", [0, 1, 2])
@given(seed=SEEDS)
def test_contested_board__sends_every_shortest_path_of_two_agents_through_one_cell(delay: int, seed: int):
    assert common_cells(contested(seed, delay=delay), delay)


@given(seed=SEEDS)
def test_contested_board__with_equal_length_differs_by_one_step_at_most(seed: int):
    board = contested(seed, equal_length=True)
    lengths = [len(all_shortest_paths(board, agent)[0]) for agent in range(2)]
    assert abs(lengths[0] - lengths[1]) <= 1


@given(seed=SEEDS, agents=st.integers(3, 5))
def test_contested_board__with_equal_length_adds_no_longer_agent(seed: int, agents: int):
    board = contested(seed, agents=agents, equal_length=True)
    lengths = sorted(len(all_shortest_paths(board, agent)[0]) for agent in range(agents))
    assert lengths[-1] - lengths[-2] <= 1


def test_contested_board__without_room_is_none():
    two_lonely_cells = Grid(3, 0b1 | 0b1 << 10)
    assert contested_board(two_lonely_cells, 2, random.Random(0), delay=0, equal_length=False) is None
    assert plain_board(two_lonely_cells, 2, random.Random(0)) is None


def test_plain_board__is_a_pure_function_of_the_generator():
    boards = []
    for _ in range(2):
        rng = random.Random(7)
        boards.append(plain_board(Grid.draw(6, 10, rng), 3, rng))
    assert boards[0] == boards[1]


@given(seed=SEEDS, agents=st.integers(2, 3))
def test_plain_board__with_crossing_drops_only_boards_on_which_nobody_has_to_wait(seed: int, agents: int):
    grid = Grid.draw(4, seed % 8, random.Random(seed))
    board = plain_board(grid, agents, random.Random(seed))
    if board is not None and plain_board(grid, agents, random.Random(seed), crossing=True) is None:
        truth = analyse(board).truth
        assert truth is not None
        assert not truth.needs_wait_sum_of_costs
        assert not truth.needs_wait_makespan
