from collections.abc import Collection
from pathlib import Path
from typing import Any, ClassVar

import pytest
from pydantic import ValidationError

from envwright.configuration import read_table
from envwright.diagnosis.context import (
    MODULES,
    PRESETS,
    ContextSettings,
    context_sections,
    render_context,
    resolve_modules,
    retry_message,
)
from envwright.engineer import Bookkeeping, Evidence, RoundEvidence, Score
from envwright.errors import RecipeError
from envwright.testbed import Completion, Task, Testbed, Verdict
from envwright.testbeds.mapf_frozenlake.knobs import MapfConfiguration, MapfKnobs

GOLDEN = Path(__file__).parent / "golden"


class BoardTestbed(Testbed[MapfKnobs]):
    name: ClassVar[str] = "boards"
    source_word: ClassVar[str] = "size"
    subject: ClassVar[str] = "collision-free paths for several agents on a grid with holes"
    failure_kinds: ClassVar[tuple[str, ...]] = ("parse", "illegal_move", "hole", "conflict", "goal")
    split_tags: ClassVar[tuple[str, ...]] = ("wait", "holes")
    knobs_type = MapfKnobs
    sources = ("3", "5", "8", "10")

    def sample(self, configuration: Any, count: int, seed: int, exclude: Collection[str] = ()) -> list[Task]:
        raise NotImplementedError

    def verify(self, task: Task, completion: Completion) -> Verdict:
        raise NotImplementedError

    def validation_set(self, count: int, seed: int) -> list[Task]:
        raise NotImplementedError

    def uniform_configuration(self) -> MapfConfiguration:
        raise NotImplementedError


TESTBED = BoardTestbed()


def score(valid: int, optimal: int, failures: tuple[int, ...], groups: int = 0, flat: int = 0) -> Score:
    total = valid + sum(failures)
    kinds = dict(zip(TESTBED.failure_kinds, failures, strict=True))
    return Score(
        rollouts=total,
        valid=valid,
        optimal=optimal,
        parsed=total - failures[0],
        failures=kinds,
        groups=groups,
        groups_without_signal=flat,
    )


def round_evidence(index: int, shares: tuple[float, ...], reasons: dict[str, str] | None = None) -> RoundEvidence:
    table = {
        source: {"data_ratio": share, "hole_ratio": 0.3, "wait_ratio": 0.5}
        for source, share in zip(TESTBED.sources, shares, strict=True)
    }
    scores = {
        "3": score(40 + index, 34, (1, 2, 3, 3 - index, 1), 200, 120),
        "5": score(26, 20, (3, 5, 6, 8, 2), 200, 50),
        "8": score(12, 6, (6, 9, 11, 9, 3), 100, 34),
        "10": score(3, 1, (15, 9, 12, 6, 5)),
    }
    waits = {
        f"{source}/{wait}": Score(rollouts=25, valid=valid + 5 * (not wait))
        for source, valid in (("3", 18), ("5", 10), ("8", 4))
        for wait in (True, False)
    }
    return RoundEvidence(
        round_index=index,
        configuration=table,
        overall=score(81 + index, 61, (25, 25, 32, 26 - index, 11), 500, 204),
        by_source=scores,
        by_tag={"wait": waits, "holes": {"3/0.2-0.3": Score(rollouts=50, valid=40)}},
        reasons=reasons or {},
    )


EVIDENCE = Evidence(
    current=round_evidence(2, (0.1, 0.45, 0.35, 0.1), {"10": "valid 0.06: out of reach, less of it."}),
    earlier=(
        round_evidence(0, (0.25, 0.25, 0.25, 0.25)),
        round_evidence(1, (0.2, 0.35, 0.25, 0.2), {"5": "valid 0.52: at the frontier, more of it."}),
    ),
    bookkeeping=Bookkeeping(
        round_index=2,
        rounds=4,
        epochs=2.0,
        samples_per_round=4000,
        details={"algorithm": "GRPO", "learning_rate": 1e-6},
    ),
)


def context(**settings: Any) -> str:
    return render_context(EVIDENCE, TESTBED, ContextSettings(**settings))


@pytest.mark.parametrize("preset", PRESETS)
def test_render_context__matches_the_golden_text(preset: str):
    assert context(modules=preset) == (GOLDEN / f"{preset.lower()}.txt").read_text(encoding="utf-8")


def test_render_context__v6_with_four_sources_stays_short():
    first = EVIDENCE.model_copy(update={"earlier": EVIDENCE.earlier[:1]})
    assert len(render_context(first, TESTBED, ContextSettings()).splitlines()) <= 70


def test_render_context__shows_the_configuration_as_engineers_write_it():
    section = context_sections(EVIDENCE, TESTBED, ContextSettings(modules="V1"))["configuration"]
    rows = read_table(section.partition("\n")[2])
    assert rows == EVIDENCE.current.configuration


def test_history__leaves_out_the_default_configuration_unless_asked():
    sections = {
        name: context_sections(EVIDENCE, TESTBED, ContextSettings(modules=(name,)))[name] for name in ("H", "H0")
    }
    assert sections["H0"].count("data_ratio") == 2 * len(TESTBED.sources)
    assert sections["H"].count("data_ratio") == len(TESTBED.sources)
    assert "round: 0\nsize 3: tasks" in sections["H"]
    assert "round: 1\n3: {data_ratio" in sections["H"]


def test_history__says_none_before_the_first_redesign():
    first = EVIDENCE.model_copy(update={"earlier": ()})
    sections = context_sections(first, TESTBED, ContextSettings(modules="V4"))
    assert sections["H"] == "## Earlier rounds\nnone"


def test_presets__all_differ_from_the_second_redesign_on():
    second = EVIDENCE.model_copy(update={"earlier": EVIDENCE.earlier[:1]})
    texts = {render_context(second, TESTBED, ContextSettings(modules=preset)) for preset in PRESETS}
    assert len(texts) == len(PRESETS)


def test_notes__stand_only_where_a_guardrail_acted():
    assert "## Notes" not in context()
    noted = EVIDENCE.model_copy(update={"notes": ("training goes on from round 0",)})
    assert "## Notes\n- training goes on from round 0\n\n## Configuration" in render_context(
        noted, TESTBED, ContextSettings()
    )


def test_training__tells_rl_details_only_when_full():
    assert "learning_rate" not in context(modules="V6")
    assert "learning_rate: 1e-06" in context(modules="V6", training_details="full")


def test_failures__name_no_signal_only_where_groups_were_trained():
    rows = context_sections(EVIDENCE, TESTBED, ContextSettings(modules="V1"))["F"].splitlines()
    signal = {row.partition(":")[0]: "no_signal" in row for row in rows if ": tasks" in row}
    assert signal == {"size 3": True, "size 5": True, "size 8": True, "size 10": False, "all": True}


def test_modules__explicit_ones_render_in_reading_order():
    sections = context_sections(EVIDENCE, TESTBED, ContextSettings(modules=("F", "G")))
    assert list(sections) == ["role", "knobs", "G", "notes", "configuration", "F", "answer"]


@pytest.mark.parametrize(("wrong", "known"), [("V9", PRESETS), (("F", "X"), MODULES)])
def test_modules__unknown_name_lists_the_known_ones(wrong: str | tuple[str, ...], known: Collection[str]):
    with pytest.raises(RecipeError, match=", ".join(known)):
        resolve_modules(wrong)
    with pytest.raises(ValidationError, match=", ".join(known)):
        ContextSettings(modules=wrong)


def test_retry_message__carries_the_error_on_one_line():
    message = retry_message("row 5:\n  hole_ratio is 0.9 $x")
    assert "error: row 5: hole_ratio is 0.9 $x\n" in message
