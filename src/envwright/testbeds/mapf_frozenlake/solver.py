"""The exact solver: both optima and both wait labels of a board, or the proof that it has no plan."""

from dataclasses import dataclass
from enum import StrEnum

from envwright.testbeds.mapf_frozenlake.distances import Board
from envwright.testbeds.mapf_frozenlake.instance import GroundTruth, Instance, Objective, Paths
from envwright.testbeds.mapf_frozenlake.joint_search import Budget, OutOfBudget
from envwright.testbeds.mapf_frozenlake.many_agents import Best, ManyAgents, many_truth
from envwright.testbeds.mapf_frozenlake.two_agents import TwoAgents, pair_truth

DEFAULT_BUDGET = 200_000
"""Joint states a search may expand; work, not seconds, so that every machine gives up at the same board."""


class Status(StrEnum):
    """How a search ended; undecided means that the budget was spent, never that an answer is unsure."""

    SOLVED = "solved"
    UNSOLVABLE = "unsolvable"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Solution:
    """The proved optimum with one plan: a path per agent from time 0 to its arrival for good."""

    status: Status
    cost: int | None
    paths: Paths | None
    work: int


@dataclass(frozen=True)
class Analysis:
    """Both optima and both wait labels, without a plan."""

    status: Status
    truth: GroundTruth | None
    work: int


def analyse(instance: Instance, budget: int = DEFAULT_BUDGET) -> Analysis:
    """Returns the ground truth of a board; the generator calls this for every candidate."""
    board = Board(instance)
    if instance.agents == 2:
        pair = TwoAgents(board)
        truth = pair_truth(pair)
        return Analysis(_status(truth), truth, pair.work)
    allowed = Budget(budget)
    try:
        truth = many_truth(ManyAgents(board, allowed))
    except OutOfBudget:
        return Analysis(Status.UNDECIDED, None, budget)
    return Analysis(_status(truth), truth, budget - allowed.left)


def solve(instance: Instance, objective: Objective, budget: int = DEFAULT_BUDGET) -> Solution:
    """Returns an optimal plan for the objective."""
    board = Board(instance)
    allowed = Budget(budget)
    try:
        best = ManyAgents(board, allowed).best(objective)
    except OutOfBudget:
        return Solution(Status.UNDECIDED, None, None, budget)
    cost = best.value if best else None
    return Solution(_status(best), cost, _paths(board, best) if best else None, budget - allowed.left)


def _status(answer: object) -> Status:
    return Status.UNSOLVABLE if answer is None else Status.SOLVED


def _paths(board: Board, best: Best) -> Paths:
    return tuple(tuple(board.cell(cell) for cell in path) for path in best.trail.paths)
