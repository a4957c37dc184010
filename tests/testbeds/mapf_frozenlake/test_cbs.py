import random

import pytest
from boards import random_board
from cases import LEGAL, instance_of, name_of

from envwright.testbeds.mapf_frozenlake.answer import Plan
from envwright.testbeds.mapf_frozenlake.cbs import conflict_based_search
from envwright.testbeds.mapf_frozenlake.instance import Objective
from envwright.testbeds.mapf_frozenlake.solver import Status, analyse, solve
from envwright.testbeds.mapf_frozenlake.verifier import judge


@pytest.mark.parametrize("case", LEGAL, ids=name_of)
def test_conflict_based_search__is_right_where_it_finishes(case: dict) -> None:
    solution = conflict_based_search(instance_of(case), nodes=300)
    if solution.status is Status.SOLVED:
        assert solution.cost == case["expected"]["soc_opt"]
    if solution.status is Status.UNSOLVABLE:
        assert case["expected"]["solvable"] is False


@pytest.mark.parametrize("agents", [2, 3, 4, 5])
def test_conflict_based_search__agrees_with_the_exact_solver(agents: int) -> None:
    generator = random.Random(f"cbs {agents}")
    solved = 0
    for index in range(40):
        size = 4 + index % 5
        board = random_board(size, agents, generator.randint(0, size * size // 4), generator)
        solution = conflict_based_search(board, nodes=200)
        exact = solve(board, Objective.SUM_OF_COSTS)
        if solution.status is Status.UNDECIDED or exact.status is Status.UNDECIDED:
            continue
        assert (solution.status, solution.cost) == (exact.status, exact.cost), board.to_text()
        if solution.paths is not None:
            judgement = judge(board, Plan("cells", solution.paths))
            assert judgement.valid
            assert judgement.sum_of_costs == solution.cost
            solved += 1
    assert solved >= 20


def test_conflict_based_search__gives_up_where_two_agents_can_never_pass() -> None:
    corridor = next(case for case in LEGAL if case["name"].startswith("head_on_in_dead_corridor"))
    assert conflict_based_search(instance_of(corridor), nodes=100).status is Status.UNDECIDED
    assert analyse(instance_of(corridor)).status is Status.UNSOLVABLE
