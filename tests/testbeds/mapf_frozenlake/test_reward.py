import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from envwright.testbed import Verdict
from envwright.testbeds.mapf_frozenlake.answer import Plan, format_cells, read_answer
from envwright.testbeds.mapf_frozenlake.instance import GroundTruth, Instance, Objective, SolvedInstance
from envwright.testbeds.mapf_frozenlake.reward import RewardWeights, verify_text
from envwright.testbeds.mapf_frozenlake.verifier import FOLDED, judge

CASES: list[dict[str, Any]] = json.loads((Path(__file__).parents[2] / "data" / "mapf_cases.json").read_text())
JUDGED = [
    case for case in CASES if case["expected"]["valid"] is not None and not case["expected"].get("invalid_instance")
]
REFUSED = [case for case in CASES if case["expected"].get("invalid_instance")]

WEIGHTS = RewardWeights()
BOARD = SolvedInstance(
    Instance.from_rows(["...", "...", "..."], [[0, 0], [2, 0]], [[0, 2], [2, 1]]), GroundTruth(3, 2, False, False)
)


def verify(text: str, truncated: bool = False, objective: Objective = Objective.SUM_OF_COSTS) -> Verdict:
    return verify_text(BOARD, text, truncated, objective, WEIGHTS)


def solved(case: dict[str, Any]) -> SolvedInstance:
    expected = case["expected"]
    truth = GroundTruth(
        expected["soc_opt"], expected["makespan_opt"], expected["needs_wait"], expected["needs_wait_makespan"]
    )
    return SolvedInstance(Instance.from_rows(case["grid"], case["starts"], case["goals"]), truth)


def texts(case: dict[str, Any]) -> list[str]:
    """The case's answer as text, and its plan in every form that the case gives."""
    found = [case["answer_text"]] if "answer_text" in case else []
    if case["plan"] is not None:
        lines = [f"Agent {agent}: {', '.join(words)}" for agent, words in enumerate(case["plan"])]
        found += ["\n".join(lines), json.dumps(dict(enumerate(case["plan"])))]
    if "plan_cells" in case:
        found += [format_cells(case["plan_cells"]), json.dumps(dict(enumerate(case["plan_cells"])))]
    return found


@pytest.mark.parametrize("case", JUDGED, ids=lambda case: case["name"])
def test_verify_text__gives_the_known_verdict_on_every_case(case: dict[str, Any]):
    expected = case["expected"]
    agents = expected.get("failure_agents", [expected["failure_agent"]] if "failure_agent" in expected else None)
    assert texts(case)
    for text in texts(case):
        verdict = verify_text(solved(case), text, False, Objective.SUM_OF_COSTS, WEIGHTS)
        assert (verdict.valid, verdict.failure) == (expected["valid"], expected["failure"])
        assert verdict.optimal is verdict.details["optimal_sum_of_costs"] is expected["optimal_soc"]
        assert verdict.details["optimal_makespan"] is expected["optimal_makespan"]
        assert verdict.details["sum_of_costs"] == expected.get("plan_soc")
        assert verdict.details["makespan"] == expected.get("plan_makespan")
        if "failure_time" in expected:
            assert verdict.details["failure_time"] == expected["failure_time"]
        if agents is not None:
            assert verdict.details["failure_agents"] == agents


@pytest.mark.parametrize("case", [case for case in JUDGED if "plan_waits" in case["expected"]], ids=lambda c: c["name"])
def test_judge__counts_the_known_waits_of_every_case(case: dict[str, Any]):
    board = solved(case).instance
    for text in texts(case):
        plan = read_answer(text, board.agents)
        assert isinstance(plan, Plan)
        assert judge(board, plan).waits == case["expected"]["plan_waits"]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case["name"])
def test_instance__refuses_every_case_that_breaks_the_rules_of_the_world(case: dict[str, Any]):
    with pytest.raises(ValueError, match="pairwise distinct"):
        Instance.from_rows(case["grid"], case["starts"], case["goals"])


OPTIMAL = "Agent 0: RIGHT, RIGHT\nAgent 1: RIGHT"
LATE = "Agent 0: RIGHT, RIGHT\nAgent 1: WAIT, RIGHT"
BROKEN = "Agent 0: UP\nAgent 1: RIGHT"


@pytest.mark.parametrize(
    ("text", "objective", "reward"),
    [
        (OPTIMAL, Objective.SUM_OF_COSTS, 1.0),
        (OPTIMAL, Objective.MAKESPAN, 1.0),
        (LATE, Objective.SUM_OF_COSTS, 0.7),
        (LATE, Objective.MAKESPAN, 1.0),
        (BROKEN, Objective.SUM_OF_COSTS, 0.1),
        ("Agent 0: RIGHT, RIGHT", Objective.SUM_OF_COSTS, 0.0),
        ("no idea", Objective.SUM_OF_COSTS, 0.0),
    ],
)
def test_verify_text__adds_the_parts_of_the_reward(text: str, objective: Objective, reward: float):
    assert verify(text, objective=objective).reward == pytest.approx(reward)


CELLS = "Agent 0: (0,0) -> (0,1) -> (0,2)\nAgent 1: (2,0) -> (2,1)"
JSON = '{"0": [[0,0],[0,1],[0,2]], "1": [[2,0],[2,1]]}'


@pytest.mark.parametrize(
    ("text", "failure"),
    [
        (f"<think>{BROKEN}</think>{CELLS}", None),
        (f"<think><answer>{BROKEN}</answer></think><answer>{CELLS}</answer>", None),
        (f"{BROKEN}</think>{CELLS}", None),
        (f"<think>{CELLS}</think>{BROKEN}", "out_of_bounds"),
        (f"<think>{CELLS}", "parse_error"),
        (f"<answer>{CELLS}</answer></think>Done.", "parse_error"),
        (f"<think>a<think>b</think>{BROKEN}</think>{CELLS}", None),
        (f"```\n{CELLS}\n```", None),
        (f"Here it is:\n```text\n{OPTIMAL}\n```\nBoth arrive.", None),
        (f"```\n{BROKEN}\n```", "out_of_bounds"),
        (f"```\n{CELLS}\n```\n```\n{BROKEN}\n```", "out_of_bounds"),
        (JSON, None),
        (f"```json\n{JSON}\n```", None),
        (f"<answer>{JSON}</answer>", None),
        (f"{BROKEN}\n{JSON}", None),
        (f"{JSON}\n{BROKEN}", "out_of_bounds"),
        (JSON.replace("[2,0],", "[2,2],"), "wrong_start"),
        ('{"0": [[0,0],[0,1],[0,2]]}', "wrong_agent_count"),
        ('{"0": "RIGHT, RIGHT", "1": "RIGHT"}', "parse_error"),
        (CELLS.replace("->", "→"), None),
        (CELLS.replace(" -> ", "⇒"), None),
        (CELLS.replace("->", "➡️"), None),
        (CELLS.replace("(0,1) ->", "→ → (0,1) →"), None),
        (CELLS.replace("->", "→").replace("(0,1)", "(1,1)"), "illegal_move"),
        (f"<answer>{BROKEN}</answer><answer>{CELLS}</answer>", None),
        (f"<answer>{CELLS}</answer><answer>{BROKEN}</answer>", "out_of_bounds"),
        (f"<answer>{CELLS}\n{CELLS}</answer>", None),
        (f"<answer>{BROKEN}\n{CELLS}</answer>", None),
        (f"<answer>{CELLS}\nAgent 0: RIGHT</answer>", None),
        (f"<answer>{CELLS}\nAgent 1: (2,0) -> (2,1)\nAgent 0: (0,0)</answer>", "goal_not_reached"),
        (f"{CELLS}\nNo, wait.\n{BROKEN}", "out_of_bounds"),
        (f"{BROKEN}\nNo, wait.\n{CELLS}", None),
        (f"{BROKEN}\nNo, wait. <answer>{CELLS}", "parse_error"),
        (f"{CELLS}\nAgent 2: (0,0)", "wrong_agent_count"),
        ("Agent 0: (0,0) -> (0,1) -> (0,2)\nAgent 1: RIGHT", "parse_error"),
    ],
)
def test_verify_text__of_answers_in_every_dress(text: str, failure: str | None):
    verdict = verify(text)
    assert (verdict.failure, verdict.optimal) == (failure, failure is None)


def test_verify_text__uses_the_recipes_weights():
    weights = RewardWeights(parsed=0.0, valid=1.0, optimal=0.5)
    assert verify_text(BOARD, OPTIMAL, False, Objective.SUM_OF_COSTS, weights).reward == 1.5
    assert verify_text(BOARD, LATE, False, Objective.SUM_OF_COSTS, weights).reward == 1.0
    assert verify_text(BOARD, BROKEN, False, Objective.SUM_OF_COSTS, weights).reward == 0.0


def test_verify_text__reports_both_objectives_whichever_is_asked_for():
    for objective in Objective:
        details = verify(LATE, objective=objective).details
        assert (details["sum_of_costs"], details["makespan"]) == (4, 2)
        assert (details["optimal_sum_of_costs"], details["optimal_makespan"]) == (False, True)


def test_verify_text__records_all_kinds_and_folds_the_first():
    verdict = verify("Agent 0: UP, STAY\nAgent 1: RIGHT")
    assert (verdict.failure, verdict.folded) == ("out_of_bounds", "illegal_move")
    assert verdict.kinds == ("out_of_bounds", "illegal_move", "goal_not_reached")
    assert (verdict.details["failure_time"], verdict.details["failure_agents"]) == (1, [0])


@pytest.mark.parametrize("failure", ["parse_error", "wrong_agent_count"])
def test_verify_text__folds_what_cannot_be_read_to_parse(failure: str):
    verdict = verify("?" if failure == "parse_error" else "Agent 0: UP")
    assert (verdict.parsed, verdict.failure, verdict.folded, verdict.kinds) == (False, failure, "parse", (failure,))


def test_verify_text__of_a_truncated_answer_is_a_parse_failure_unless_its_tag_is_closed():
    assert verify(OPTIMAL, truncated=True).failure == "parse_error"
    assert verify(f"<answer>\n{OPTIMAL}", truncated=True).failure == "parse_error"
    assert verify(f"<answer>\n{OPTIMAL}\n</answer> and", truncated=True).optimal


@given(st.text(), st.booleans())
def test_verify_text__of_any_text_is_a_verdict_that_survives_json(text: str, truncated: bool):
    verdict = verify(text, truncated)
    assert verdict.valid == (verdict.failure is None)
    assert verdict.folded == FOLDED.get(verdict.failure or "")
    assert Verdict.model_validate_json(verdict.model_dump_json()) == verdict


@pytest.mark.parametrize("values", [{"parsed": -0.1}, {"valid": 1.5}, {"bonus": 0.1}])
def test_reward_weights__outside_the_rules_are_refused(values: dict[str, float]):
    with pytest.raises(ValidationError):
        RewardWeights.model_validate(values)
