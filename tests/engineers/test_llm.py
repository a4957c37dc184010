import weakref
from collections.abc import Sequence

from engineer_contract import TABLE, EngineerContract, evidence_of

from envwright.configuration import knob_bounds
from envwright.engineer import Engineer, Proposal
from envwright.engineers.llm import LlmEngineer, LlmSettings
from envwright.errors import DataFileError, EndpointError, EnvwrightError
from envwright.policies.scripted import ScriptedPolicy
from envwright.policy import Policy, Sampling
from envwright.testbed import Completion, Message
from envwright.testbeds.mapf_frozenlake.knobs import MapfKnobs

GOOD = "```yaml\nreasons:\n  5: too easy\n5: {data_ratio: 0.6, hole_ratio: 0.25}\n```"


class CutOffPolicy(Policy):
    """Every answer ends at the token limit; remembers the seeds it was given."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.seeds: list[int] = []

    def generate(self, conversations: Sequence[Sequence[Message]], sampling: Sampling) -> list[Completion]:
        self.seeds.append(sampling.seed)
        return [Completion(text=self.text, tokens=9, truncated=True) for _ in conversations]


def engineer(*answers: str, retries: int = 2) -> tuple[LlmEngineer, ScriptedPolicy]:
    policy = ScriptedPolicy(answers)
    return engineer_with(policy, retries), policy


def engineer_with(policy: Policy, retries: int = 2) -> LlmEngineer:
    return LlmEngineer(
        policy=lambda: policy,
        render=lambda evidence, count: "the context",
        retry_message=lambda error: f"again: {error}",
        knobs=knob_bounds(MapfKnobs),
        settings=LlmSettings(retries=retries),
        seed=0,
    )


class TestLlm(EngineerContract):
    def make(self) -> Engineer:
        return engineer(GOOD)[0]


class TestLlmWithoutUsableAnswers(EngineerContract):
    def make(self) -> Engineer:
        return engineer("no", "```yaml\n5: {a: 1}\n```")[0]


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


def test_propose__records_text_tokens_and_time_of_each_attempt() -> None:
    first, second = engineer("two words", GOOD)[0].propose(evidence_of()).attempts
    assert (first.text, first.tokens) == ("two words", 2)
    assert "one fenced yaml block" in (first.error or "")
    assert (second.text, second.error) == (GOOD, None)
    assert min(first.seconds, second.seconds) >= 0


def test_propose__quotes_only_the_end_of_a_long_answer() -> None:
    made, policy = engineer("x" * 50_000 + " the end", GOOD)
    made.propose(evidence_of())
    quoted = policy.asked[1][1]["content"]
    assert len(quoted) == 2_000
    assert quoted.endswith(" the end")


def test_propose__leaves_out_the_line_that_was_cut_off() -> None:
    policy = CutOffPolicy("```yaml\n5: {data_ratio: 0.6}\n3: {data_ratio: 0.3}\n5")
    table = engineer_with(policy).propose(evidence_of()).table
    assert table == {"3": TABLE["3"] | {"data_ratio": 0.3}, "5": TABLE["5"] | {"data_ratio": 0.6}}


def test_propose__says_that_an_unusable_answer_was_cut_off() -> None:
    policy = CutOffPolicy("```yaml\n5:\n  data_ratio: 0.")
    (attempt, *_) = engineer_with(policy).propose(evidence_of()).attempts
    assert (attempt.error or "").startswith("the answer was cut off after 9 tokens, and the block must map each row")


def test_propose__gives_each_attempt_of_each_round_its_own_seed() -> None:
    policy = CutOffPolicy("nothing")
    for index in (0, 1):
        engineer_with(policy).propose(evidence_of(index=index))
    assert len(set(policy.seeds)) == 6


def test_propose__can_be_written_whatever_the_model_says() -> None:
    bad, good = "lone \ud83d half", GOOD.replace("too easy", '"\\ud83d lone, \\ud83d\\ude00 whole"')
    proposal = engineer(bad, good)[0].propose(evidence_of())
    assert proposal.reasons == {"5": "\ufffd lone, \U0001f600 whole"}
    assert Proposal.model_validate_json(proposal.model_dump_json()) == proposal


class FailingPolicy(Policy):
    """Fails as it is told, then answers."""

    def __init__(self, *problems: EnvwrightError) -> None:
        self.problems = list(problems)

    def generate(self, conversations: Sequence[Sequence[Message]], sampling: Sampling) -> list[Completion]:
        if self.problems:
            raise self.problems.pop(0)
        return [Completion(text=GOOD, tokens=1, record={"model": "x"})]


def test_propose__tries_again_after_a_passing_fault_and_keeps_the_records() -> None:
    policy = FailingPolicy(EndpointError("busy", transient=True, record={"events": ["HTTP 503"]}))
    first, second = engineer_with(policy).propose(evidence_of()).attempts
    assert (first.text, first.error, first.record) == ("", "busy", {"events": ["HTTP 503"]})
    assert (second.error, second.record) == (None, {"model": "x"})


def test_propose__takes_a_lasting_fault_of_the_policy_as_an_attempt_without_answer() -> None:
    for problem in (EndpointError("wrong key"), DataFileError("no such model")):
        proposal = engineer_with(FailingPolicy(problem)).propose(evidence_of())
        assert proposal.table is None
        assert [attempt.error for attempt in proposal.attempts] == [str(problem)]
        assert proposal.context == "the context"


def test_propose__loads_a_model_once_per_redesign_and_lets_it_go() -> None:
    loaded: list[weakref.ref[Policy]] = []

    def load() -> Policy:
        policy = ScriptedPolicy(["nothing"])
        loaded.append(weakref.ref(policy))
        return policy

    made = LlmEngineer(
        policy=load,
        render=lambda evidence, count: f"{count('a')} {count('b')}",
        retry_message=str,
        knobs=knob_bounds(MapfKnobs),
        settings=LlmSettings(),
        seed=0,
    )
    assert len(made.propose(evidence_of()).attempts) == 3
    assert [reference() for reference in loaded] == [None]
