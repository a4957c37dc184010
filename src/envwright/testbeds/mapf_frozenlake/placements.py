"""A* over whole placements (Hart et al. 1968): the exact search for crowded small boards.

Where almost every cell is taken, plans are long shuffles: deadlines near the shortest paths say nothing, but the
placements are few enough to look at all of them. A state is a placement and the set of agents that have parked, which
stand on their goal for good and cost nothing more.
"""

from collections.abc import Iterator

from envwright.testbeds.mapf_frozenlake.distances import FAR, Board
from envwright.testbeds.mapf_frozenlake.instance import Objective
from envwright.testbeds.mapf_frozenlake.joint_search import Budget
from envwright.testbeds.mapf_frozenlake.trails import Best, States, Trail

State = tuple[States, int]
"""Cells of all agents, and a bit per parked agent."""


class PlacementSearch:
    """The search on one board.

    Args:
        board: the board with all its agents.
        budget: each expanded state spends one.
    """

    def __init__(self, board: Board, budget: Budget) -> None:
        self.board = board
        self.budget = budget
        self.distance = [board.distances(goal) for goal in board.goals]
        self.shortest = tuple(d[cell] for d, cell in zip(self.distance, board.starts, strict=True))
        self.everyone = (1 << len(board.starts)) - 1

    def best(self, objective: Objective, waits: bool = True, limit: int = FAR - 1) -> Best | None:
        """Returns the optimum with a plan, or None when there is no plan, or none within the limit.

        Args:
            objective: what is minimised.
            waits: whether an agent may wait before it has parked.
            limit: the largest value of interest.

        Raises:
            OutOfBudget: the budget is spent first.
        """
        if FAR in self.shortest:
            return None
        start: State = (self.board.starts, 0)
        cost: dict[State, int] = {start: 0}
        before: dict[State, State] = {}
        waiting: dict[int, list[State]] = {self._estimate(objective, start): [start]}
        while waiting:
            value = min(waiting)
            if value > limit:
                return None
            bucket = waiting[value]
            while bucket:
                state = bucket.pop()
                if cost[state] + self._estimate(objective, state) < value:
                    continue  # reached more cheaply since
                if state[1] == self.everyone:
                    return Best(value, self._trail(before, state))
                self.budget.spend()
                for following, price in self._following(objective, state, waits):
                    reached = cost[state] + price
                    if reached < cost.get(following, FAR):
                        cost[following], before[following] = reached, state
                        estimate = reached + self._estimate(objective, following)
                        waiting.setdefault(estimate, []).append(following)
            del waiting[value]
        return None

    def _estimate(self, objective: Objective, state: State) -> int:
        cells, parked = state
        to_go = [d[cell] for n, (d, cell) in enumerate(zip(self.distance, cells, strict=True)) if not parked >> n & 1]
        if not to_go:
            return 0
        return sum(to_go) if objective is Objective.SUM_OF_COSTS else max(to_go)

    def _following(self, objective: Objective, state: State, waits: bool) -> Iterator[tuple[State, int]]:
        cells, parked = state
        for number, (cell, goal) in enumerate(zip(cells, self.board.goals, strict=True)):
            if cell == goal and not parked >> number & 1:
                yield (cells, parked | 1 << number), 0
        under_way = (self.everyone ^ parked).bit_count()
        price = under_way if objective is Objective.SUM_OF_COSTS else 1
        for after in self._steps(cells, parked, waits, ()):
            yield (after, parked), price

    def _steps(self, cells: States, parked: int, waits: bool, chosen: States) -> Iterator[States]:
        """Yields the placements one step on, agent by agent."""
        number = len(chosen)
        if number == len(cells):
            yield chosen
            return
        cell = cells[number]
        if parked >> number & 1:
            targets: States = (cell,)
        else:
            targets = (*self.board.neighbours(cell), cell) if waits else self.board.neighbours(cell)
        for target in targets:
            if target in chosen:
                continue
            other = cells.index(target) if target in cells else number
            if other < number and chosen[other] == cell:
                continue  # an exchange
            yield from self._steps(cells, parked, waits, (*chosen, target))

    def _trail(self, before: dict[State, State], state: State) -> Trail:
        placements = [state[0]]
        while state in before:
            state, later = before[state], state
            if state[1] == later[1]:  # a step, not the parking of an agent
                placements.append(state[0])
        return Trail(placements[::-1])
