"""The exact solver: both optima and both wait labels of a board, or the proof that it has no plan."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from math import perm
from typing import TypeVar

from envwright.testbeds.mapf_frozenlake.distances import Board
from envwright.testbeds.mapf_frozenlake.ground_truth import Search, ground_truth
from envwright.testbeds.mapf_frozenlake.instance import GroundTruth, Instance, Objective, Paths
from envwright.testbeds.mapf_frozenlake.joint_search import Budget, OutOfBudget
from envwright.testbeds.mapf_frozenlake.many_agents import ManyAgents
from envwright.testbeds.mapf_frozenlake.placements import PlacementSearch
from envwright.testbeds.mapf_frozenlake.trails import Best
from envwright.testbeds.mapf_frozenlake.two_agents import TwoAgents, pair_truth

DEFAULT_BUDGET = 200_000
"""Joint states a search may expand; work, not seconds, so that every machine gives up at the same board."""

FEW_PLACEMENTS, MANY_PLACEMENTS = 10_000, 200_000
"""Up to the first number of placements a board is searched by them at once, up to the second as a last resort."""

AnswerT = TypeVar("AnswerT")


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
    truth, work = _first_in_budget(board, budget, ground_truth)
    return Analysis(Status.UNDECIDED if work > budget else _status(truth), truth, work)


def solve(instance: Instance, objective: Objective, budget: int = DEFAULT_BUDGET) -> Solution:
    """Returns an optimal plan for the objective."""
    board = Board(instance)
    best, work = _first_in_budget(board, budget, lambda search: search.best(objective))
    if work > budget:
        return Solution(Status.UNDECIDED, None, None, work)
    return Solution(_status(best), best.value if best else None, _paths(board, best) if best else None, work)


def _first_in_budget(board: Board, budget: int, ask: Callable[[Search], AnswerT]) -> tuple[AnswerT | None, int]:
    """Returns the answer of the first search that ends within the budget, and its work; more than the budget if none.

    Crowded small boards are searched placement by placement; the others by deadlines, and if those fail, by
    placements too where these are not too many.
    """
    placements = perm(board.free.bit_count(), len(board.starts))
    searches: list[Callable[[Budget], Search]] = []
    if placements > FEW_PLACEMENTS:
        searches.append(partial(ManyAgents, board))
    if placements <= MANY_PLACEMENTS:
        searches.append(partial(PlacementSearch, board))
    for search in searches:
        left = Budget(budget)
        with suppress(OutOfBudget):
            return ask(search(left)), budget - left.left
    return None, budget + 1


def _status(answer: object) -> Status:
    return Status.UNSOLVABLE if answer is None else Status.SOLVED


def _paths(board: Board, best: Best) -> Paths:
    return tuple(tuple(board.cell(cell) for cell in path) for path in best.trail.paths)
