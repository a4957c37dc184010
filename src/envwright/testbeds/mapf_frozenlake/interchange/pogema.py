"""POGEMA maps: written as lists (map, agents_xy, targets_xy), read as lists or as a map with letters.

Format: the custom maps of https://github.com/CognitiveAISystems/pogema (1.4.0). Positions are (row, column) although
their fields end in `_xy`. In the letter form "a" is an agent and "A" its target; it has no way to write a cell that is
a start and a goal, so the lists are what we write.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import BaseModel, Field

from envwright.errors import DataFileError
from envwright.testbeds.mapf_frozenlake.instance import Cell, Instance
from envwright.testbeds.mapf_frozenlake.interchange.foreign_board import ForeignBoard, require_square
from envwright.testbeds.mapf_frozenlake.interchange.source import parse_json, read_text, read_yaml, validated


class _Record(BaseModel):
    """The fields of a POGEMA configuration that say what the board is; others are about its episodes."""

    map: str | list[list[Annotated[int, Field(ge=0, le=1)]]]
    agents_xy: list[Cell] | None = None
    targets_xy: list[Cell] | None = None


def read(sources: Sequence[Path]) -> Iterator[ForeignBoard]:
    """Yields one board per file: .yaml, .yml and .json hold the fields, any other name the map's text alone.

    Raises:
        DataFileError: a file is missing, damaged, or of another form.
    """
    return (_board(source) for source in sources)


def _board(path: Path) -> ForeignBoard:
    if path.suffix in (".yaml", ".yml"):
        data = read_yaml(path)
    elif path.suffix == ".json":
        data = parse_json(read_text(path), lambda line: f"{path}, line {line}")
    else:
        data = {"map": read_text(path)}
    record = validated(_Record, data, str(path))
    if isinstance(record.map, str):
        rows, letters = _letters(path, record.map.split())
    else:
        rows, letters = ["".join("#" if cell else "." for cell in row) for row in record.map], {}
    if letters and (record.agents_xy or record.targets_xy):
        raise DataFileError(f"{path}: the agents must stand either in the map or in agents_xy and targets_xy")
    starts = record.agents_xy or [letters[mark] for mark in sorted(letters) if mark.islower()]
    goals = record.targets_xy or [letters[mark] for mark in sorted(letters) if mark.isupper()]
    require_square(str(path), rows)
    holes = [(r, c) for r, row in enumerate(rows) for c, mark in enumerate(row) if mark == "#"]
    return ForeignBoard(str(path), len(rows), len(rows), holes, starts, goals)


def _letters(path: Path, rows: list[str]) -> tuple[list[str], dict[str, Cell]]:
    """Returns the rows, and the cell of each letter; an agent without a target, or the reverse, is a fault."""
    cells: dict[str, Cell] = {}
    for number, row in enumerate(rows):
        for column, mark in enumerate(row):
            place = f"{path}, row {number} of the map"
            if mark in ".#":
                continue
            if not (mark.isascii() and mark.isalpha()):
                raise DataFileError(
                    f"{place}: marks must be '.', '#' and letters, got {mark!r}; "
                    "possible places of agents and targets are no board, put the agents where they are"
                )
            if mark in cells:
                raise DataFileError(f"{place}: each letter may stand once, got {mark!r} twice")
            cells[mark] = number, column
    alone = [mark for mark in cells if mark.swapcase() not in cells]
    if alone:
        raise DataFileError(f"{path}: an agent and its target are one letter in both cases, got only {alone[0]!r}")
    return rows, cells


def write(name: str, instance: Instance) -> dict[str, str]:
    """Returns the file of a board, file name -> text: keyword arguments of POGEMA's GridConfig as YAML."""
    rows = "".join(f"  {row.replace('H', '#')}\n" for row in instance.rows)
    agents = {
        "agents_xy": [list(cell) for cell in instance.starts],
        "targets_xy": [list(cell) for cell in instance.goals],
    }
    return {f"{name}.yaml": f"map: |\n{rows}" + yaml.safe_dump(agents, default_flow_style=None)}
