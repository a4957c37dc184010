"""Conflict-Based Search (Sharon et al. 2015), the solver of the paper: sum of costs, one constraint at a time.

It is here for comparison: it agrees with the exact solver wherever it finishes, but it proves a board without a plan
only where a goal is out of reach, and crowded boards outgrow its constraint tree.
"""

import heapq
from dataclasses import dataclass
from itertools import combinations, count

from envwright.testbeds.mapf_frozenlake.distances import FAR, Board
from envwright.testbeds.mapf_frozenlake.instance import Instance
from envwright.testbeds.mapf_frozenlake.solver import Solution, Status

DEFAULT_NODES = 10_000
"""Nodes of the constraint tree after which the search gives up."""

ANYWHERE = -1

Path = list[int]
Constraint = tuple[int, int, int]
"""(time, from, to): an agent may not be in `to` at the time when it comes from there; `ANYWHERE` forbids the cell."""


@dataclass(frozen=True)
class Conflict:
    """Two agents in one cell at a time, or exchanging two; either constraint resolves it."""

    agents: tuple[int, int]
    constraints: tuple[Constraint, Constraint]


def conflict_based_search(instance: Instance, nodes: int = DEFAULT_NODES) -> Solution:
    """Returns a plan of least sum of costs; undecided when the node limit is reached.

    Args:
        instance: the board.
        nodes: how many nodes of the constraint tree may be expanded; the solution's `work` counts them.
    """
    board = Board(instance)
    distances = [board.distances(goal) for goal in board.goals]
    if any(distance[start] >= FAR for distance, start in zip(distances, board.starts, strict=True)):
        return Solution(Status.UNSOLVABLE, None, None, 0)
    free: frozenset[Constraint] = frozenset()
    constraints = tuple(free for _ in board.starts)
    paths = [_shortest_path(board, agent, free, distances[agent]) for agent in range(len(board.starts))]
    order = count()
    waiting = [(_sum_of_costs(paths), next(order), paths, constraints)]
    for expanded in range(nodes):
        cost, _, paths, constraints = heapq.heappop(waiting)
        conflict = _first_conflict(paths)
        if conflict is None:
            cells = tuple(tuple(board.cell(cell) for cell in path) for path in paths)
            return Solution(Status.SOLVED, cost, cells, expanded)
        for agent, constraint in zip(conflict.agents, conflict.constraints, strict=True):
            more = constraints[agent] | {constraint}
            if path := _shortest_path(board, agent, more, distances[agent]):
                child = [*paths[:agent], path, *paths[agent + 1 :]]
                held = (*constraints[:agent], more, *constraints[agent + 1 :])
                heapq.heappush(waiting, (_sum_of_costs(child), next(order), child, held))
        if not waiting:
            return Solution(Status.UNSOLVABLE, None, None, expanded + 1)
    return Solution(Status.UNDECIDED, None, None, nodes)


def _sum_of_costs(paths: list[Path]) -> int:
    return sum(len(path) - 1 for path in paths)


def _shortest_path(board: Board, agent: int, constraints: frozenset[Constraint], distance: list[int]) -> Path:
    """Returns the low level's answer: the shortest path to the goal that may end there, or [] if none does."""
    start, goal = board.starts[agent], board.goals[agent]
    free_from = 1 + max((time for time, *place in constraints if place == [ANYWHERE, goal]), default=-1)
    waiting = [(distance[start], 0, start)]
    before: dict[tuple[int, int], int] = {(0, start): start}
    while waiting:
        _, minus_time, cell = heapq.heappop(waiting)  # of equal estimates the deepest first
        time = -minus_time
        if cell == goal and time >= free_from:
            return _way_back(before, time, cell)
        for target in (*board.neighbours(cell), cell):
            state = time + 1, target
            if (
                state in before
                or (time + 1, ANYWHERE, target) in constraints
                or (time + 1, cell, target) in constraints
            ):
                continue
            before[state] = cell
            heapq.heappush(waiting, (time + 1 + distance[target], -(time + 1), target))
    return []


def _way_back(before: dict[tuple[int, int], int], time: int, cell: int) -> Path:
    path = [cell]
    for moment in range(time, 0, -1):
        path.append(before[moment, path[-1]])
    return path[::-1]


def _first_conflict(paths: list[Path]) -> Conflict | None:
    for time in range(1, max(len(path) for path in paths)):
        now = [path[min(time, len(path) - 1)] for path in paths]
        then = [path[min(time - 1, len(path) - 1)] for path in paths]
        for a, b in combinations(range(len(paths)), 2):
            if now[a] == now[b]:
                return Conflict((a, b), ((time, ANYWHERE, now[a]), (time, ANYWHERE, now[a])))
            if now[a] == then[b] and now[b] == then[a]:
                return Conflict((a, b), ((time, then[a], now[a]), (time, then[b], now[b])))
    return None
