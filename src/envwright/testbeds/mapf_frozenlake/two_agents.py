"""Two agents, exactly: a bit-parallel search of the joint space in plain Python integers.

A layer maps each cell of agent 0 to one integer whose bits are the cells agent 1 may be in at that time; a step is a
few shifts and masks. Layers are cut by what both agents still need, so the usual board visits its shortest paths alone.
While both agents are under way each costs one per step; when the first has arrived for good the other goes on alone
around it, so the optimum is the best time and place at which the first may park.
"""

from envwright.testbeds.mapf_frozenlake.distances import FAR, Board, distances_of, few_bits, radius_of
from envwright.testbeds.mapf_frozenlake.instance import GroundTruth, Objective

FIRST_SLACKS = (0, 2)
"""Excesses over the shortest paths within which the optimum is looked for before all of the joint space is searched."""

Layer = dict[int, int]


class TwoAgents:
    """The search for two agents of a board, the others left out."""

    def __init__(self, board: Board, agents: tuple[int, int] = (0, 1)) -> None:
        self.board = board
        first, second = agents
        self.starts = board.starts[first], board.starts[second]
        self.goals = board.goals[first], board.goals[second]
        self.near = board.balls(self.goals[0]), board.balls(self.goals[1])
        self.shortest = tuple(radius_of(balls, 1 << start) for balls, start in zip(self.near, self.starts, strict=True))
        self.near_around = (
            board.balls(self.goals[0], avoid=1 << self.goals[1]),
            board.balls(self.goals[1], avoid=1 << self.goals[0]),
        )
        self.distance = distances_of(self.near[0], board.size)
        self.work = 0

    def optimum(self, objective: Objective) -> int | None:
        """Returns the proved minimum, or None when there is no plan."""
        if max(self.shortest) == FAR:
            return None
        least = sum(self.shortest) if objective is Objective.SUM_OF_COSTS else max(self.shortest)
        for slack in FIRST_SLACKS:
            if (value := self.search(objective, least + slack)) is not None:
                return value
        return self.search(objective, FAR - 1)

    def search(self, objective: Objective, bound: int, waits: bool = True) -> int | None:
        """Returns the minimum of the objective, or None if it exceeds the bound.

        Args:
            objective: what is minimised.
            bound: the largest value of interest.
            waits: whether an agent may wait before it has arrived for good.
        """
        rate = 2 if objective is Objective.SUM_OF_COSTS else 1
        layer: Layer = {self.starts[0]: 1 << self.starts[1]}
        best, time = None, 0
        while layer:
            value = rate * time + self._alone(layer)
            if value <= bound:
                best, bound = value, value - 1
            time += 1
            following = self._step(layer, objective, bound - rate * time, waits)
            if following == layer:  # nothing new can be reached
                break
            layer = following
        return best

    def _alone(self, layer: Layer) -> int:
        """Returns the fewest moves that remain once one agent of a state of the layer has parked."""
        goal0, goal1 = self.goals
        parked1 = 0
        for cell, mask in layer.items():
            if mask >> goal1 & 1:
                parked1 |= 1 << cell
        first = radius_of(self.near_around[1], layer[goal0]) if goal0 in layer else FAR
        return min(first, radius_of(self.near_around[0], parked1)) if parked1 else first

    def _step(self, layer: Layer, objective: Objective, left: int, waits: bool) -> Layer:
        """Returns the states one step on from which `left` may be enough."""
        summed = objective is Objective.SUM_OF_COSTS
        around, free, moves, distance = self.board.around, self.board.free, self.board.moves, self.distance
        near = self.near[1]
        widest = len(near) - 1
        following: Layer = {}
        self.work += len(layer)
        for cell, mask in layer.items():
            neighbours = around[cell] & free
            reach = moves(mask)
            if waits:
                reach |= mask
                neighbours |= 1 << cell
            for target in few_bits(neighbours):
                radius = left - distance[target]
                if radius < 0:
                    continue
                if not summed:
                    radius = left
                found = reach & near[radius if radius < widest else widest] & ~(1 << target)
                # Agent 1 may enter `cell` from anywhere but the target: that would be an exchange.
                if mask >> target & 1 and not around[cell] & mask & ~(1 << target):
                    found &= ~(1 << cell)
                if found:
                    following[target] = following.get(target, 0) | found
        return following


def pair_truth(search: TwoAgents) -> GroundTruth | None:
    """Returns both optima and both wait labels, or None when there is no plan."""
    costs = search.optimum(Objective.SUM_OF_COSTS)
    if costs is None:
        return None
    if costs == sum(search.shortest):  # both take a shortest path, which has no waits, and none arrives earlier
        return GroundTruth(costs, max(search.shortest), False, False)
    makespan = search.optimum(Objective.MAKESPAN)
    if makespan is None:
        raise AssertionError("a plan for one objective is a plan for the other")
    return GroundTruth(
        costs,
        makespan,
        (costs - sum(search.shortest)) % 2 == 1 or search.search(Objective.SUM_OF_COSTS, costs, False) is None,
        search.search(Objective.MAKESPAN, makespan, False) is None,
    )
