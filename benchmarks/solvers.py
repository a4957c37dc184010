"""What is compared: our exact solver, and the conflict-based search (CBS) of two public packages.

A solver is prepared with a board before the clock starts; so the peers' own problem objects cost them nothing, while
ours are built on the clock.
"""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from envwright.testbeds.mapf_frozenlake.cbs import conflict_based_search
from envwright.testbeds.mapf_frozenlake.instance import Instance, Objective, Paths
from envwright.testbeds.mapf_frozenlake.solver import Status, solve

WORK_PER_SECOND = 100_000
"""Our solver's budget counts joint states, not seconds. Hard boards take 50,000 to 110,000 a second, so that the budget
ends no search well before the limit and each within about twice of it; what comes late does not count."""

CBS_NODES_PER_SECOND = 1_000

Answer = tuple[Status, Paths | None]
Search = Callable[[], Answer]


@dataclass(frozen=True)
class Solver:
    """A solver to measure.

    Attributes:
        name: as printed.
        prepare: (board, seconds allowed) -> the search to time.
        objective: what its plans minimise.
    """

    name: str
    prepare: Callable[[Instance, float], Search]
    objective: Objective = Objective.SUM_OF_COSTS


@dataclass(frozen=True)
class Run:
    """One search: how it ended and how long it took."""

    status: Status
    paths: Paths | None
    seconds: float


def run(solver: Solver, board: Instance, limit: float) -> Run:
    """Returns the timed run; whoever answers after the limit has not answered."""
    search = solver.prepare(board, limit)
    begin = time.perf_counter()
    status, paths = search()
    seconds = time.perf_counter() - begin
    return Run(status, paths, seconds) if seconds <= limit else Run(Status.UNDECIDED, None, seconds)


def ours(objective: Objective) -> Solver:
    """Returns our solver for one objective."""

    def prepare(board: Instance, limit: float) -> Search:
        def search() -> Answer:
            solution = solve(board, objective, budget=int(limit * WORK_PER_SECOND))
            return solution.status, solution.paths

        return search

    return Solver(f"envwright {objective}", prepare, objective)


def our_cbs() -> Solver:
    """Returns our plain conflict-based search, the paper's solver, by nodes of its constraint tree."""

    def prepare(board: Instance, limit: float) -> Search:
        def search() -> Answer:
            solution = conflict_based_search(board, nodes=int(limit * CBS_NODES_PER_SECOND))
            return solution.status, solution.paths

        return search

    return Solver("envwright conflict_based_search", prepare)


def peers() -> tuple[list[Solver], list[str]]:
    """Returns the installed peers, and a sentence for each that is not."""
    found: list[Solver] = []
    missing: list[str] = []
    for package, call, prepare in (
        ("pymapf", "cbs", _prepare_pymapf),
        ("w9-pathfinding", "CBS", _prepare_w9),
    ):
        try:
            found.append(Solver(f"{package} {version(package)} {call}", prepare))
        except PackageNotFoundError:
            missing.append(f"{package} is not installed and is left out; the extra 'bench' has it.")
    return found, missing


def _prepare_pymapf(board: Instance, limit: float) -> Search:
    import pymapf

    grid = pymapf.GridMap([[mark == "H" for mark in row] for row in board.rows])
    ends = enumerate(zip(board.starts, board.goals, strict=True))
    agents = [pymapf.Agent(str(number), start, goal) for number, (start, goal) in ends]
    problem = pymapf.MAPFProblem(grid, agents)
    solver = pymapf.get_solver("cbs", max_expansions=sys.maxsize, time_limit=limit)

    def search() -> Answer:
        solution = solver.solve(problem)
        if solution is None:
            return Status.UNDECIDED, None
        return Status.SOLVED, tuple(tuple(solution.paths[agent.name]) for agent in agents)

    return search


def _prepare_w9(board: Instance, limit: float) -> Search:
    from w9_pathfinding.envs import Grid
    from w9_pathfinding.mapf import CBS

    weights = [[-1 if mark == "H" else 1 for mark in row] for row in board.rows]
    solver = CBS(Grid(weights, edge_collision=True), seed=0)
    starts = [(column, row) for row, column in board.starts]  # a node is (x, y)
    goals = [(column, row) for row, column in board.goals]

    def search() -> Answer:
        try:
            paths = solver.mapf(starts, goals, max_time=limit)
        except RuntimeError:  # out of time
            return Status.UNDECIDED, None
        if not paths:  # no plan within its longest path: no proof either
            return Status.UNDECIDED, None
        return Status.SOLVED, tuple(tuple((row, column) for column, row in path) for path in paths)

    return search
