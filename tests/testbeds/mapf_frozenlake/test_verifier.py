import pytest
from cases import CASES, LEGAL, cells, instance_of, name_of
from hypothesis import given, settings
from hypothesis import strategies as st

from envwright.testbeds.mapf_frozenlake.answer import Plan, Unreadable, read_answer
from envwright.testbeds.mapf_frozenlake.instance import Instance
from envwright.testbeds.mapf_frozenlake.verifier import FAILURES, FOLDED, Judgement, judge

JUDGED = [case for case in LEGAL if case.get("plan") or case.get("plan_cells") or case.get("answer_text") is not None]
OPEN_BOARD = Instance.from_rows(["....", ".H..", "....", "...."], [[0, 0], [3, 3]], [[2, 2], [0, 1]])


def judgement_of(case: dict) -> Judgement | Unreadable:
    board = instance_of(case)
    if case.get("answer_text") is not None:
        plan = read_answer(case["answer_text"], board.agents)
        return plan if isinstance(plan, Unreadable) else judge(board, plan)
    if case.get("plan_cells"):
        return judge(board, Plan("cells", tuple(cells(path) for path in case["plan_cells"])))
    return judge(board, Plan("actions", tuple(tuple(words) for words in case["plan"])))


@pytest.mark.parametrize("case", JUDGED, ids=name_of)
def test_judge__gives_the_expected_verdict(case: dict) -> None:
    expected, judgement = case["expected"], judgement_of(case)
    if isinstance(judgement, Unreadable):
        assert judgement.reason == expected["failure"]
        return
    assert judgement.valid == expected["valid"]
    first = judgement.faults[0] if judgement.faults else None
    assert (first.kind if first else None) == expected["failure"]
    if first and "failure_time" in expected:
        assert first.time == expected["failure_time"]
    if first and "failure_agents" in expected:
        assert list(first.agents) == expected["failure_agents"]
    for name, value in (
        ("plan_soc", judgement.sum_of_costs),
        ("plan_makespan", judgement.makespan),
        ("plan_waits", judgement.waits),
    ):
        if judgement.valid and name in expected:
            assert value == expected[name], name
    if "optimal_soc" in expected:
        assert (judgement.sum_of_costs == expected["soc_opt"]) == expected["optimal_soc"]
    if "optimal_makespan" in expected:
        assert (judgement.makespan == expected["makespan_opt"]) == expected["optimal_makespan"]


@pytest.mark.parametrize("case", [case for case in CASES if case not in LEGAL], ids=name_of)
def test_instance__refuses_boards_that_break_the_rules(case: dict) -> None:
    with pytest.raises(ValueError, match="distinct"):
        instance_of(case)


def test_cases__are_all_used() -> None:
    assert len(CASES) == 40
    assert len(JUDGED) > 20


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.lists(st.sampled_from(["UP", "DOWN", "LEFT", "RIGHT", "WAIT", "JUMP"]), max_size=8), min_size=2, max_size=2
    )
)
def test_judge__calls_every_plan_valid_or_names_what_fails(words: list[list[str]]) -> None:
    judgement = judge(OPEN_BOARD, Plan("actions", tuple(tuple(agent) for agent in words)))
    assert judgement.valid == (not judgement.faults)
    assert all(fault.kind in FAILURES for fault in judgement.faults)
    assert len({fault.kind for fault in judgement.faults}) == len(judgement.faults)
    assert (judgement.sum_of_costs is None) == (not judgement.valid)


GOOD = (
    ((0, 0), (1, 0), (2, 0), (2, 1), (2, 2)),
    ((3, 3), (2, 3), (1, 3), (0, 3), (0, 2), (0, 1)),
)


def test_judge__measures_a_valid_plan() -> None:
    judgement = judge(OPEN_BOARD, Plan("cells", GOOD))
    assert (judgement.valid, judgement.sum_of_costs, judgement.makespan, judgement.waits) == (True, 9, 5, 0)


@given(st.integers(0, 1), st.integers(0, 5), st.sampled_from([(0, 5), (-1, 0), (3, 0), (1, 1)]))
def test_judge__catches_a_displaced_cell(agent: int, time: int, cell: tuple[int, int]) -> None:
    paths = [list(path) for path in GOOD]
    time = min(time, len(paths[agent]) - 1)
    if paths[agent][time] == cell:
        return
    paths[agent][time] = cell
    assert not judge(OPEN_BOARD, Plan("cells", tuple(tuple(path) for path in paths))).valid


def test_judge__orders_the_checks_within_a_step() -> None:
    board = Instance.from_rows(["..H", "...", "..."], [[0, 0], [1, 2]], [[2, 0], [0, 1]])
    both = Plan("actions", (("UP",), ("UP",)))
    assert [fault.kind for fault in judge(board, both).faults] == [
        "out_of_bounds",
        "hole_collision",
        "goal_not_reached",
    ]


def test_failures__fold_to_the_five_kinds_of_the_paper() -> None:
    assert set(FOLDED.values()) == {"parse", "illegal_move", "hole", "conflict", "goal"}
