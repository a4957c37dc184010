"""JSON records whose field names are known only to the user: a mapping file says where each part of a board stands."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from envwright.errors import DataFileError
from envwright.testbeds.mapf_frozenlake.instance import Cell, Objective
from envwright.testbeds.mapf_frozenlake.interchange.foreign_board import ForeignBoard, require_square
from envwright.testbeds.mapf_frozenlake.interchange.source import (
    MAX_RECORDS_BYTES,
    parse_json,
    read_text,
    read_yaml,
    validated,
)


class BoardMapping(BaseModel):
    """Where a record holds the parts of its board; every path is dotted.

    A path goes on inside each item of a list, so "agents.start" is the start of every agent; a "*" goes on inside each
    value of an object, in the file's order.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    starts: str = Field(min_length=1, description="path of the agents' starts")
    goals: str = Field(min_length=1, description="path of the agents' goals")
    holes: str = Field(min_length=1, description="path of the holes: a list of cells, or with `symbols` a grid of rows")
    size: str | None = Field(default=None, description="path of the board's width; not needed with `symbols`")
    symbols: dict[str, Literal["free", "hole"]] | None = Field(
        default=None, description="what each symbol of the grid is; numbers are written as text"
    )
    coordinates: Literal["row_column", "x_y"] = Field(
        default="row_column", description="the order in each cell; both count from 0 in the top left corner"
    )
    sum_of_costs: str | None = Field(default=None, description="path of the file's own optimum, to be compared")
    makespan: str | None = Field(default=None, description="path of the file's own optimum, to be compared")

    def paths(self) -> dict[str, str]:
        """Returns part -> path of the parts that records hold."""
        parts = ("size", "holes", "starts", "goals", *Objective)
        return {part: path for part in parts if (path := getattr(self, part)) is not None}


_Grid = list[str] | list[list[str | int]]
_PARTS: dict[str, Any] = {
    "starts": (list[Cell], ...),
    "goals": (list[Cell], ...),
    **dict.fromkeys(("size", *Objective), (int | None, None)),
}
_GridRecord = create_model("_GridRecord", holes=(_Grid, ...), **_PARTS)
_CellRecord = create_model("_CellRecord", holes=(list[Cell], ...), **_PARTS)


def load_mapping(path: Path) -> BoardMapping:
    """Returns the mapping of a YAML file.

    Raises:
        DataFileError: the file cannot be read or breaks the schema.
    """
    mapping = validated(BoardMapping, read_yaml(path), str(path))
    if (mapping.size is None) == (mapping.symbols is None):
        raise DataFileError(
            f"{path}: a mapping must have either `size` (holes are cells) or `symbols` (a grid of rows)"
        )
    return mapping


def read(sources: Sequence[Path], mapping: BoardMapping) -> Iterator[ForeignBoard]:
    """Yields one board per record: a .json file holds one list of records, any other file one record per line.

    Raises:
        DataFileError: a file is missing or damaged, or a record does not fit the mapping.
    """
    return (_board(place, record, mapping) for source in sources for place, record in _records(source))


def _records(path: Path) -> Iterator[tuple[str, Any]]:
    text = read_text(path, MAX_RECORDS_BYTES)
    if path.suffix != ".json":
        for number, line in enumerate(text.split("\n"), start=1):
            if line.strip():
                place = f"{path}, line {number}"
                yield place, parse_json(line, lambda _, place=place: place)
        return
    records = parse_json(text, lambda line: f"{path}, line {line}")
    if not isinstance(records, list):
        raise DataFileError(f"{path} must hold one list of records; name it .jsonl if each line is a record")
    for number, record in enumerate(records):
        yield f"{path}, record {number}", record


def _board(place: str, record: Any, mapping: BoardMapping) -> ForeignBoard:
    parts = {part: _look_up(place, record, part, path) for part, path in mapping.paths().items()}
    board: Any = validated(_GridRecord if mapping.symbols else _CellRecord, parts, place)
    flip = mapping.coordinates == "x_y"
    if mapping.symbols:
        size, holes = len(board.holes), _holes(place, board.holes, mapping.symbols)
    else:
        size, holes = board.size, _cells(board.holes, flip)
    claims = {objective.value: getattr(board, objective.value) for objective in Objective}
    return ForeignBoard(
        place=place,
        rows=size,
        columns=size,
        holes=holes,
        starts=_cells(board.starts, flip),
        goals=_cells(board.goals, flip),
        claims={objective: value for objective, value in claims.items() if value is not None},
    )


def _look_up(place: str, record: Any, part: str, path: str) -> Any:
    try:
        return _at(record, path.split("."))
    except KeyError as error:
        fields = ", ".join(list(record)[:20]) if isinstance(record, dict) else type(record).__name__
        raise DataFileError(
            f"{place}: the mapping says {part}: {path}, but there is no {error.args[0]!r}; the record has {fields:.400}"
        ) from error


def _at(value: Any, path: Sequence[str]) -> Any:
    if not path:
        return value
    if isinstance(value, list):
        return [_at(item, path) for item in value]
    if isinstance(value, dict) and path[0] == "*":
        return [_at(item, path[1:]) for item in value.values()]
    if not isinstance(value, dict) or path[0] not in value:
        raise KeyError(path[0])
    return _at(value[path[0]], path[1:])


def _holes(place: str, rows: Sequence[Sequence[Any]], symbols: dict[str, Literal["free", "hole"]]) -> list[Cell]:
    require_square(place, rows)
    grid = {(r, c): str(mark) for r, row in enumerate(rows) for c, mark in enumerate(row)}
    unknown = sorted(set(grid.values()) - set(symbols))
    if unknown:
        raise DataFileError(
            f"{place}: the mapping's symbols are {', '.join(symbols)}, the grid also has {unknown[:10]}"
        )
    return [cell for cell, mark in grid.items() if symbols[mark] == "hole"]


def _cells(values: Sequence[Cell], flip: bool) -> list[Cell]:
    return [(row, column) if not flip else (column, row) for row, column in values]
