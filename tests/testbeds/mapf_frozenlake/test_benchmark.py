import hashlib
import json
from collections import Counter
from pathlib import Path

import pytest

from envwright.errors import DataFileError
from envwright.testbeds.mapf_frozenlake.benchmark import (
    BOARDS_PER_CELL,
    SIZES_BY_AGENTS,
    WAIT_RATIOS,
    BenchmarkBoard,
    benchmark_set,
    read_benchmark,
    write_benchmark,
)


@pytest.fixture(scope="module")
def boards() -> list[BenchmarkBoard]:
    return benchmark_set(agents=(3,), sizes=(4, 6), per_cell=10)


def test_benchmark__whole_has_3150_boards():
    assert sum(map(len, SIZES_BY_AGENTS.values())) * len(WAIT_RATIOS) * BOARDS_PER_CELL == 3_150


def test_benchmark_set__fills_each_cell_with_its_share_of_waits(boards: list[BenchmarkBoard]):
    cells = Counter((b.board.instance.agents, b.board.instance.size, b.wait_subset) for b in boards)
    assert cells == {(3, size, ratio): 10 for size in (4, 6) for ratio in WAIT_RATIOS}
    for cell in cells:
        mine = [b for b in boards if (b.board.instance.agents, b.board.instance.size, b.wait_subset) == cell]
        assert sum(b.board.truth.needs_wait_sum_of_costs for b in mine) == round(cell[2] * 10)


def test_benchmark_set__spreads_hole_ratios_and_repeats_no_board(boards: list[BenchmarkBoard]):
    assert Counter(b.hole_ratio for b in boards) == dict.fromkeys((0.1, 0.2, 0.3, 0.4, 0.5), len(boards) // 5)
    assert all(len(b.board.instance.holes) == round(b.hole_ratio * b.board.instance.size**2) for b in boards)
    assert len({b.board.instance.id for b in boards}) == len(boards)


def test_benchmark_set__of_fewer_sizes_is_a_part_of_the_larger_set(boards: list[BenchmarkBoard]):
    part = benchmark_set(agents=(3, 4), sizes=(3, 4), per_cell=1)
    assert Counter((b.board.instance.agents, b.board.instance.size) for b in part) == {(3, 3): 3, (3, 4): 3, (4, 4): 3}
    assert benchmark_set(agents=(3,), sizes=(6,), per_cell=10) == [b for b in boards if b.board.instance.size == 6]


def test_benchmark_file__round_trips_and_names_its_checksum(tmp_path: Path, boards: list[BenchmarkBoard]):
    path = tmp_path / "benchmark.jsonl"
    checksum = write_benchmark(path, boards)
    assert checksum == hashlib.sha256(path.read_bytes()).hexdigest()
    assert read_benchmark(path) == boards
    record = json.loads(path.read_text().splitlines()[0])
    assert (record["schema_version"], record["id"], record["agents"]) == (1, boards[0].board.instance.id, 3)


def damaged(path: Path, boards: list[BenchmarkBoard], old: str, new: str) -> Path:
    """Writes three records of which the second is changed."""
    lines = [board.to_json() for board in boards[:3]]
    assert old in lines[1]
    lines[1] = lines[1].replace(old, new, 1)
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('{"schema_version"', '{"schema', "line 2"),
        ('"schema_version": 1', '"schema_version": 9', "line 2.*schema_version"),
        ('"wait_subset"', '"wait"', "line 2.*wait_subset"),
        ('"goals"', '"targets"', "line 2.*goals"),
        ('"id": "', '"id": "0', "line 2.*the id"),
        ('"grid": ["', '"grid": ["?', "line 2.*square rows"),
    ],
)
def test_read_benchmark__names_the_corrupt_line(
    tmp_path: Path, boards: list[BenchmarkBoard], old: str, new: str, message: str
):
    path = damaged(tmp_path / "benchmark.jsonl", boards, old, new)
    with pytest.raises(DataFileError, match=message):
        read_benchmark(path)


def test_read_benchmark__of_a_cut_file_names_where_it_ends(tmp_path: Path, boards: list[BenchmarkBoard]):
    path = tmp_path / "benchmark.jsonl"
    write_benchmark(path, boards[:3])
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(DataFileError, match="line 3: the file is cut off"):
        read_benchmark(path)


@pytest.mark.parametrize("content", [None, b"", b"\xff\xfe\n"])
def test_read_benchmark__of_a_missing_empty_or_binary_file_is_one_clear_error(tmp_path: Path, content: bytes | None):
    path = tmp_path / "benchmark.jsonl"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(DataFileError, match=r"benchmark\.jsonl"):
        read_benchmark(path)


def test_benchmark_set__is_the_frozen_one():
    part = benchmark_set(agents=(3,), sizes=(5, 6))
    data = "".join(board.to_json() + "\n" for board in part).encode()
    assert len(part) == 300
    assert hashlib.sha256(data).hexdigest() == "8b5b6d3c9e466bacabccbcbc16149ff3688b78413410a64f18371de96f97ba3e", (
        "these boards of the frozen benchmark have changed: mend that, or freeze it anew (FROZEN_SHA256)"
    )
