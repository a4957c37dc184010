from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive_judge import naive_costs, naive_faults

from envwright.testbeds.mapf_frozenlake.answer import MOVES, Plan
from envwright.testbeds.mapf_frozenlake.instance import Cell, Instance, Paths
from envwright.testbeds.mapf_frozenlake.verifier import FAILURES, FOLDED, Fault, judge

OPEN = Instance.from_rows(["...", "...", "..."], [[0, 0], [2, 0]], [[0, 2], [2, 1]])
PATHS: Paths = (((0, 0), (0, 1), (0, 2)), ((2, 0), (2, 1)))
WITH_HOLE = Instance.from_rows(["...", ".H.", "..."], [[1, 0], [2, 2]], [[1, 2], [2, 1]])
ROW = Instance.from_rows(["....", "HHHH", "HHHH", "HHHH"], [[0, 0], [0, 3]], [[0, 3], [0, 0]])


def cells(*paths: list[Cell]) -> Plan:
    return Plan("cells", tuple(tuple(path) for path in paths))


def actions(*lists: str) -> Plan:
    return Plan("actions", tuple(tuple(words.split()) for words in lists))


def test_judge__of_a_valid_plan_counts_arrivals_makespan_and_waits():
    judgement = judge(OPEN, actions("RIGHT WAIT RIGHT WAIT", "RIGHT"))
    assert (judgement.valid, judgement.faults) == (True, ())
    assert (judgement.sum_of_costs, judgement.makespan, judgement.waits) == (4, 3, 1)
    assert judgement.paths == (((0, 0), (0, 1), (0, 1), (0, 2), (0, 2)), ((2, 0), (2, 1)))


def test_judge__counts_an_agent_that_crosses_its_goal_by_its_last_arrival():
    judgement = judge(OPEN, actions("RIGHT RIGHT DOWN WAIT UP", "RIGHT"))
    assert (judgement.sum_of_costs, judgement.makespan, judgement.waits) == (6, 5, 1)


def test_judge__costs_nothing_for_an_agent_that_stays_on_its_goal():
    instance = Instance.from_rows(["...", "...", "..."], [[0, 0], [2, 0]], [[0, 0], [2, 1]])
    for plan in (actions("", "RIGHT"), actions("WAIT WAIT", "RIGHT"), cells([(0, 0)], [(2, 0), (2, 1)])):
        judgement = judge(instance, plan)
        assert (judgement.sum_of_costs, judgement.makespan, judgement.waits) == (1, 1, 0)


@pytest.mark.parametrize(("row", "column", "word"), [(0, 1, "UP"), (2, 1, "DOWN"), (1, 0, "LEFT"), (1, 2, "RIGHT")])
def test_judge__moves_in_the_stated_axes(row: int, column: int, word: str):
    instance = Instance.from_rows(["...", "...", "..."], [[1, 1]], [[row, column]])
    assert judge(instance, actions(word)).valid
    assert not any(judge(instance, actions(other)).valid for other in MOVES if other != word)


@pytest.mark.parametrize(
    ("instance", "plan", "fault"),
    [
        (OPEN, cells([(0, 1), (0, 2)], [(2, 0), (2, 1)]), Fault("wrong_start", 0, (0,))),
        (OPEN, cells([], [(2, 0), (2, 1)]), Fault("wrong_start", 0, (0,))),
        (OPEN, actions("UP RIGHT", "RIGHT"), Fault("out_of_bounds", 1, (0,))),
        (OPEN, cells([(0, 0), (0, 1), (0, 2), (0, 3), (0, 2)], [(2, 0), (2, 1)]), Fault("out_of_bounds", 3, (0,))),
        (OPEN, cells([(0, 0), (0, 2)], [(2, 0), (2, 1)]), Fault("illegal_move", 1, (0,))),
        (OPEN, cells([(0, 0), (1, 1), (0, 1), (0, 2)], [(2, 0), (2, 1)]), Fault("illegal_move", 1, (0,))),
        (OPEN, actions("RIGHT STAY RIGHT", "RIGHT"), Fault("illegal_move", 2, (0,))),
        (OPEN, actions("right RIGHT", "RIGHT"), Fault("illegal_move", 1, (0,))),
        (WITH_HOLE, actions("RIGHT RIGHT", "LEFT"), Fault("hole_collision", 1, (0,))),
        (ROW, actions("RIGHT", "LEFT LEFT"), Fault("vertex_conflict", 2, (0, 1))),
        (ROW, actions("RIGHT RIGHT RIGHT", "LEFT LEFT LEFT"), Fault("edge_conflict", 2, (0, 1))),
        (OPEN, actions("RIGHT", "RIGHT"), Fault("goal_not_reached", 1, (0,))),
        (OPEN, actions("", ""), Fault("goal_not_reached", 0, (0, 1))),
        (OPEN, actions("RIGHT RIGHT"), Fault("wrong_agent_count", 0, ())),
    ],
)
def test_judge__names_the_first_failure_with_its_step_and_agents(instance: Instance, plan: Plan, fault: Fault):
    judgement = judge(instance, plan)
    assert judgement.faults[0] == fault
    assert not judgement.valid
    assert (judgement.sum_of_costs, judgement.makespan, judgement.waits) == (None, None, None)


def test_judge__checks_step_by_step_before_it_checks_by_kind():
    judgement = judge(WITH_HOLE, actions("RIGHT RIGHT LEFT LEFT", "LEFT DOWN"))
    assert [(fault.kind, fault.time) for fault in judgement.faults] == [
        ("hole_collision", 1),
        ("out_of_bounds", 2),
        ("goal_not_reached", 4),
    ]


def test_judge__checks_within_a_step_in_the_stated_order_and_records_every_kind():
    instance = Instance.from_rows(
        ["....", ".H..", "....", "...."],
        [[0, 0], [1, 0], [2, 0], [3, 0], [3, 3]],
        [[0, 1], [0, 2], [2, 2], [3, 2], [2, 3]],
    )
    plan = cells(
        [(0, 0), (1, 0)],  # exchanges with agent 1
        [(1, 0), (0, 0)],
        [(2, 0), (1, 1)],  # a diagonal into the hole
        [(3, 0), (4, 0)],  # off the board
        [(3, 3), (1, 0)],  # a jump onto agent 0
    )
    assert judge(instance, plan).faults == (
        Fault("out_of_bounds", 1, (3,)),
        Fault("illegal_move", 1, (2, 4)),
        Fault("hole_collision", 1, (2,)),
        Fault("vertex_conflict", 1, (0, 4)),
        Fault("edge_conflict", 1, (0, 1)),
        Fault("goal_not_reached", 1, (0, 1, 2, 3, 4)),
    )


def test_judge__goes_on_from_the_stated_cell_or_after_an_unknown_word_from_the_old_one():
    assert [f.kind for f in judge(OPEN, cells([(0, 0), (0, 2)], [(2, 0), (2, 1)])).faults] == ["illegal_move"]
    assert [f.kind for f in judge(OPEN, actions("STAY RIGHT RIGHT", "RIGHT")).faults] == ["illegal_move"]
    assert judge(OPEN, actions("UP DOWN", "RIGHT")).paths == (((0, 0), (-1, 0), (0, 0)), ((2, 0), (2, 1)))


def test_judge__lets_an_agent_at_the_end_of_its_path_block_its_cell():
    instance = Instance.from_rows(["...", "HHH", "HHH"], [[0, 1], [0, 0]], [[0, 1], [0, 2]])
    for standing in ("", "WAIT WAIT WAIT"):
        assert judge(instance, actions(standing, "RIGHT RIGHT")).faults[0] == Fault("vertex_conflict", 1, (0, 1))


def test_judge__finds_agents_that_stand_together_at_the_start():
    board = object.__new__(Instance)  # no legal instance has this; the judge does not rely on it
    for name, value in {"size": 3, "holes": (), "starts": ((0, 0),) * 2, "goals": ((0, 2), (2, 0))}.items():
        object.__setattr__(board, name, value)
    assert judge(board, actions("RIGHT RIGHT", "DOWN DOWN")).faults == (Fault("vertex_conflict", 0, (0, 1)),)


def test_judge__allows_following_and_rotation():
    square = [(0, 0), (0, 1), (1, 1), (1, 0)]
    for count in (3, 4):
        rows = ["..H", "..H", "HHH"]
        starts, goals = square[:count], [*square[1:], square[0]][:count]
        instance = Instance.from_rows(rows, [list(cell) for cell in starts], [list(cell) for cell in goals])
        assert judge(instance, cells(*([a, b] for a, b in zip(starts, goals, strict=True)))).sum_of_costs == count


FAR = st.sampled_from([-(10**9), -5, 31, 32, 10**9])
STEPS = st.sampled_from([*MOVES, "STAY"])
NEAR = st.tuples(st.integers(-1, 4), st.integers(-1, 4)) | st.tuples(FAR, FAR)


@st.composite
def boards(draw: st.DrawFn) -> Instance:
    everywhere = [(row, column) for row in range(4) for column in range(4)]
    agents = draw(st.integers(1, 4))
    free, goals = draw(st.permutations(everywhere)), draw(st.permutations(everywhere))
    starts, ends = free[:agents], goals[:agents]
    holes = [cell for cell in draw(st.sets(st.sampled_from(everywhere), max_size=6)) if cell not in {*starts, *ends}]
    return Instance(4, tuple(holes), tuple(starts), tuple(ends))


@st.composite
def boards_with_plans(draw: st.DrawFn) -> tuple[Instance, Plan]:
    instance = draw(boards())
    form = draw(st.sampled_from(["cells", "actions"]))
    lists = st.lists(STEPS if form == "actions" else NEAR, max_size=8).map(tuple)
    return instance, Plan(form, tuple(draw(lists) for _ in range(instance.agents)))


@given(boards_with_plans())
def test_judge__calls_any_plan_valid_or_names_its_failures_once_each_in_time_order(drawn: tuple[Instance, Plan]):
    judgement = judge(*drawn)
    kinds = [fault.kind for fault in judgement.faults]
    assert judgement.valid == (not kinds)
    assert max(Counter(kinds).values(), default=1) == 1
    order = [(fault.time, FAILURES.index(fault.kind)) for fault in judgement.faults]
    assert order == sorted(order)


@given(boards_with_plans())
def test_judge__of_any_plan_finds_what_the_rules_taken_word_by_word_find(drawn: tuple[Instance, Plan]):
    assert_judged_word_by_word(*drawn)


def assert_judged_word_by_word(instance: Instance, plan: Plan) -> None:
    judgement = judge(instance, plan)
    assert [(fault.kind, fault.time, fault.agents) for fault in judgement.faults] == naive_faults(instance, plan)
    costs = None if judgement.faults else naive_costs(instance, plan)
    assert (judgement.sum_of_costs, judgement.makespan, judgement.waits) == (costs or (None, None, None))


@st.composite
def legal_plans(draw: st.DrawFn) -> tuple[Instance, Paths]:
    """A board with a legal plan: free walks of all agents, whose ends are the goals."""
    instance = draw(boards())
    states = [list(instance.starts)]
    for _ in range(draw(st.integers(1, 6))):
        moves = [draw(st.sampled_from(list(MOVES.values()))) for _ in states[-1]]
        states.append([(cell[0] + move[0], cell[1] + move[1]) for cell, move in zip(states[-1], moves, strict=True)])
        legal = Plan("cells", tuple(zip(*states, strict=True)))
        if {fault.kind for fault in judge(instance, legal).faults} - {"goal_not_reached"}:
            states[-1] = states[-2]
    paths: Paths = tuple(zip(*states, strict=True))
    return Instance(4, instance.holes, instance.starts, tuple(states[-1])), paths


@st.composite
def mutants(draw: st.DrawFn) -> tuple[Instance, Plan]:
    """A board with a legal plan in either form, after a few of the slips that models make."""
    instance, paths = draw(legal_plans())
    form = draw(st.sampled_from(["cells", "actions"]))
    steps: list[list[Any]] = [list(path) if form == "cells" else words_of(path) for path in paths]
    for _ in range(draw(st.integers(0, 3))):
        path = draw(st.sampled_from(steps))
        one, other = (draw(st.integers(0, max(len(path) - 1, 0))) for _ in range(2))
        wait = path[one : one + 1] if form == "cells" else ["WAIT"]
        match draw(st.sampled_from(["drop", "wait", "swap", "change", "truncate", "extend"])):
            case "drop":
                del path[one : one + 1]
            case "wait":
                path[one:one] = wait
            case "swap" if path:
                path[one], path[other] = path[other], path[one]
            case "change":
                path[one : one + 1] = [draw(STEPS if form == "actions" else NEAR)]
            case "truncate":
                del path[one:]
            case _:
                path += [draw(STEPS) if form == "actions" else draw(NEAR), *reversed(path)]
    return instance, Plan(form, tuple(map(tuple, steps)))


def words_of(path: tuple[Cell, ...]) -> list[str]:
    words = {move: word for word, move in MOVES.items()}
    return [words[c - a, d - b] for (a, b), (c, d) in pairwise(path)]


@given(mutants())
def test_judge__of_a_mutated_plan_finds_what_the_rules_taken_word_by_word_find(drawn: tuple[Instance, Plan]):
    assert_judged_word_by_word(*drawn)


@pytest.mark.parametrize("size", [31, 32, 33, 40])
def test_judge__holds_to_the_rules_on_boards_of_any_size(size: int):
    edge = size - 1
    rows = ["." * size] * size
    instance = Instance.from_rows(rows, [[edge, edge - 2], [edge, edge]], [[edge, edge], [edge - 1, edge]])
    for plan in (
        actions("RIGHT RIGHT", "UP"),
        actions("RIGHT RIGHT", "RIGHT UP"),
        actions("RIGHT WAIT RIGHT", "LEFT RIGHT UP"),
        actions("RIGHT", "LEFT"),
        actions("RIGHT RIGHT", "WAIT LEFT"),
        cells([(edge, edge - 2), (edge, edge)], [(edge, edge), (edge - 1, edge)]),
    ):
        assert_judged_word_by_word(instance, plan)
    assert judge(instance, actions("RIGHT RIGHT", "UP")).valid


@given(legal_plans(), st.data())
def test_judge__catches_each_kind_of_mutation(drawn: tuple[Instance, Paths], data: st.DataObject):
    instance, paths = drawn
    assert judge(instance, Plan("cells", paths)).valid
    assert not naive_faults(instance, Plan("cells", paths))
    agent = data.draw(st.integers(0, instance.agents - 1))
    time = data.draw(st.integers(1, len(paths[0]) - 1))
    path = paths[agent]
    row, column = path[time]
    mutants = {
        "wrong_start": ((path[0][0] + 1, path[0][1]), *path[1:]),
        "out_of_bounds": (*path[:time], (-1, column), *path[time:]),
        "illegal_move": (*path[:time], (row + 2, column + 2), *path[time:]),
        "goal_not_reached": (*path, next(c for c in ((row, column + 1), (row, column - 1)) if c != path[-1])),
    }
    if instance.holes:
        mutants["hole_collision"] = (*path[:time], instance.holes[0], *path[time:])
    if instance.agents > 1:
        other = paths[(agent + 1) % instance.agents]
        mutants["vertex_conflict"] = (*path[:time], other[time], *path[time:])
    for kind, mutant in mutants.items():
        changed = (*paths[:agent], mutant, *paths[agent + 1 :])
        judgement = judge(instance, Plan("cells", changed))
        assert kind in {fault.kind for fault in judgement.faults}


def test_folded__covers_every_failure_with_the_papers_five():
    assert tuple(FOLDED) == FAILURES
    assert set(FOLDED.values()) == {"parse", "illegal_move", "hole", "conflict", "goal"}
