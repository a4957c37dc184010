"""The numbers and the text of an ablation's table, from made-up answers."""

from dataclasses import replace
from pathlib import Path

import pytest

from envwright.ablation.plan import Run
from envwright.ablation.records import SeedResult
from envwright.ablation.results import Answers, RunResult, read_result
from envwright.ablation.summary import measure, summarise
from envwright.ablation.table import render
from envwright.recipe import load_recipe
from report.fake_run import write_fake_run

GOLDEN = Path(__file__).parent / "data" / "ablation.md"


def answers(
    valid: str, optimal: str = "", name: str = "t", subsets: dict[str, tuple[int, ...]] | None = None
) -> Answers:
    """One task per character; "1" is won."""
    tasks = tuple(f"{name}{index}" for index in range(len(valid)))
    won = tuple(mark == "1" for mark in valid)
    best = tuple(mark == "1" for mark in (optimal or valid))
    return Answers(tasks, won, best, {})


def test_measure__differences_are_to_the_first_and_adjusted() -> None:
    first = {0: answers("0" * 20)}
    arms = [first, {0: answers("1" * 10 + "0" * 10)}, {0: answers("1" * 8 + "0" * 12)}]
    none, ten, eight = (item.valid_difference for item in measure(arms) if item)
    assert none is None
    assert ten
    assert (ten.mean, ten.p, ten.p_holm) == (0.5, pytest.approx(2 / 1024), pytest.approx(4 / 1024))
    assert eight
    assert eight.p_holm == eight.p == pytest.approx(2 / 256)
    assert ten.shown
    assert eight.shown


def test_measure__seeds_that_one_arm_lacks_are_not_paired() -> None:
    first = {0: answers("1100"), 1: answers("1111")}
    _, other = measure([first, {0: answers("1110"), 2: answers("0000")}])
    assert other
    assert other.seeds == (0, 2)
    assert other.valid.mean == 3 / 8
    assert other.valid_difference
    assert other.valid_difference.mean == 1 / 4


def test_measure__other_tasks_are_not_paired() -> None:
    _, other = measure([{0: answers("1100")}, {0: answers("1110", name="u")}])
    assert other
    assert other.valid_difference is None


def test_measure__an_arm_without_answers_is_none() -> None:
    first, other = measure([{}, {0: answers("10")}])
    assert first is None
    assert other
    assert other.valid_difference is None


def test_measure__a_task_of_several_seeds_is_one_unit_of_the_test() -> None:
    before, after = "0" * 6, "1" * 6
    same = measure([{s: answers(before) for s in (0, 1)}, {s: answers(after) for s in (0, 1)}])[1]
    own = measure([{s: answers(v, name=f"s{s}-") for s in (0, 1)} for v in (before, after)])[1]
    assert same
    assert same.valid_difference
    assert (same.same_tasks, same.valid_difference.p) == (True, pytest.approx(2 / 2**6))
    assert own
    assert own.valid_difference
    assert (own.same_tasks, own.valid_difference.p) == (False, pytest.approx(2 / 2**12))


def test_read_result__counts_what_the_engineer_did(tmp_path: Path) -> None:
    store = write_fake_run(tmp_path / "run")
    store.event("done", step="train", where="round_00", seconds=1800)
    store.event("shared", step="validate", where="base", seconds=900)
    result = read_result(Run(load_recipe("cpu", ["rounds=3"]), store.path), store, None).record
    assert (result.tasks, result.valid, result.optimal) == (20, 12, 4)
    assert (result.redesigns, result.asked, result.hours) == (2, 2, 0.75)


def made_up() -> str:
    """Three recipes on two seeds; the last one failed on the second."""
    subsets = {"wait 0.25": (0, 1, 2, 3), "wait 0.50": (4, 5, 6, 7), "3 agents": (0, 1, 4, 5), "4 agents": (2, 3, 6, 7)}
    valid = {
        "cpu:v1": ("0" * 30 + "1" * 10, "0" * 28 + "1" * 12),
        "cpu": ("0" * 10 + "1" * 30, "0" * 8 + "1" * 32),
        "cpu:keep": ("0" * 29 + "1" * 11, None),
    }
    runs: list[Run] = []
    results: list[RunResult] = []
    for seed in (0, 1):
        for name, of_seed in valid.items():
            runs.append(Run(load_recipe(name, [f"seed={seed}"]), Path("nowhere")))
            marks = of_seed[seed]
            record = SeedResult(seed=seed, state="finished", redesigns=2, asked=2, usable_first=1 + seed, hours=0.5)
            record = record.model_copy(update={"corrections": 3, "engineer_tokens": 100})
            if marks is None:
                results.append(RunResult(SeedResult(seed=seed, state="failed", error="a model\nis missing")))
            else:
                benchmark = replace(answers("11110010", "10100010"), subsets=subsets)
                results.append(RunResult(record, answers(marks, "0" * 36 + "1111", f"s{seed}-"), benchmark))
    return render(summarise(runs, results, "boards.jsonl"))


def test_render__is_the_golden_table() -> None:
    assert made_up() == GOLDEN.read_text()


def test_render__before_any_run_is_finished() -> None:
    text = render(summarise([Run(load_recipe("cpu"), Path("nowhere"))], [RunResult(SeedResult(seed=0))], None))
    assert "No run is finished yet." in text
    assert "| cpu | F+G+H+T | checkpoint | 0 of 1 | - |" in text


@pytest.mark.parametrize(
    ("engineer", "name"),
    [
        ("{kind: llm}", "checkpoint"),
        ("{kind: llm, model: base}", "base model"),
        ("{kind: llm, model: checkpoint, checkpoint: {model: miniature}}", "other checkpoint"),
        ("{kind: llm, model: endpoint, endpoint: {base_url: 'http://localhost/v1', model: m}}", "endpoint"),
        ("{kind: keep}", "keep"),
    ],
)
def test_summarise__names_every_engineer_a_recipe_may_seat(engineer: str, name: str) -> None:
    run = Run(load_recipe("cpu", [f"engineer={engineer}"]), Path("run"))
    (row,) = summarise([run], [RunResult(SeedResult(seed=0))], None).rows
    assert row.engineer == name
