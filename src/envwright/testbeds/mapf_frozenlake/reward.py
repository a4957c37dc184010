"""From an answer to a verdict with its reward; the weights belong to the recipe, never to the engineer."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from envwright.testbed import Verdict
from envwright.testbeds.mapf_frozenlake.answer import Unreadable, read_answer
from envwright.testbeds.mapf_frozenlake.instance import Objective, SolvedInstance
from envwright.testbeds.mapf_frozenlake.verifier import FOLDED, Judgement, judge


class RewardWeights(BaseModel):
    """The parts of the reward (our choice; the paper's values are not public)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    parsed: float = Field(default=0.1, ge=-1, le=1, description="for an answer that can be read")
    valid: float = Field(default=0.6, ge=0, le=1, description="more, for a valid plan")
    optimal: float = Field(default=0.3, ge=0, le=1, description="more, for a valid plan that is optimal")


def verify_text(
    solved: SolvedInstance, text: str, truncated: bool, objective: Objective, weights: RewardWeights
) -> Verdict:
    """Returns the verdict on any text; details say what failed where, and both costs and both optimal flags."""
    plan = read_answer(text, solved.instance.agents, truncated)
    if isinstance(plan, Unreadable):
        return Verdict(
            reward=0.0,
            parsed=False,
            valid=False,
            optimal=False,
            failure=plan.reason,
            folded=FOLDED[plan.reason],
            kinds=(plan.reason,),
            details={**_details(solved, None), "reason": plan.detail},
        )
    judgement = judge(solved.instance, plan)
    details = _details(solved, judgement)
    optimal = bool(details[f"optimal_{objective}"])
    failure = judgement.faults[0].kind if judgement.faults else None
    return Verdict(
        reward=weights.parsed + weights.valid * judgement.valid + weights.optimal * optimal,
        parsed=True,
        valid=judgement.valid,
        optimal=optimal,
        failure=failure,
        folded=FOLDED[failure] if failure else None,
        kinds=tuple(fault.kind for fault in judgement.faults),
        details=details,
    )


def _details(solved: SolvedInstance, judgement: Judgement | None) -> dict[str, Any]:
    first = judgement.faults[0] if judgement and judgement.faults else None
    costs = judgement.sum_of_costs if judgement else None
    makespan = judgement.makespan if judgement else None
    return {
        "failure_time": first.time if first else None,
        "failure_agents": list(first.agents) if first else [],
        "sum_of_costs": costs,
        "makespan": makespan,
        "optimal_sum_of_costs": costs is not None and costs == solved.truth.sum_of_costs,
        "optimal_makespan": makespan is not None and makespan == solved.truth.makespan,
    }
