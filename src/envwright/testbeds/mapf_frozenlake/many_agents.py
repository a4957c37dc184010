"""Any number of agents, exactly: iterative deepening on the objective, agents that stay clear of each other apart.

Independent groups are solved on their own and merged only when their plans collide (independence detection, Standley
2010). Inside a group a depth-first search within the bound moves agent by agent; states that failed are remembered with
the slack they had. Every step that does not bring an agent nearer costs slack, so a tight bound means a small search.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations
from math import perm

from envwright.testbeds.mapf_frozenlake.distances import FAR, Board
from envwright.testbeds.mapf_frozenlake.instance import GroundTruth, Objective
from envwright.testbeds.mapf_frozenlake.two_agents import TwoAgents

Cells = tuple[int, ...]
Trail = list[Cells]
"""The joint cells at each time."""

SLACK_BEFORE_PROOF = 4
"""Excess over the shortest paths at which solvability is proved before the bound is raised further."""

LARGEST_JOINT_SPACE = 100_000
"""Joint states up to which unsolvability is proved by visiting all that can be reached."""


class OutOfBudget(Exception):
    """The work budget is spent before the answer is known."""


@dataclass
class Budget:
    """Joint states that may still be expanded."""

    left: int

    def spend(self, amount: int = 1) -> None:
        """Counts work.

        Raises:
            OutOfBudget: nothing is left.
        """
        self.left -= amount
        if self.left < 0:
            raise OutOfBudget


@dataclass
class Group:
    """Some agents of a board, and the plans within a bound of their objective."""

    board: Board
    agents: tuple[int, ...]
    budget: Budget
    objective: Objective
    distances: list[list[int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.starts = tuple(self.board.starts[agent] for agent in self.agents)
        self.goals = tuple(self.board.goals[agent] for agent in self.agents)
        self.distances = [self.board.distances(goal) for goal in self.goals]
        self.summed = self.objective is Objective.SUM_OF_COSTS

    def least(self) -> int:
        """Returns the bound below which there can be no plan."""
        shortest = [d[s] for d, s in zip(self.distances, self.starts, strict=True)]
        return sum(shortest) if self.summed else max(shortest)

    def plan(self, bound: int, waits: bool) -> Trail | None:
        """Returns the joint cells of a plan within the bound, or None if there is none.

        Raises:
            OutOfBudget: the budget is spent.
        """
        failed: dict[tuple[Cells, int], int] = {}
        trail = [self.starts]
        slack = bound - self.least() if self.summed else bound
        return trail if self._descend(trail, 0, slack, waits, failed) else None

    def _descend(
        self, trail: Trail, finished: int, left: int, waits: bool, failed: dict[tuple[Cells, int], int]
    ) -> bool:
        """Extends the trail to the goals; `left` is the slack (sum of costs) or the steps that remain (makespan)."""
        cells = trail[-1]
        if cells == self.goals:
            return True
        if failed.get((cells, finished), -1) >= left:
            return False
        self.budget.spend()
        for following, mask, rest in self._steps(cells, finished, left, waits):
            trail.append(following)
            if self._descend(trail, mask, rest, waits, failed):
                return True
            trail.pop()
        failed[cells, finished] = left
        return False

    def _steps(self, cells: Cells, finished: int, left: int, waits: bool) -> Iterator[tuple[Cells, int, int]]:
        """Yields (next cells, finished agents, what remains) of every legal joint step within what is left."""
        options = [self._options(number, cells[number], finished, left, waits) for number in range(len(cells))]
        if not self.summed:
            left -= 1
        yield from self._combine(cells, options, (), finished, left)

    def _options(self, number: int, cell: int, finished: int, left: int, waits: bool) -> list[tuple[int, int, int]]:
        """Returns (cell, slack used, finished bit) for one agent, cheapest first."""
        distance = self.distances[number]
        if finished >> number & 1:
            return [(cell, 0, 1 << number)]
        here = distance[cell]
        # Where waiting is free and allowed, a finished agent is one that waits: no need to tell them apart.
        finishes = here == 0 and (self.summed or not waits)
        options = [(cell, 0, 1 << number)] if finishes else []
        for target in self.board.neighbours[cell]:
            options.append((target, 1 + distance[target] - here, 0))
        if waits:
            options.append((cell, 1, 0))
        if self.summed:
            options = [option for option in options if option[1] <= left]
        else:
            options = [(target, 0, bit) for target, _, bit in options if distance[target] <= left - 1]
        return sorted(options, key=lambda option: option[1])

    def _combine(
        self, cells: Cells, options: list[list[tuple[int, int, int]]], chosen: Cells, finished: int, left: int
    ) -> Iterator[tuple[Cells, int, int]]:
        number = len(chosen)
        if number == len(cells):
            yield chosen, finished, left
            return
        for target, used, bit in options[number]:
            if used > left:
                break
            if target in chosen or self._exchanges(cells, chosen, number, target):
                continue
            yield from self._combine(cells, options, (*chosen, target), finished | bit, left - used)

    def _exchanges(self, cells: Cells, chosen: Cells, number: int, target: int) -> bool:
        start = cells[number]
        return any(cells[other] == target and chosen[other] == start for other in range(number))

    def solvable(self) -> bool:
        """Returns False when it is proved that no plan exists; large boards get the benefit of the doubt.

        Raises:
            OutOfBudget: the budget is spent.
        """
        pairs = combinations(self.agents, 2)
        if not all(TwoAgents(self.board, pair).solvable() for pair in pairs):
            return False
        if perm(self.board.free.bit_count(), len(self.agents)) > LARGEST_JOINT_SPACE:
            return True
        seen, waiting = {self.starts}, [self.starts]
        while waiting:
            cells = waiting.pop()
            self.budget.spend()
            moves = [[(n, 0, 0) for n in (*self.board.neighbours[cell], cell)] for cell in cells]
            for following, _, _ in self._combine(cells, moves, (), 0, 0):
                if following == self.goals:
                    return True
                if following not in seen:
                    seen.add(following)
                    waiting.append(following)
        return False


@dataclass(frozen=True)
class Best:
    """The optimum of a group, with one plan."""

    value: int
    agents: tuple[int, ...]
    trail: Trail


@dataclass
class ManyAgents:
    """The search on one board.

    Attributes:
        board: the board with all its agents.
        budget: shared by all that is asked of this board.
    """

    board: Board
    budget: Budget

    def best(self, objective: Objective, waits: bool = True, slack: int = FAR) -> Best | None:
        """Returns the optimum and a plan, or None when there is no plan, or none within the slack.

        Args:
            objective: what is minimised.
            waits: whether an agent may wait before it has arrived for good.
            slack: how far a group may exceed what it would need alone.

        Raises:
            OutOfBudget: the budget is spent first.
        """
        everyone = range(len(self.board.starts))
        solved = [self._deepen((agent,), objective, waits, slack) for agent in everyone]
        while True:
            plans = [best for best in solved if best]
            if len(plans) < len(solved):
                return None
            clash = _first_clash(plans)
            if clash is None:
                values = [plan.value for plan in plans]
                value = sum(values) if objective is Objective.SUM_OF_COSTS else max(values)
                return Best(value, tuple(everyone), _joined(plans, len(everyone)))
            first, second = clash
            merged = tuple(sorted((*first.agents, *second.agents)))
            apart = [plan for plan in plans if plan not in clash]
            solved = [*apart, self._deepen(merged, objective, waits, slack)]

    def _deepen(self, agents: tuple[int, ...], objective: Objective, waits: bool, slack: int) -> Best | None:
        if len(agents) == 2:
            return self._pair((agents[0], agents[1]), objective, waits, slack)
        group = Group(self.board, agents, self.budget, objective)
        bound = least = group.least()
        while bound < FAR and bound <= least + slack:
            if trail := group.plan(bound, waits):
                return Best(bound, agents, trail)
            bound += 1
            if bound == least + SLACK_BEFORE_PROOF and not group.solvable():
                return None
        return None

    def _pair(self, agents: tuple[int, int], objective: Objective, waits: bool, slack: int) -> Best | None:
        search = TwoAgents(self.board, agents)
        value = search.optimum(objective, waits, search.least(objective) + slack)
        if value is None:
            return None
        first, second = search.paths(objective, value, waits)
        length = max(len(first), len(second))
        return Best(value, agents, [(_last(first, t), _last(second, t)) for t in range(length)])


def _last(path: list[int], time: int) -> int:
    return path[min(time, len(path) - 1)]


def _at(trail: Trail, time: int) -> Cells:
    return trail[min(time, len(trail) - 1)]


def _first_clash(plans: list[Best]) -> tuple[Best, Best] | None:
    pairs = combinations(plans, 2)
    return next(((one, other) for one, other in pairs if _clash(one.trail, other.trail)), None)


def _clash(one: Trail, other: Trail) -> bool:
    """Returns whether two plans ever share a cell or exchange two."""
    for time in range(max(len(one), len(other))):
        now_one, now_other = _at(one, time), _at(other, time)
        if set(now_one) & set(now_other):
            return True
        steps = set(zip(now_one, _at(one, time + 1), strict=True))
        if any((after, before) in steps for before, after in zip(now_other, _at(other, time + 1), strict=True)):
            return True
    return False


def _joined(plans: list[Best], agents: int) -> Trail:
    trail: Trail = []
    for time in range(max(len(plan.trail) for plan in plans)):
        at = {agent: cell for plan in plans for agent, cell in zip(plan.agents, _at(plan.trail, time), strict=True)}
        trail.append(tuple(at[agent] for agent in range(agents)))
    return trail


def many_truth(search: ManyAgents) -> GroundTruth | None:
    """Returns both optima and both wait labels, or None when there is no plan.

    Raises:
        OutOfBudget: the budget is spent first.
    """
    costs, makespan = search.best(Objective.SUM_OF_COSTS), search.best(Objective.MAKESPAN)
    if costs is None or makespan is None:
        return None
    least = sum(search.board.distances(g)[s] for s, g in zip(search.board.starts, search.board.goals, strict=True))
    return GroundTruth(
        costs.value,
        makespan.value,
        _needs_wait(search, Objective.SUM_OF_COSTS, costs.value, costs.value - least),
        _needs_wait(search, Objective.MAKESPAN, makespan.value, makespan.value),
    )


def _needs_wait(search: ManyAgents, objective: Objective, optimum: int, slack: int) -> bool:
    if objective is Objective.SUM_OF_COSTS and slack == 0:
        return False
    without = search.best(objective, waits=False, slack=slack)
    return without is None or without.value > optimum
