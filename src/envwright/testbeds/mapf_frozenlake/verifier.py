"""The independent judge of plans: replays one against the rules of the world and knows nothing of any solver."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from envwright.testbeds.mapf_frozenlake.answer import MOVES, Plan
from envwright.testbeds.mapf_frozenlake.instance import Cell, Instance, Paths

FOLDED: dict[str, str] = {
    "parse_error": "parse",
    "wrong_agent_count": "parse",
    "wrong_start": "illegal_move",
    "out_of_bounds": "illegal_move",
    "illegal_move": "illegal_move",
    "hole_collision": "hole",
    "vertex_conflict": "conflict",
    "edge_conflict": "conflict",
    "goal_not_reached": "goal",
}
"""Each failure, in the order of checks within a step, and the kind of the paper that it folds to."""

FAILURES: tuple[str, ...] = tuple(FOLDED)

_TABULATED = 32
"""Rows and columns of a board whose moves are kept in a table; what lies beyond is only judged more slowly."""


@dataclass(frozen=True)
class Fault:
    """A failed check: its kind, the time step at which it first fails, and all agents that fail it then."""

    kind: str
    time: int
    agents: tuple[int, ...]


@dataclass(frozen=True)
class Judgement:
    """What the judge found.

    Attributes:
        valid: no check failed.
        faults: the first fault of each kind that occurs, in order of time; the first one is the verdict's.
        sum_of_costs: the sum of the steps at which the agents have arrived for good; None unless valid.
        makespan: the last of those steps; None unless valid.
        paths: the cells as the plan states them, also where they break a rule; None without a path per agent.
    """

    valid: bool
    faults: tuple[Fault, ...]
    sum_of_costs: int | None = None
    makespan: int | None = None
    paths: Paths | None = None

    @property
    def waits(self) -> int | None:
        """The waits before arrival, over all agents; None unless valid."""
        if not self.valid or self.paths is None:
            return None
        travels = (path[: _arrival(path, path[-1]) + 1] for path in self.paths)
        return sum(before == now for travel in travels for before, now in pairwise(travel))


def judge(instance: Instance, plan: Plan) -> Judgement:
    """Returns the judgement on any plan.

    The replay goes on after a fault: from the stated cell, or, after an unknown action word, from the cell before it.
    """
    if len(plan.steps) != instance.agents:
        return Judgement(False, (Fault("wrong_agent_count", 0, ()),))
    paths = _paths(instance, plan)
    first: dict[str, Fault] = {}
    for fault in _faults(instance, plan, paths):
        first.setdefault(fault.kind, fault)
    if first:
        return Judgement(False, tuple(first.values()), paths=paths)
    arrivals = [_arrival(path, goal) for path, goal in zip(paths, instance.goals, strict=True)]
    return Judgement(True, (), sum(arrivals), max(arrivals), paths)


def _paths(instance: Instance, plan: Plan) -> Paths:
    return tuple(_path(start, steps) for start, steps in zip(instance.starts, plan.steps, strict=True))


def _path(start: Cell, steps: tuple[Cell | str, ...]) -> tuple[Cell, ...]:
    cells: list[Cell] = []
    for step in steps:
        if isinstance(step, str):
            cells = cells or [start]
            row, column = MOVES.get(step, (0, 0))
            cells.append((cells[-1][0] + row, cells[-1][1] + column))
        else:
            cells.append(step)
    return tuple(cells) or (start,)


def _faults(instance: Instance, plan: Plan, paths: Paths) -> Iterator[Fault]:
    """Yields every fault, ordered by time and then by the order of checks."""
    last = max(map(len, paths)) - 1
    paths = tuple(path + path[-1:] * (last + 1 - len(path)) for path in paths)
    if plan.form == "cells":
        yield from _named("wrong_start", 0, [i for i, s in enumerate(plan.steps) if s[:1] != (instance.starts[i],)])
    for time in _doubtful_times(instance, plan, paths):
        before, now = [path[max(time - 1, 0)] for path in paths], [path[time] for path in paths]
        unknown = [i for i, steps in enumerate(plan.steps) if _is_unknown(plan, steps, time)]
        yield from _step_faults(instance, time, before, now, unknown)
    yield from _named("goal_not_reached", last, [i for i, path in enumerate(paths) if path[-1] != instance.goals[i]])


def _doubtful_times(instance: Instance, plan: Plan, paths: Paths) -> Iterator[int]:
    """Yields the times that need a closer look; at all others every agent has a cell and a move of its own, none bad.

    Most steps of most plans break no rule, and one look at all agents at once is several times as fast as each check.
    """
    number = _move_numbers(min(instance.size, _TABULATED)).get
    moves = [map(number, pairwise((path[0], *path))) for path in paths]
    bad = {None, *instance.holes}
    unknown = {time for steps in plan.steps for time in range(1, len(steps) + 1) if _is_unknown(plan, steps, time)}
    for time, taken in enumerate(map(set[Cell | int | None], zip(*paths, *moves, strict=True))):
        if len(taken) < 2 * len(paths) or not bad.isdisjoint(taken) or time in unknown:
            yield time


@lru_cache(maxsize=_TABULATED)
def _move_numbers(size: int) -> dict[tuple[Cell, Cell], int]:
    """Returns a number for each move and wait on a board without holes; a move and the opposite one share theirs."""
    cells = [(row, column) for row in range(size) for column in range(size)]
    numbers: dict[tuple[Cell, Cell], int] = {}
    for row, column in cells:
        for other in ((row, column), (row + 1, column), (row, column + 1)):
            if max(other) < size:
                numbers[(row, column), other] = numbers[other, (row, column)] = len(numbers)
    return numbers


def _is_unknown(plan: Plan, steps: Sequence[Cell | str], time: int) -> bool:
    return plan.form == "actions" and 1 <= time <= len(steps) and steps[time - 1] not in MOVES


def _step_faults(
    instance: Instance, time: int, before: Sequence[Cell], now: Sequence[Cell], unknown: Sequence[int]
) -> Iterator[Fault]:
    agents = range(len(now))
    size = range(instance.size)
    yield from _named("out_of_bounds", time, [i for i in agents if now[i][0] not in size or now[i][1] not in size])
    yield from _named("illegal_move", time, [i for i in agents if i in unknown or not _adjacent(before[i], now[i])])
    yield from _named("hole_collision", time, [i for i in agents if now[i] in instance.holes])
    yield from _named("vertex_conflict", time, [i for i in agents if now.count(now[i]) > 1])
    yield from _named("edge_conflict", time, [i for i in agents if any(_swap(before, now, i, j) for j in agents)])


def _named(kind: str, time: int, agents: Sequence[int]) -> Iterator[Fault]:
    if agents:
        yield Fault(kind, time, tuple(agents))


def _adjacent(one: Cell, other: Cell) -> bool:
    return abs(one[0] - other[0]) + abs(one[1] - other[1]) <= 1


def _swap(before: Sequence[Cell], now: Sequence[Cell], one: int, other: int) -> bool:
    return before[one] != now[one] and before[one] == now[other] and before[other] == now[one]


def _arrival(path: Sequence[Cell], goal: Cell) -> int:
    """Returns the step from which on the agent is at its goal for good."""
    time = len(path)
    while time and path[time - 1] == goal:
        time -= 1
    return time
