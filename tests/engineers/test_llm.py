from engineer_contract import TABLE, EngineerContract, evidence_of

from envwright.configuration import knob_bounds
from envwright.engineer import Engineer
from envwright.engineers.llm import LlmEngineer, LlmSettings
from envwright.policies.scripted import ScriptedPolicy
from envwright.testbeds.mapf_frozenlake.knobs import MapfKnobs

GOOD = "```yaml\nreasons:\n  5: too easy\n5: {data_ratio: 0.6, hole_ratio: 0.25}\n```"


def engineer(*answers: str, retries: int = 2) -> tuple[LlmEngineer, ScriptedPolicy]:
    policy = ScriptedPolicy(answers)
    made = LlmEngineer(
        policy=lambda: policy,
        render=lambda evidence: "the context",
        retry_message=lambda error: f"again: {error}",
        knobs=knob_bounds(MapfKnobs),
        settings=LlmSettings(retries=retries),
        seed=0,
    )
    return made, policy


class TestLlm(EngineerContract):
    def make(self) -> Engineer:
        return engineer(GOOD)[0]


def test_propose__keeps_what_the_answer_leaves_out() -> None:
    proposal = engineer(GOOD)[0].propose(evidence_of())
    assert proposal.table == {"3": TABLE["3"], "5": {"data_ratio": 0.6, "hole_ratio": 0.25, "wait_ratio": 0.4}}
    assert proposal.reasons == {"5": "too easy"}
    assert proposal.context == "the context"


def test_propose__asks_again_with_the_message_of_the_reader() -> None:
    made, policy = engineer("no block", "```yaml\n7: {data_ratio: 1}\n```", GOOD)
    proposal = made.propose(evidence_of())
    assert [attempt.error is None for attempt in proposal.attempts] == [False, False, True]
    assert "known rows are 3, 5" in (proposal.attempts[1].error or "")
    assert policy.asked[2][-1]["content"].startswith("again: unknown row '7'")
    assert [message["role"] for message in policy.asked[2]] == ["user", "assistant", "user", "assistant", "user"]


def test_propose__gives_up_after_the_last_retry() -> None:
    proposal = engineer("nothing", retries=1)[0].propose(evidence_of())
    assert proposal.table is None
    assert len(proposal.attempts) == 2
