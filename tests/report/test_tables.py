from pathlib import Path

import pytest
from fake_run import PER_SIZE, write_fake_run

from envwright.evaluation.metrics import wilson_interval
from envwright.report.run_data import RunData, read_run
from envwright.report.tables import Grid, rates_by_source, rates_by_tag, rates_overall, reading, render_tables
from envwright.run_store import RunStore

LAST = "round_02/rollouts.parquet"


@pytest.fixture
def run(tmp_path: Path) -> RunData:
    return read_run(write_fake_run(tmp_path / "run"))


def column(grid: Grid, name: str) -> list[str]:
    return [row[list(grid.header).index(name)] for row in grid.rows]


def test_rates_by_source__are_valid_and_optimal_per_size_and_stage(run: RunData) -> None:
    grid = rates_by_source(run)
    assert list(grid.header) == ["stage", "3", "4", "all"]
    assert column(grid, "stage") == ["base", "round 0", "round 1", "round 2"]
    assert column(grid, "3") == column(grid, "all") == ["30.0 / 20.0", "40.0 / 20.0", "50.0 / 20.0", "60.0 / 20.0"]


def test_rates_overall__give_both_objectives_parsing_and_truncation(run: RunData) -> None:
    grid = rates_overall(run)
    last = {name: cell.split(" (")[0] for name, cell in zip(grid.header, grid.rows[-1], strict=True)}
    assert last == {
        "stage": "round 2",
        "tasks": "20",
        "valid %": "60.0",
        "optimal % (sum of costs)": "20.0",
        "optimal % (makespan)": "30.0",
        "parsed %": "90.0",
        "truncated %": "10.0",
        "tokens per answer": "20.0",
    }
    low, high = wilson_interval(12, 20)
    assert column(grid, "valid %")[-1] == f"60.0 ({100 * low:.1f}-{100 * high:.1f})"


def test_rates_by_tag__split_by_holes_and_wait(run: RunData) -> None:
    grids = {grid.title.split()[3].strip(","): grid for grid in rates_by_tag(run)}
    assert list(grids) == ["holes", "wait"]
    # Round 2 solves the boards 0-5 of each size: all five with 0.1 holes, one of the five with 0.3.
    assert [cell.split(" ")[0] for cell in grids["holes"].rows[-1][1:]] == ["100.0", "20.0"]
    # In the base boards 0, 1, 2 are solved: two of five that need a wait, one of five that do not.
    assert dict(zip(grids["wait"].header, grids["wait"].rows[0], strict=True))["True"].startswith("40.0 ")
    assert dict(zip(grids["wait"].header, grids["wait"].rows[0], strict=True))["False"].startswith("20.0 ")


def test_render_tables__tells_failures_groups_configurations_and_corrections(run: RunData) -> None:
    text = render_tables(run)
    assert "| stage | hole | parse |" in text
    assert "| base | 12 | 2 |" in text
    assert "| round 0 | 20 | 25.0 (" in text
    assert "| round 1 | 4 | 0.500 | 0.300 | 0.500 |" in text
    assert "| round 0 | corrected | 2 | 1 | 1 | 65 | 3.5 |" in text
    assert "| round 1 | 3 | hole_ratio | 0.9 | 0.5 | above its bound |" in text
    assert "30.0 (base) -> 60.0 (round 2), difference +30.0 points" in text


def test_render_tables__has_rows_as_wide_as_their_header(run: RunData) -> None:
    for section in render_tables(run).split("\n## ")[1:]:
        widths = {line.count("|") for line in section.splitlines() if line.startswith("|")}
        assert len(widths) == 1, section


def test_render_tables__follows_the_rollouts_in_the_directory(run: RunData, tmp_path: Path) -> None:
    store = RunStore.open(tmp_path / "run")
    rollouts = store.read_rollouts(LAST)
    none_valid = [r.model_copy(update={"verdict": r.verdict.model_copy(update={"valid": False})}) for r in rollouts]
    store.write_rollouts(LAST, none_valid)
    assert rates_by_source(read_run(store)).rows[-1][1:] == ["0.0 / 0.0"] * 3


@pytest.mark.parametrize(("stages", "last"), [(1, "base"), (2, "round 0"), (3, "round 1")])
def test_render_tables__of_an_unfinished_run_says_so(tmp_path: Path, stages: int, last: str) -> None:
    run = read_run(write_fake_run(tmp_path / "run", stages))
    text = render_tables(run)
    assert "not finished" in text
    assert rates_by_source(run).rows[-1][0] == last
    assert ("difference" in text) == (stages > 1)


def test_render_tables__of_a_run_that_has_only_begun_has_no_table(tmp_path: Path) -> None:
    assert "|" not in render_tables(read_run(write_fake_run(tmp_path / "run", stages=0)))


def test_reading__says_when_the_interval_holds_no_change(tmp_path: Path, run: RunData) -> None:
    assert "shows no change" not in reading(run)
    store = RunStore.open(tmp_path / "run")
    store.write_rollouts(LAST, store.read_rollouts("base/rollouts.parquet"))
    same = read_run(store)
    assert same.gain == (0.0, 0.0, 0.0)
    assert "shows no change" in reading(same)
    assert len(same.stages[0].rollouts) == 2 * PER_SIZE
