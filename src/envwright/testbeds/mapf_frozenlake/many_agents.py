"""Any number of agents, exactly: the cheapest deadlines that all agents can meet.

A plan's arrival times are deadlines, and both objectives grow with them, so the optimum is the cheapest vector of
deadlines for which a plan exists (the increasing cost tree of Sharon et al. 2013). Agents are planned apart and joined
only where their plans collide (independence detection, Standley 2010); a group that cannot meet its deadlines is
remembered, and no vector that asks the same of it, or more, is tried again.
"""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from operator import le

from envwright.testbeds.mapf_frozenlake.distances import FAR, Board
from envwright.testbeds.mapf_frozenlake.instance import Objective
from envwright.testbeds.mapf_frozenlake.joint_search import (
    Budget,
    JointSearch,
    PairTable,
    pair_table,
)
from envwright.testbeds.mapf_frozenlake.one_agent import OneAgent
from envwright.testbeds.mapf_frozenlake.solvability import is_proved_unsolvable
from envwright.testbeds.mapf_frozenlake.trails import Best, Obstacles, States, Trail

Group = tuple[int, ...]
"""Numbers of agents that are planned together, in order."""

SLACK_BEFORE_PROOF = 8
"""Excess over the shortest paths at which solvability is proved before the deadlines are raised further."""


@dataclass(frozen=True)
class Nogood:
    """Agents that cannot all meet these deadlines, nor earlier ones."""

    agents: Group
    deadlines: States


class ManyAgents:
    """The search on one board; what it learns serves both objectives.

    Args:
        board: the board with all its agents.
        budget: shared by all that is asked of this board.
    """

    def __init__(self, board: Board, budget: Budget) -> None:
        self.board = board
        self.budget = budget
        everyone = range(len(board.starts))
        self.agents = {waits: [OneAgent(board, agent, waits) for agent in everyone] for waits in (True, False)}
        self.shortest = tuple(agent.shortest for agent in self.agents[True])
        self.nogoods: dict[bool, dict[Group, list[States]]] = {True: {}, False: {}}
        self.tables: dict[tuple[bool, int, int, int, int], PairTable | None] = {}
        self.trails: dict[tuple[bool, Group, States], Trail | None] = {}
        self.solvable: bool | None = None

    def best(self, objective: Objective, waits: bool = True, limit: int = FAR - 1) -> Best | None:
        """Returns the optimum and a plan, or None when there is no plan, or none within the limit.

        Args:
            objective: what is minimised.
            waits: whether an agent may wait before it has arrived for good.
            limit: the largest value of interest.

        Raises:
            OutOfBudget: the budget is spent first.
        """
        measure = sum if objective is Objective.SUM_OF_COSTS else max
        least = measure(self.shortest)
        first = self.shortest if objective is Objective.SUM_OF_COSTS else (least,) * len(self.shortest)
        waiting, seen = [(least, first)], {first}
        while waiting:
            value, vector = heapq.heappop(waiting)
            if value > limit or (value >= least + SLACK_BEFORE_PROOF and not self._is_solvable(objective)):
                return None
            self.budget.spend()
            outcome = self._known(vector, waits) or self._plan(vector, waits)
            if not isinstance(outcome, Nogood):
                self.solvable = True
                return Best(value, outcome)
            for raised in _raised(objective, vector, outcome, 1 if waits else 2):
                if raised not in seen:
                    seen.add(raised)
                    heapq.heappush(waiting, (measure(raised), raised))
        return None

    def _is_solvable(self, objective: Objective) -> bool:
        if self.solvable is None and objective is Objective.SUM_OF_COSTS:  # any plan will do, and this one is easy
            self.solvable = self.best(Objective.MAKESPAN) is not None
        if self.solvable is None:
            self.solvable = not is_proved_unsolvable(self.board, self.budget)
        return self.solvable

    def _known(self, vector: States, waits: bool) -> Nogood | None:
        """Returns a group known to miss these deadlines; one that misses them with waits does so without."""
        for nogoods in (self.nogoods[True],) if waits else (self.nogoods[True], self.nogoods[False]):
            for group, known in nogoods.items():
                asked = [vector[agent] for agent in group]
                for deadlines in known:
                    if all(map(le, asked, deadlines)):
                        return Nogood(group, deadlines)
        return None

    def _learn(self, nogood: Nogood, waits: bool) -> None:
        known = self.nogoods[waits].setdefault(nogood.agents, [])
        known[:] = [deadlines for deadlines in known if not all(map(le, deadlines, nogood.deadlines))]
        known.append(nogood.deadlines)

    def _plan(self, vector: States, waits: bool) -> Trail | Nogood:
        """Returns a plan within the deadlines, or a group that has none."""
        plans: dict[Group, Trail] = {}
        # Those with little time to spare first: the others can give way.
        for agent in sorted(range(len(vector)), key=lambda agent: vector[agent] - self.shortest[agent]):
            trail = self._alone(agent, vector, waits, plans) or self._alone(agent, vector, waits, {})
            assert trail, "no deadline is earlier than the shortest path"
            plans[agent,] = trail
        while clash := _first_clash(plans):
            if self._detour(plans, clash, vector, waits):
                continue
            group = tuple(sorted(clash[0] + clash[1]))
            outcome = self._joined(group, vector, waits)
            if isinstance(outcome, Nogood):
                self._learn(outcome, waits)
                return outcome
            del plans[clash[0]], plans[clash[1]]
            plans[group] = outcome
        return _assembled(plans, len(vector))

    def _alone(self, agent: int, vector: States, waits: bool, around: dict[Group, Trail]) -> Trail | None:
        return self.agents[waits][agent].plan(vector[agent], Obstacles(list(around.values())))

    def _detour(self, plans: dict[Group, Trail], clash: tuple[Group, Group], vector: States, waits: bool) -> bool:
        """Leads a lone agent of a clash around all others, if there is a way in time."""
        for group in clash:
            if len(group) == 1:
                others = {other: trail for other, trail in plans.items() if other != group}
                if trail := self._alone(group[0], vector, waits, others):
                    plans[group] = trail
                    return True
        return False

    def _joined(self, group: Group, vector: States, waits: bool) -> Trail | Nogood:
        """Returns a plan of the group, or a smallest part of it that has none."""
        trail: Trail | None = None
        for size in range(2, len(group) + 1):
            for part in combinations(group, size):
                key = waits, part, tuple(vector[agent] for agent in part)
                if key not in self.trails:
                    self.trails[key] = self._search(part, vector, waits)
                if (trail := self.trails[key]) is None:
                    return Nogood(part, key[2])
        assert trail
        return trail

    def _search(self, group: Group, vector: States, waits: bool) -> Trail | None:
        tables: dict[tuple[int, int], PairTable] = {}
        for first, second in combinations(range(len(group)), 2):
            table = self._table(group[first], group[second], vector, waits)
            if table is None:
                return None
            tables[first, second] = table
        agents = [self.agents[waits][agent] for agent in group]
        return JointSearch(agents, tuple(vector[agent] for agent in group), tables, self.budget).plan()

    def _table(self, first: int, second: int, vector: States, waits: bool) -> PairTable | None:
        deadlines = vector[first], vector[second]
        key = waits, first, second, *deadlines
        if key not in self.tables:
            agents = self.agents[waits]
            self.tables[key] = pair_table(agents[first], agents[second], deadlines, self.budget)
        return self.tables[key]


def _raised(objective: Objective, vector: States, nogood: Nogood, step: int) -> Iterator[States]:
    """Yields the next deadlines to try: for the sum one later arrival each, for the makespan later ones for all."""
    if objective is Objective.MAKESPAN:
        yield (min(nogood.deadlines) + 1,) * len(vector)
        return
    for agent, deadline in zip(nogood.agents, nogood.deadlines, strict=True):
        later = vector[agent] + -(-(deadline + 1 - vector[agent]) // step) * step
        yield (*vector[:agent], later, *vector[agent + 1 :])


def _first_clash(plans: dict[Group, Trail]) -> tuple[Group, Group] | None:
    pairs = combinations(plans, 2)
    return next(((one, other) for one, other in pairs if plans[one].clashes(plans[other])), None)


def _assembled(plans: dict[Group, Trail], agents: int) -> Trail:
    cells: list[States] = []
    for time in range(max(len(plan) for plan in plans.values())):
        at = {agent: cell for group, plan in plans.items() for agent, cell in zip(group, plan.at(time), strict=True)}
        cells.append(tuple(at[agent] for agent in range(agents)))
    return Trail(cells)
