"""Two agents, exactly: a bit-parallel search of the joint space in plain Python integers.

A layer maps each cell of agent 0 to one integer whose bits are the cells agent 1 may be in at that time; a step is a
few shifts and masks. Layers are cut by what both agents still need, so the usual board visits its shortest paths alone.
While both agents are under way each costs one per step; when the first has arrived for good the other goes on alone
around it, so the optimum is the best time and place at which the first may park.
"""

from collections.abc import Callable
from dataclasses import dataclass

from envwright.testbeds.mapf_frozenlake.distances import FAR, Board, bits
from envwright.testbeds.mapf_frozenlake.instance import GroundTruth, Objective

SLACK_BEFORE_PROOF = 6
"""Excess over the shortest paths at which solvability is proved before the bound is raised further."""

Layer = dict[int, int]
Path = list[int]


@dataclass(frozen=True)
class Meeting:
    """Where the shared part of a plan ends: `parked` is the agent that has arrived, the other goes on alone."""

    time: int
    cells: tuple[int, int]
    parked: int


class TwoAgents:
    """The search for two agents of a board, the others left out."""

    def __init__(self, board: Board, agents: tuple[int, int] = (0, 1)) -> None:
        self.board = board
        self.starts = tuple(board.starts[agent] for agent in agents)
        self.goals = tuple(board.goals[agent] for agent in agents)
        self.distances = tuple(board.distances(goal) for goal in self.goals)
        self.shortest = tuple(d[s] for d, s in zip(self.distances, self.starts, strict=True))
        self.around = tuple(
            board.distances(goal, avoid=1 << other) for goal, other in zip(self.goals, self.goals[::-1], strict=True)
        )
        self.near = tuple(_balls(distance) for distance in self.distances)
        self.near_around = tuple(_balls(distance) for distance in self.around)
        self.neighbour_mask = [sum(1 << n for n in cells) for cells in board.neighbours]
        self.work = 0

    def solvable(self) -> bool:
        """Returns whether any plan exists: with waits allowed the reachable joint states only grow."""
        layer: Layer = {self.starts[0]: 1 << self.starts[1]}
        while True:
            grown = self._step(layer, True, lambda cell: -1)
            if grown.get(self.goals[0], 0) >> self.goals[1] & 1:
                return True
            if grown == layer:
                return False
            layer = grown

    def least(self, objective: Objective) -> int:
        """Returns what the objective would be if the agents were not in each other's way."""
        return sum(self.shortest) if objective is Objective.SUM_OF_COSTS else max(self.shortest)

    def optimum(self, objective: Objective, waits: bool = True, limit: int = FAR) -> int | None:
        """Returns the proved minimum, or None when there is no plan, or none within the limit."""
        bound = least = self.least(objective)
        while bound < FAR and bound <= limit:
            if self.search(objective, bound, waits):
                return bound
            bound += 1
            if bound == least + SLACK_BEFORE_PROOF and not self.solvable():
                return None
        return None

    def search(
        self, objective: Objective, bound: int, waits: bool, layers: list[Layer] | None = None
    ) -> Meeting | None:
        """Returns where the first agent parks in some plan within the bound, or None if there is no such plan.

        Args:
            objective: what is bounded.
            bound: the largest allowed value of the objective.
            waits: whether an agent may wait before it has arrived for good.
            layers: if given, gets every layer, for the reconstruction of paths.
        """
        rate = 2 if objective is Objective.SUM_OF_COSTS else 1
        layer: Layer = {self.starts[0]: 1 << self.starts[1]}
        time = 0
        while layer:
            if layers is not None:
                layers.append(layer)
            left = bound - rate * time
            if meeting := self._meeting(layer, left, time):
                return meeting
            time += 1
            layer = self._step(layer, waits, self._allowance(objective, bound - rate * time))
        return None

    def _allowance(self, objective: Objective, left: int) -> Callable[[int], int]:
        """Returns the cells agent 1 may be in, per cell of agent 0, when `left` remains of the bound."""
        distance, near = self.distances[0], self.near[1]
        if objective is Objective.SUM_OF_COSTS:
            return lambda cell: _ball(near, left - distance[cell])
        return lambda cell: _ball(near, left) if distance[cell] <= left else 0

    def _meeting(self, layer: Layer, left: int, time: int) -> Meeting | None:
        goal0, goal1 = self.goals
        if arrived := layer.get(goal0, 0) & _ball(self.near_around[1], left):
            return Meeting(time, (goal0, min(bits(arrived), key=self.around[1].__getitem__)), 0)
        for cell, mask in layer.items():
            if mask >> goal1 & 1 and self.around[0][cell] <= left:
                return Meeting(time, (cell, goal1), 1)
        return None

    def _step(self, layer: Layer, waits: bool, allowed: Callable[[int], int]) -> Layer:
        moves, neighbours, masks = self.board.moves, self.board.neighbours, self.neighbour_mask
        following: Layer = {}
        self.work += len(layer)
        for cell, mask in layer.items():
            reach = moves(mask) | (mask if waits else 0)
            for target in (*neighbours[cell], cell) if waits else neighbours[cell]:
                found = reach & ~(1 << target)
                # Agent 1 may enter `cell` from anywhere but the target: that would be an exchange.
                if mask >> target & 1 and not masks[cell] & mask & ~(1 << target):
                    found &= ~(1 << cell)
                if found := found & allowed(target):
                    following[target] = following.get(target, 0) | found
        return following

    def paths(self, objective: Objective, bound: int, waits: bool = True) -> tuple[Path, Path]:
        """Returns the cells of both agents in one plan that meets the optimum `bound`."""
        layers: list[Layer] = []
        meeting = self.search(objective, bound, waits, layers)
        if meeting is None:
            raise ValueError(f"the bound must be the optimum, got {bound}")
        together = self._back(layers, meeting, waits)
        mover = 1 - meeting.parked
        cell = meeting.cells[mover]
        while cell != self.goals[mover]:
            cell = min(self.board.neighbours[cell], key=self.around[mover].__getitem__)
            together[mover].append(cell)
        return together

    def _back(self, layers: list[Layer], meeting: Meeting, waits: bool) -> tuple[Path, Path]:
        first, second = [meeting.cells[0]], [meeting.cells[1]]
        for layer in reversed(layers[: meeting.time]):
            before = self._before(layer, first[-1], second[-1], waits)
            first.append(before[0])
            second.append(before[1])
        return first[::-1], second[::-1]

    def _before(self, layer: Layer, cell0: int, cell1: int, waits: bool) -> tuple[int, int]:
        sources = self.neighbour_mask[cell1] | (1 << cell1 if waits else 0)
        for source0 in (*self.board.neighbours[cell0], cell0) if waits else self.board.neighbours[cell0]:
            possible = layer.get(source0, 0) & sources
            if source0 == cell1:
                possible &= ~(1 << cell0)  # an exchange
            if possible:
                return source0, bits(possible)[0]
        raise AssertionError("every state of a layer has one before it")


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


def _balls(distance: list[int]) -> list[int]:
    """Returns the mask of the cells within k moves, for each k up to the largest finite distance."""
    reached = [d for d in distance if d < FAR]
    rings = [0] * (max(reached) + 1)
    for cell, steps in enumerate(distance):
        if steps < FAR:
            rings[steps] |= 1 << cell
    for k in range(1, len(rings)):
        rings[k] |= rings[k - 1]
    return rings


def _ball(balls: list[int], radius: int) -> int:
    return 0 if radius < 0 else balls[min(radius, len(balls) - 1)]
