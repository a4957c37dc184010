"""The proof that a board has no plan at all.

With at most five agents every joint step is a series of single moves into free cells, or a turn of four agents that
fill a 2x2 block: a chain of followers can move one by one from its head, and a longer cycle of cells would need six
agents. So it is enough to search the placements that single moves and such turns lead to.
"""

import heapq
from collections.abc import Iterator
from itertools import combinations

from envwright.testbeds.mapf_frozenlake.distances import Board
from envwright.testbeds.mapf_frozenlake.instance import Objective
from envwright.testbeds.mapf_frozenlake.joint_search import Budget
from envwright.testbeds.mapf_frozenlake.trails import States
from envwright.testbeds.mapf_frozenlake.two_agents import TwoAgents

MOST_AGENTS = 5
"""The most agents for which single moves and turns of 2x2 blocks are all there is."""


def is_proved_unsolvable(board: Board, budget: Budget) -> bool:
    """Returns whether it is proved that no plan exists; False leaves it open only for more than `MOST_AGENTS` agents.

    Raises:
        OutOfBudget: the budget is spent first.
    """
    pairs = combinations(range(len(board.starts)), 2)
    if any(TwoAgents(board, pair).optimum(Objective.MAKESPAN) is None for pair in pairs):
        return True
    return len(board.starts) <= MOST_AGENTS and not _can_arrive(board, budget)


def _can_arrive(board: Board, budget: Budget) -> bool:
    distances = [board.distances(goal) for goal in board.goals]

    def to_go(cells: States) -> int:
        return sum(distance[cell] for distance, cell in zip(distances, cells, strict=True))

    waiting, seen = [(to_go(board.starts), board.starts)], {board.starts}
    while waiting:
        left, cells = heapq.heappop(waiting)
        if left == 0:
            return True
        budget.spend()
        for following in _following(board, cells):
            if following not in seen:
                seen.add(following)
                heapq.heappush(waiting, (to_go(following), following))
    return False


def _following(board: Board, cells: States) -> Iterator[States]:
    for agent, cell in enumerate(cells):
        for target in board.neighbours(cell):
            if target not in cells:
                yield (*cells[:agent], target, *cells[agent + 1 :])
    if len(cells) >= 4:
        for corner in cells:
            block = corner, corner + 1, corner + board.size + 1, corner + board.size
            if (corner + 1) % board.size and all(cell in cells for cell in block):
                for turned in (block[1:] + block[:1], block[-1:] + block[:-1]):
                    turn = dict(zip(block, turned, strict=True))
                    yield tuple(turn.get(cell, cell) for cell in cells)
