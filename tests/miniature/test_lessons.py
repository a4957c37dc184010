import random

from envwright.configuration import knob_bounds
from envwright.engineer import Proposal
from envwright.engineers.guardrails import GuardrailSettings, project
from envwright.engineers.proposal_parser import parse_proposal
from envwright.miniature.boards import board_lessons
from envwright.miniature.dialogues import context
from envwright.miniature.evidence import random_evidence
from envwright.miniature.teacher import answer, judge
from envwright.testbeds.mapf_frozenlake.answer import Plan, read_answer
from envwright.testbeds.mapf_frozenlake.knobs import MapfKnobs

KNOBS = knob_bounds(MapfKnobs)


def test_board_lessons__are_answers_to_the_real_prompt() -> None:
    lessons = list(board_lessons(40, seed=3))
    agents = {question.count(": start (") for question, _ in lessons}
    assert agents == {2, 3, 4}
    for question, text in lessons:
        assert isinstance(read_answer(text, question.count(": start (")), Plan)


def test_board_lessons__are_a_function_of_the_seed() -> None:
    assert list(board_lessons(5, seed=3)) == list(board_lessons(5, seed=3)) != list(board_lessons(5, seed=4))


def test_dialogues__answer_with_usable_local_edits() -> None:
    generator = random.Random(5)
    for _ in range(60):
        evidence = random_evidence(generator)
        previous = evidence.current.configuration
        table, reasons = parse_proposal(answer(evidence, generator), previous, KNOBS)
        assert set(reasons) == set(previous)
        redesign = project(Proposal(table=table), previous, KNOBS, GuardrailSettings(floor=0.0, trust_region=None))
        changes = {c.knob for c in redesign.corrections}
        assert changes <= {"data_ratio"}  # rounding to two digits may leave a sum a little off 1
        for source, score in evidence.current.by_source.items():
            moved = table[source]["hole_ratio"] - previous[source]["hole_ratio"]
            assert abs(moved) <= 0.1 + 1e-9
            assert moved >= -1e-9 if judge(score) == "mastered" else True
            assert moved <= 1e-9 if judge(score) == "too hard" else True


def test_context__is_the_real_one() -> None:
    evidence = random_evidence(random.Random(1))
    assert context(evidence, "V1").startswith("You are the environment engineer.")
    assert "## Guideline" in context(evidence, "V6")
