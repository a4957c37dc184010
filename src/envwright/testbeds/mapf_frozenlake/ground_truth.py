"""Both optima and both wait labels of a board, from any search that finds optima with and without waits."""

from typing import Protocol

from envwright.testbeds.mapf_frozenlake.distances import FAR
from envwright.testbeds.mapf_frozenlake.instance import GroundTruth, Objective
from envwright.testbeds.mapf_frozenlake.trails import Best, States


class Search(Protocol):
    """An exact search on one board."""

    shortest: States
    """Each agent's distance to its goal."""

    def best(self, objective: Objective, waits: bool = True, limit: int = FAR - 1) -> Best | None:
        """Returns the optimum within the limit, or None."""
        ...


def ground_truth(search: Search) -> GroundTruth | None:
    """Returns both optima and both wait labels, or None when there is no plan.

    Raises:
        OutOfBudget: the budget is spent first.
    """
    costs = search.best(Objective.SUM_OF_COSTS)
    if costs is None:
        return None
    if costs.value == sum(search.shortest):  # shortest paths have no waits, and no agent arrives earlier
        return GroundTruth(costs.value, max(search.shortest), False, False)
    makespan = search.best(Objective.MAKESPAN)
    if makespan is None:
        raise AssertionError("a plan for one objective is a plan for the other")
    odd = (costs.value - sum(search.shortest)) % 2 == 1
    return GroundTruth(
        costs.value,
        makespan.value,
        odd or _needs_wait(search, Objective.SUM_OF_COSTS, costs),
        _needs_wait(search, Objective.MAKESPAN, makespan),
    )


def _needs_wait(search: Search, objective: Objective, best: Best) -> bool:
    return best.trail.has_wait and search.best(objective, waits=False, limit=best.value) is None
