import pytest
import torch

from envwright.errors import DataFileError
from envwright.policies.transformers_policy import ModelSettings, TransformersPolicy
from envwright.policy import Sampling
from envwright.testbeds.mapf_frozenlake.instance import Instance
from envwright.testbeds.mapf_frozenlake.prompt import task_messages

BOARD = Instance.from_rows(["...", "...", "..."], [[0, 0], [2, 2]], [[0, 2], [2, 0]])
CONVERSATIONS = [task_messages(BOARD)] * 3


@pytest.fixture(scope="module")
def policy() -> TransformersPolicy:
    return TransformersPolicy.load(ModelSettings())


def test_generate__is_a_function_of_the_seed(policy: TransformersPolicy) -> None:
    one, same, other = (
        policy.generate(CONVERSATIONS, Sampling(max_tokens=24, seed=seed, temperature=1.5)) for seed in (1, 1, 2)
    )
    assert one == same != other


def test_generate__leaves_the_global_generator_alone(policy: TransformersPolicy) -> None:
    before = torch.random.get_rng_state()
    policy.generate(CONVERSATIONS, Sampling(max_tokens=4))
    assert torch.equal(torch.random.get_rng_state(), before)


def test_generate__greedy_answers_alike(policy: TransformersPolicy) -> None:
    answers = policy.generate(CONVERSATIONS, Sampling(max_tokens=24, temperature=0.0))
    assert answers[0] == answers[1] == answers[2]


def test_generate__says_when_an_answer_was_cut(policy: TransformersPolicy) -> None:
    (cut,) = policy.generate(CONVERSATIONS[:1], Sampling(max_tokens=3))
    assert cut.truncated
    assert cut.tokens == 3


def test_load__names_a_model_that_is_not_there(tmp_path) -> None:
    with pytest.raises(DataFileError, match="'miniature', a checkpoint directory"):
        TransformersPolicy.load(ModelSettings(model=str(tmp_path / "none")))
