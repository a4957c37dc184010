import pytest
from engineer_contract import TABLE, EngineerContract, evidence_of
from pydantic import TypeAdapter, ValidationError

from envwright.configuration import knob_bounds
from envwright.engineer import Engineer
from envwright.engineers import ENGINEERS, EngineerSettings, Parts, build_engineer
from envwright.engineers.candidates import BestOf, predicted_learnability
from envwright.policies.scripted import ScriptedPolicy
from envwright.testbeds.mapf_frozenlake.knobs import MapfKnobs

UNIFORM = {source: {"data_ratio": 0.5, "hole_ratio": 0.25, "wait_ratio": 0.5} for source in TABLE}


def build(**settings: object) -> Engineer:
    answers = {"policy": "```yaml\n5: {hole_ratio: 0.1}\n```", "base": "```yaml\n5: {hole_ratio: 0.4}\n```"}
    parts = Parts(
        policies={name: lambda text=text: ScriptedPolicy([text]) for name, text in answers.items()},
        render=lambda evidence, count: "the context",
        retry_message=lambda error: error,
        knobs=knob_bounds(MapfKnobs),
        uniform=UNIFORM,
        seed=1,
        legal=lambda proposal, previous: proposal.table or previous,
        judges={"learnability": lambda settings: predicted_learnability(lambda knobs: {})},
    )
    return build_engineer(TypeAdapter(EngineerSettings).validate_python(settings), parts)


@pytest.mark.parametrize("kind", ENGINEERS)
class TestEveryKind(EngineerContract):
    @pytest.fixture(autouse=True)
    def _kind(self, kind: str) -> None:
        self.kind = kind

    def make(self) -> Engineer:
        return build(kind=self.kind)


def test_build_engineer__seats_the_model_that_the_settings_name() -> None:
    tables = [build(kind="llm", model=model).propose(evidence_of()).table for model in ("policy", "base")]
    assert [table and table["5"]["hole_ratio"] for table in tables] == [0.1, 0.4]


def test_build_engineer__draws_several_candidates_if_asked() -> None:
    engineer = build(kind="llm", candidates={"count": 3})
    assert isinstance(engineer, BestOf)
    assert [candidate.number for candidate in engineer.propose(evidence_of()).candidates] == [0, 1, 2]


def test_build_engineer__gives_uniform_the_uniform_table_of_the_testbed() -> None:
    assert build(kind="uniform").propose(evidence_of()).table == UNIFORM


@pytest.mark.parametrize(
    "wrong", [{"kind": "oracle"}, {"kind": "keep", "model": "base"}, {"kind": "llm", "retries": -1}]
)
def test_settings__are_closed(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        build(**wrong)
