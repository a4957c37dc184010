"""An independent oracle for tests: plain Dijkstra over (cells, finished agents), nothing shared with the solver."""

import heapq
from itertools import product

from envwright.testbeds.mapf_frozenlake.instance import Cell, GroundTruth, Instance

State = tuple[tuple[Cell, ...], tuple[bool, ...]]


def brute_force(instance: Instance) -> GroundTruth | None:
    """Returns the ground truth of a small board, or None when no plan exists."""
    costs, makespan = _optimum(instance, True, True), _optimum(instance, False, True)
    if costs is None or makespan is None:
        return None
    return GroundTruth(
        costs,
        makespan,
        _optimum(instance, True, False) != costs,
        _optimum(instance, False, False) != makespan,
    )


def _optimum(instance: Instance, summed: bool, waits: bool) -> int | None:
    free = {(r, c) for r in range(instance.size) for c in range(instance.size)} - set(instance.holes)
    start: State = (instance.starts, (False,) * instance.agents)
    best = {start: 0}
    queue = [(0, start)]
    while queue:
        cost, state = heapq.heappop(queue)
        if cost > best[state]:
            continue
        if state[0] == instance.goals and all(state[1]):
            return cost
        for following in _finishings(instance, state):
            _offer(best, queue, cost, following)
        step = state[1].count(False) if summed else 1
        if step:
            for cells in _moves(state, free, waits):
                _offer(best, queue, cost + step, (cells, state[1]))
    return None


def _offer(best: dict[State, int], queue: list[tuple[int, State]], cost: int, state: State) -> None:
    if cost < best.get(state, 10**9):
        best[state] = cost
        heapq.heappush(queue, (cost, state))


def _finishings(instance: Instance, state: State) -> list[State]:
    cells, done = state
    return [
        (cells, (*done[:agent], True, *done[agent + 1 :]))
        for agent in range(instance.agents)
        if not done[agent] and cells[agent] == instance.goals[agent]
    ]


def _moves(state: State, free: set[Cell], waits: bool) -> list[tuple[Cell, ...]]:
    cells, done = state
    options: list[list[Cell]] = []
    for (row, column), finished in zip(cells, done, strict=True):
        around = [(row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1)]
        stay = [(row, column)] if finished or waits else []
        options.append(stay if finished else stay + [cell for cell in around if cell in free])
    return [after for after in product(*options) if _is_legal(cells, after)]


def _is_legal(before: tuple[Cell, ...], after: tuple[Cell, ...]) -> bool:
    if len(set(after)) < len(after):
        return False
    agents = range(len(after))
    return not any(after[a] == before[b] and after[b] == before[a] for a in agents for b in range(a))
