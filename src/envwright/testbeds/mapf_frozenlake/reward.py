"""The verdict on a text: read, judged against the ground truth, and turned into the scalar reward."""

from pydantic import BaseModel, ConfigDict, Field

from envwright.testbed import Verdict
from envwright.testbeds.mapf_frozenlake.answer import Unreadable, read_answer
from envwright.testbeds.mapf_frozenlake.instance import Objective, SolvedInstance
from envwright.testbeds.mapf_frozenlake.verifier import FOLDED, Fault, Judgement, judge


class RewardWeights(BaseModel):
    """What each part adds to the reward; a setting of the recipe, out of the engineer's reach."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    parsed: float = Field(default=0.1, ge=0.0, le=1.0, description="added if the answer holds a plan for every agent")
    valid: float = Field(
        default=0.6, ge=0.0, le=1.0, description="added if the plan breaks no rule and every agent arrives"
    )
    optimal: float = Field(default=0.3, ge=0.0, le=1.0, description="added if the plan also meets the proved optimum")


def verify_text(
    solved: SolvedInstance, text: str, truncated: bool, objective: Objective, weights: RewardWeights
) -> Verdict:
    """Returns the verdict on any text.

    Args:
        solved: the board with its proved optima.
        text: a policy's whole answer.
        truncated: the text was cut off at the token limit.
        objective: what `optimal` refers to.
        weights: the parts of the reward.
    """
    answer = read_answer(text, solved.instance.agents, truncated)
    if isinstance(answer, Unreadable):
        judgement = Judgement(False, (Fault(answer.reason, 0, ()),))
    else:
        judgement = judge(solved.instance, answer)
    return _verdict(solved, judgement, not isinstance(answer, Unreadable), objective, weights)


def _verdict(
    solved: SolvedInstance, judgement: Judgement, parsed: bool, objective: Objective, weights: RewardWeights
) -> Verdict:
    met = {
        Objective.SUM_OF_COSTS: judgement.sum_of_costs == solved.truth.sum_of_costs,
        Objective.MAKESPAN: judgement.makespan == solved.truth.makespan,
    }
    optimal = met[objective]
    first = judgement.faults[0] if judgement.faults else None
    return Verdict(
        reward=parsed * weights.parsed + judgement.valid * weights.valid + optimal * weights.optimal,
        parsed=parsed,
        valid=judgement.valid,
        optimal=optimal,
        failure=first.kind if first else None,
        folded=FOLDED[first.kind] if first else None,
        kinds=tuple(fault.kind for fault in judgement.faults),
        details={
            "failure_time": first.time if first else None,
            "failure_agents": list(first.agents) if first else [],
            "sum_of_costs": judgement.sum_of_costs,
            "makespan": judgement.makespan,
            "optimal_sum_of_costs": met[Objective.SUM_OF_COSTS],
            "optimal_makespan": met[Objective.MAKESPAN],
        },
    )
