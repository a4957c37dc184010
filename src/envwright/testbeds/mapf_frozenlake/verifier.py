"""The independent judge: plays a plan on a board and names what is wrong. It imports nothing of the solver."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from envwright.testbeds.mapf_frozenlake.answer import Plan
from envwright.testbeds.mapf_frozenlake.instance import Cell, Instance, Paths

FOLDED = {
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
"""Each failure, in the order of the checks, and the paper's kind it folds to."""

FAILURES = tuple(FOLDED)

STEPS: dict[str, Cell] = {"UP": (-1, 0), "DOWN": (1, 0), "LEFT": (0, -1), "RIGHT": (0, 1), "WAIT": (0, 0)}


@dataclass(frozen=True)
class Fault:
    """One failing check: its kind, the time step (0 is the start), and the agents."""

    kind: str
    time: int
    agents: tuple[int, ...]


@dataclass(frozen=True)
class Judgement:
    """The verdict on a plan.

    Attributes:
        valid: no check fails.
        faults: the first fault of each kind that occurs, by time and order of checks; the first one names the verdict.
        sum_of_costs: sum of the steps at which the agents arrive for good; None unless valid.
        makespan: the last arrival; None unless valid.
        waits: waits before arrival, over all agents; None unless valid.
        paths: the cells that the plan means, per agent from time 0; a step that cannot be read repeats the cell.
    """

    valid: bool
    faults: tuple[Fault, ...]
    sum_of_costs: int | None
    makespan: int | None
    waits: int | None
    paths: Paths | None


def judge(instance: Instance, plan: Plan) -> Judgement:
    """Returns the verdict on a plan that has one entry per agent."""
    paths, unreadable = _paths(instance, plan)
    faults = _faults(instance, paths, unreadable)
    if faults:
        return Judgement(False, tuple(faults), None, None, None, paths)
    arrivals = [_arrival(path) for path in paths]
    waits = sum(
        before == after
        for path, arrival in zip(paths, arrivals, strict=True)
        for before, after in pairwise(path[: arrival + 1])
    )
    return Judgement(True, (), sum(arrivals), max(arrivals), waits, paths)


def _paths(instance: Instance, plan: Plan) -> tuple[Paths, set[tuple[int, int]]]:
    """Returns the cells of each agent, and the (agent, time) of action words that are unknown."""
    unreadable: set[tuple[int, int]] = set()
    paths: list[tuple[Cell, ...]] = []
    for agent, steps in enumerate(plan.steps):
        path: list[Cell] = []
        if plan.form == "actions" or not steps:
            path.append(instance.starts[agent])
        for time, step in enumerate(steps, start=1):
            if isinstance(step, tuple):
                path.append(step)
                continue
            if step not in STEPS:
                unreadable.add((agent, time))
            down, right = STEPS.get(step, (0, 0))
            path.append((path[-1][0] + down, path[-1][1] + right))
        paths.append(tuple(path))
    return tuple(paths), unreadable


def _faults(instance: Instance, paths: Paths, unreadable: set[tuple[int, int]]) -> list[Fault]:
    found: list[Fault] = []
    wrong = tuple(agent for agent, path in enumerate(paths) if path[0] != instance.starts[agent])
    if wrong:
        found.append(Fault("wrong_start", 0, wrong))
    holes = set(instance.holes)
    for time in range(1, max(len(path) for path in paths)):
        found += _step_faults(instance.size, holes, _cells(paths, time - 1), _cells(paths, time), time, unreadable)
    lost = tuple(agent for agent, path in enumerate(paths) if path[-1] != instance.goals[agent])
    if lost:
        found.append(Fault("goal_not_reached", max(len(path) for path in paths) - 1, lost))
    return list({fault.kind: fault for fault in reversed(found)}.values())[::-1]


def _cells(paths: Paths, time: int) -> list[Cell]:
    """Returns where everyone is; who has ended its path stays in its last cell."""
    return [path[min(time, len(path) - 1)] for path in paths]


def _step_faults(
    size: int,
    holes: set[Cell],
    before: Sequence[Cell],
    after: Sequence[Cell],
    time: int,
    unreadable: set[tuple[int, int]],
) -> list[Fault]:
    """Returns the faults of one step, in the order of the checks."""
    found: list[Fault] = []
    agents = range(len(after))
    for agent in agents:
        row, column = after[agent]
        if not (0 <= row < size and 0 <= column < size):
            found.append(Fault("out_of_bounds", time, (agent,)))
    for agent in agents:
        (row, column), (new_row, new_column) = before[agent], after[agent]
        if (agent, time) in unreadable or abs(new_row - row) + abs(new_column - column) > 1:
            found.append(Fault("illegal_move", time, (agent,)))
    found += [Fault("hole_collision", time, (agent,)) for agent in agents if after[agent] in holes]
    pairs = [(one, other) for one in agents for other in range(one + 1, len(after))]
    found += [Fault("vertex_conflict", time, pair) for pair in pairs if after[pair[0]] == after[pair[1]]]
    found += [
        Fault("edge_conflict", time, (one, other))
        for one, other in pairs
        if after[one] == before[other] and after[other] == before[one] and after[one] != after[other]
    ]
    order = {kind: index for index, kind in enumerate(FAILURES)}
    return sorted(found, key=lambda fault: order[fault.kind])


def _arrival(path: Sequence[Cell]) -> int:
    """Returns the step from which the path stays in its last cell."""
    end = len(path) - 1
    while end and path[end - 1] == path[end]:
        end -= 1
    return end
