"""The independent judge of plans: replays one against the rules of the world and knows nothing of any solver."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import cast

from envwright.testbeds.mapf_frozenlake.answer import CELLS, MOVES, Plan
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
    arrivals = [*map(_arrival, paths, instance.goals)]
    return Judgement(True, (), sum(arrivals), max(arrivals), paths)


def _paths(instance: Instance, plan: Plan) -> Paths:
    if plan.form == "actions":
        return tuple(map(_walk, instance.starts, plan.steps))
    return tuple([cells or (start,) for start, cells in zip(instance.starts, cast("Paths", plan.steps), strict=True)])


def _walk(start: Cell, words: Sequence[Cell | str]) -> tuple[Cell, ...]:
    moves = [MOVES.get(str(word), (0, 0)) for word in words]
    return tuple(accumulate(moves, lambda cell, move: (cell[0] + move[0], cell[1] + move[1]), initial=start))


def _faults(instance: Instance, plan: Plan, paths: Paths) -> Iterator[Fault]:
    """Yields every fault, ordered by time and then by the order of checks."""
    last = max(map(len, paths)) - 1
    paths = tuple([path + path[-1:] * (last + 1 - len(path)) for path in paths])
    unknown = _unknown_words(plan)
    if plan.form == "cells":
        wrong = [i for i, start in enumerate(instance.starts) if plan.steps[i][:1] != (start,)]
        yield from _named("wrong_start", 0, wrong)
    for time in sorted({*unknown, *_doubtful_times(instance, paths)}):
        before, now = [path[max(time - 1, 0)] for path in paths], [path[time] for path in paths]
        yield from _step_faults(instance, time, before, now, unknown.get(time, ()))
    yield from _named("goal_not_reached", last, [i for i, goal in enumerate(instance.goals) if paths[i][-1] != goal])


def _unknown_words(plan: Plan) -> dict[int, list[int]]:
    """Returns, for each time at which a word is no action, the agents that gave one."""
    agents: dict[int, list[int]] = {}
    for agent, words in enumerate(plan.steps if plan.form == "actions" else ()):
        for time, word in enumerate(words, start=1):
            if word not in MOVES:
                agents.setdefault(time, []).append(agent)
    return agents


def _doubtful_times(instance: Instance, paths: Paths) -> list[int]:
    """Returns the times that need a closer look; at all others every agent has a cell and a move of its own, none bad.

    Most steps of most plans break no rule, and one look at all agents at once is several times as fast as each check.
    """
    number = _move_numbers(instance.size).get
    moves = [map(number, zip(path[:1] + path, path, strict=False)) for path in paths]
    is_apart = {None, *instance.holes}.isdisjoint
    distinct = 2 * len(paths)
    states = map(set, zip(*paths, *moves, strict=True))
    return [time for time, taken in enumerate(states) if len(taken) < distinct or not is_apart(taken)]


@lru_cache(maxsize=16)
def _move_numbers(size: int) -> dict[tuple[Cell, Cell], int]:
    """Returns a number for each move and wait on a board without holes; a move and the opposite one share theirs.

    What lies beyond the common cells has no number, so that it is looked at closely.
    """
    cells = {cell: cell for cell in CELLS.values() if max(cell) < size}
    numbers: dict[tuple[Cell, Cell], int] = {}
    for row, column in cells:
        for other in ((row, column), (row + 1, column), (row, column + 1)):
            if other in cells:
                here, there = cells[row, column], cells[other]  # the parser's own tuples, which compare fast
                numbers[here, there] = numbers[there, here] = len(numbers)
    return numbers


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
