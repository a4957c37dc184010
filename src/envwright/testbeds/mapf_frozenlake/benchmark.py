"""The frozen benchmark: 3,150 boards of 3, 4 and 5 agents at three wait ratios (paper, section on evaluation).

One seed fixes every board. The set is written as JSON lines, one board each, which Hugging Face `datasets` reads;
it is generated rather than stored.
"""

import hashlib
import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from envwright.errors import DataFileError
from envwright.testbeds.mapf_frozenlake.generator import OnBoard, Stratum, draw_boards
from envwright.testbeds.mapf_frozenlake.instance import Objective, SolvedInstance

BENCHMARK_SEED = 2606
SIZES_BY_AGENTS = {3: range(3, 11), 4: range(4, 11), 5: range(5, 11)}
WAIT_RATIOS = (0.25, 0.5, 0.75)
HOLE_RATIOS = (0.1, 0.2, 0.3, 0.4, 0.5)
BOARDS_PER_CELL = 50
SCHEMA_VERSION = 1
FROZEN_SHA256 = "c96ae7dfbc455a8ae73df69fc49c3343ae67d54c7ec49791519db56db4163ec2"
"""Of the file that `envwright benchmark` writes by default: the set is made anew everywhere and must be this one."""


@dataclass(frozen=True)
class BenchmarkBoard:
    """A board and the part of the benchmark it belongs to; `hole_ratio` is the ratio asked for."""

    board: SolvedInstance
    wait_subset: float
    hole_ratio: float

    def to_json(self) -> str:
        """Returns one JSON line, the same bytes for the same content."""
        instance = self.board.instance
        record = {
            "schema_version": SCHEMA_VERSION,
            "id": instance.id,
            "agents": instance.agents,
            "size": instance.size,
            "wait_subset": self.wait_subset,
            "hole_ratio": self.hole_ratio,
        }
        return json.dumps(record | json.loads(self.board.to_json()))

    @classmethod
    def from_json(cls, text: str) -> "BenchmarkBoard":
        """Returns what `to_json` wrote.

        Raises:
            ValueError: the text is no such record, or its id does not belong to its board.
        """
        record: Any = json.loads(text)
        if not isinstance(record, dict) or record.get("schema_version") != SCHEMA_VERSION:
            raise ValueError(f'a record must be an object with "schema_version": {SCHEMA_VERSION}')
        board = SolvedInstance.from_json(text)
        if record.get("id") != board.instance.id:
            raise ValueError(f"the board's content gives the id {board.instance.id}, not {record.get('id')}")
        try:
            return cls(board, float(record["wait_subset"]), float(record["hole_ratio"]))
        except (KeyError, TypeError) as error:
            raise ValueError(f"a benchmark record needs a number for {error}") from error


def benchmark_set(
    seed: int = BENCHMARK_SEED,
    *,
    agents: Collection[int] = tuple(SIZES_BY_AGENTS),
    sizes: Collection[int] = tuple(range(3, 11)),
    per_cell: int = BOARDS_PER_CELL,
    objective: Objective = Objective.SUM_OF_COSTS,
    workers: int = 1,
    on_board: OnBoard = lambda done, undecided: None,
) -> list[BenchmarkBoard]:
    """Returns the benchmark, or the part of it with these agents and sizes: the same boards as in the whole.

    A cell (agents, size, wait ratio) holds `per_cell` boards: exactly round(ratio * per_cell) of them need a wait
    in the objective, and the hole ratios take turns. Cells share no board.

    Args:
        seed: the frozen one unless another, disjoint set is wanted.
        agents: numbers of agents to keep.
        sizes: map sizes to keep.
        per_cell: boards per cell; another number gives other boards.
        objective: what "needs a wait" refers to.
        workers: processes that draw boards; the result is the same for any number.
        on_board: called after each board with the number of boards done and of candidates left undecided so far.
    """
    cells = [
        (count, size, ratio)
        for count, count_sizes in SIZES_BY_AGENTS.items()
        for size in count_sizes
        for ratio in WAIT_RATIOS
        if count in agents and size in sizes
    ]
    plan = [(cell, index) for cell in cells for index in range(per_cell)]
    boards = draw_boards(
        [_stratum(*cell, index, per_cell) for cell, index in plan],
        seed,
        objective=objective,
        workers=workers,
        on_board=on_board,
    )
    return [
        BenchmarkBoard(board, ratio, _hole_ratio(index))
        for ((_, _, ratio), index), board in zip(plan, boards, strict=True)
    ]


def _stratum(agents: int, size: int, wait_ratio: float, index: int, per_cell: int) -> Stratum:
    return Stratum.of(size, _hole_ratio(index), agents, index < round(wait_ratio * per_cell))


def _hole_ratio(index: int) -> float:
    return HOLE_RATIOS[index % len(HOLE_RATIOS)]


def write_benchmark(path: Path, boards: Sequence[BenchmarkBoard]) -> str:
    """Writes one JSON line per board and returns the SHA-256 of the file's bytes."""
    data = "".join(board.to_json() + "\n" for board in boards).encode()
    path.write_bytes(data)
    return hashlib.sha256(data).hexdigest()


def read_benchmark(path: Path) -> list[BenchmarkBoard]:
    """Returns the boards of a file that `write_benchmark` wrote.

    Raises:
        DataFileError: the file is missing, empty, cut off or corrupt; the message names the line.
    """
    return list(_read(path))


def _read(path: Path) -> Iterator[BenchmarkBoard]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    except (OSError, UnicodeDecodeError) as error:
        raise DataFileError(f"{path} must be a readable benchmark file: {error}") from error
    if not lines:
        raise DataFileError(f"{path} is empty; write it again with `envwright benchmark`")
    for number, line in enumerate(lines, start=1):
        if not line.endswith("\n"):
            raise DataFileError(f"{path}, line {number}: the file is cut off here; write it again")
        try:
            yield BenchmarkBoard.from_json(line)
        except ValueError as error:
            raise DataFileError(f"{path}, line {number}: {error}") from error
