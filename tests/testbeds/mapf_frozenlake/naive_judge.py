"""The rules of the world taken word by word, as slowly as they read: the oracle of the judge, which shares nothing."""

from envwright.testbeds.mapf_frozenlake.answer import Plan
from envwright.testbeds.mapf_frozenlake.instance import Cell, Instance

DIRECTIONS = {"UP": (-1, 0), "DOWN": (1, 0), "LEFT": (0, -1), "RIGHT": (0, 1), "WAIT": (0, 0)}


class Replay:
    """Where each agent of a plan is at any time, worked out from its start whenever it is asked."""

    def __init__(self, instance: Instance, plan: Plan) -> None:
        self.instance, self.plan = instance, plan
        longest = max(map(len, plan.steps))
        self.last = longest if plan.form == "actions" else max(longest - 1, 0)

    def cell(self, agent: int, time: int) -> Cell:
        steps = self.plan.steps[agent]
        row, column = self.instance.starts[agent]
        if self.plan.form == "cells":
            return steps[min(time, len(steps) - 1)] if steps else (row, column)  # type: ignore[return-value]
        for word in steps[:time]:
            down, right = DIRECTIONS.get(str(word), (0, 0))
            row, column = row + down, column + right
        return row, column

    def is_outside(self, agent: int, time: int) -> bool:
        row, column = self.cell(agent, time)
        return row < 0 or column < 0 or row >= self.instance.size or column >= self.instance.size

    def is_no_move(self, agent: int, time: int) -> bool:
        if time == 0:
            return False
        words = self.plan.steps[agent] if self.plan.form == "actions" else ()
        if time <= len(words) and words[time - 1] not in DIRECTIONS:
            return True
        (a, b), (c, d) = self.cell(agent, time - 1), self.cell(agent, time)
        return (c - a, d - b) not in DIRECTIONS.values()

    def is_in_a_hole(self, agent: int, time: int) -> bool:
        return self.cell(agent, time) in self.instance.holes

    def shares_its_cell(self, agent: int, time: int) -> bool:
        return any(self.cell(other, time) == self.cell(agent, time) for other in self.others(agent))

    def exchanges_its_cell(self, agent: int, time: int) -> bool:
        if time == 0:
            return False
        before, now = self.cell(agent, time - 1), self.cell(agent, time)
        return before != now and any(
            (self.cell(other, time - 1), self.cell(other, time)) == (now, before) for other in self.others(agent)
        )

    def others(self, agent: int) -> list[int]:
        return [other for other in range(self.instance.agents) if other != agent]

    def arrival(self, agent: int) -> int:
        goal = self.instance.goals[agent]
        times = range(self.last + 1)
        return next(t for t in times if all(self.cell(agent, later) == goal for later in times[t:]))


def naive_faults(instance: Instance, plan: Plan) -> list[tuple[str, int, tuple[int, ...]]]:
    """Returns the first fault of each kind in the order of the specification: its kind, its time, its agents."""
    replay = Replay(instance, plan)
    found: list[tuple[str, int, list[int]]] = []
    agents = range(instance.agents)
    if plan.form == "cells":
        wrong = [i for i in agents if not plan.steps[i] or plan.steps[i][0] != instance.starts[i]]
        found.append(("wrong_start", 0, wrong))
    for time in range(replay.last + 1):
        found.append(("out_of_bounds", time, [i for i in agents if replay.is_outside(i, time)]))
        found.append(("illegal_move", time, [i for i in agents if replay.is_no_move(i, time)]))
        found.append(("hole_collision", time, [i for i in agents if replay.is_in_a_hole(i, time)]))
        found.append(("vertex_conflict", time, [i for i in agents if replay.shares_its_cell(i, time)]))
        found.append(("edge_conflict", time, [i for i in agents if replay.exchanges_its_cell(i, time)]))
    late = [i for i in agents if replay.cell(i, replay.last) != instance.goals[i]]
    found.append(("goal_not_reached", replay.last, late))
    first: dict[str, tuple[str, int, tuple[int, ...]]] = {}
    for kind, time, who in found:
        if who and kind not in first:
            first[kind] = (kind, time, tuple(who))
    return list(first.values())


def naive_costs(instance: Instance, plan: Plan) -> tuple[int, int, int]:
    """Returns the sum of costs, the makespan and the waits before arrival of a valid plan."""
    replay = Replay(instance, plan)
    arrivals = [replay.arrival(agent) for agent in range(instance.agents)]
    waits = [
        time
        for agent, arrival in enumerate(arrivals)
        for time in range(1, arrival + 1)
        if replay.cell(agent, time) == replay.cell(agent, time - 1)
    ]
    return sum(arrivals), max(arrivals), len(waits)
