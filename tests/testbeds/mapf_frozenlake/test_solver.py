import random

import pytest
from boards import random_board
from brute_force import brute_force
from cases import LEGAL, instance_of, name_of
from hypothesis import given, settings
from hypothesis import strategies as st

from envwright.testbeds.mapf_frozenlake.answer import Plan
from envwright.testbeds.mapf_frozenlake.distances import Board
from envwright.testbeds.mapf_frozenlake.instance import Instance, Objective
from envwright.testbeds.mapf_frozenlake.solver import Status, analyse, solve
from envwright.testbeds.mapf_frozenlake.verifier import judge


@pytest.mark.parametrize("case", LEGAL, ids=name_of)
def test_analyse__gives_the_proved_answers(case: dict) -> None:
    expected, analysis = case["expected"], analyse(instance_of(case))
    if expected["solvable"] is False:
        assert analysis.status is Status.UNSOLVABLE
        return
    assert analysis.truth is not None
    assert analysis.truth.sum_of_costs == expected["soc_opt"]
    assert analysis.truth.makespan == expected["makespan_opt"]
    assert analysis.truth.needs_wait_sum_of_costs == expected["needs_wait"]
    assert analysis.truth.needs_wait_makespan == expected["needs_wait_makespan"]


@pytest.mark.parametrize(("size", "agents", "boards"), [(3, 2, 60), (4, 2, 25), (3, 3, 25), (3, 4, 4), (4, 3, 3)])
def test_analyse__agrees_with_brute_force(size: int, agents: int, boards: int) -> None:
    generator = random.Random(f"brute force {size} {agents}")
    for _ in range(boards):
        holes = generator.randint(0, min(size * size // 2, size * size - agents - 1))
        board = random_board(size, agents, holes, generator)
        analysis = analyse(board)
        assert analysis.status is not Status.UNDECIDED
        assert analysis.truth == brute_force(board), board.to_text()


@pytest.mark.slow
def test_analyse__agrees_with_brute_force_on_many_boards_of_two_agents() -> None:
    generator = random.Random("many boards")
    for index in range(600):
        size = 3 + index % 2
        board = random_board(size, 2, generator.randint(0, size * size // 2), generator)
        assert analyse(board).truth == brute_force(board), board.to_text()


@pytest.mark.parametrize("objective", Objective)
@pytest.mark.parametrize("agents", [2, 3, 4])
def test_solve__gives_plans_that_the_verifier_calls_optimal(agents: int, objective: Objective) -> None:
    generator = random.Random(f"plans {agents}")
    solved = 0
    for size in range(3, 11):
        for ratio in (0.0, 0.2, 0.4):
            holes = min(round(ratio * size * size), size * size - 3 * agents)
            board = random_board(size, agents, max(0, holes), generator)
            solution = solve(board, objective, budget=5_000)
            if solution.paths is None:
                continue
            judgement = judge(board, Plan("cells", solution.paths))
            assert judgement.valid, (board.to_text(), judgement.faults)
            costs = judgement.sum_of_costs if objective is Objective.SUM_OF_COSTS else judgement.makespan
            assert costs == solution.cost
            solved += 1
    assert solved >= 8


@settings(max_examples=60, deadline=None)
@given(st.integers(3, 8), st.floats(0, 0.5), st.integers(0, 10**6))
def test_analyse__obeys_the_parity_of_grids(size: int, ratio: float, seed: int) -> None:
    board = random_board(size, 2, min(round(ratio * size * size), size * size - 4), random.Random(seed))
    truth = analyse(board).truth
    if truth is None:
        return
    grid = Board(board)
    excess = truth.sum_of_costs - sum(grid.distances(g)[s] for s, g in zip(grid.starts, grid.goals, strict=True))
    assert excess >= 0
    if truth.needs_wait_sum_of_costs or truth.needs_wait_makespan:
        assert excess > 0
    if excess % 2:
        assert truth.needs_wait_sum_of_costs


def test_solve__says_undecided_when_the_budget_is_spent() -> None:
    crowded = Instance.from_rows(
        ["....", "....", "....", "...."],
        [[0, 0], [0, 1], [0, 2], [0, 3], [1, 0]],
        [[0, 3], [0, 2], [0, 1], [0, 0], [1, 1]],
    )
    assert solve(crowded, Objective.SUM_OF_COSTS, budget=3).status is Status.UNDECIDED
    assert analyse(crowded, budget=3).status is Status.UNDECIDED
