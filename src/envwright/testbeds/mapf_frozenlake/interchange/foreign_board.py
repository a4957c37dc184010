"""A board as a foreign file states it, and the one place that decides whether it is a board of this testbed."""

from collections.abc import Mapping, Sequence, Sized
from dataclasses import dataclass, field

from envwright.errors import DataFileError
from envwright.testbeds.mapf_frozenlake.instance import Cell, Instance
from envwright.testbeds.mapf_frozenlake.knobs import SIZES
from envwright.testbeds.mapf_frozenlake.solvability import MOST_AGENTS


@dataclass(frozen=True)
class ForeignBoard:
    """What a file says; nothing about it is checked yet.

    Attributes:
        place: the file, and the line where there is one; messages begin with it.
        rows: the board's height in cells.
        columns: the board's width in cells.
        holes: blocked cells as (row, column).
        starts: per agent its (row, column).
        goals: per agent its (row, column).
        agent_places: per agent where the file states it; by default its number after `place`.
        claims: optima that the file states, by objective ("sum_of_costs", "makespan").
    """

    place: str
    rows: int
    columns: int
    holes: Sequence[Cell]
    starts: Sequence[Cell]
    goals: Sequence[Cell]
    agent_places: Sequence[str] = ()
    claims: Mapping[str, int] = field(default_factory=dict[str, int])


def require_size(place: str, rows: int, columns: int) -> None:
    """Checks the size before any cell is read.

    Raises:
        DataFileError: the board is not square, or of no size of the testbed.
    """
    if rows != columns or rows not in SIZES:
        raise DataFileError(
            f"{place}: a board must be square, {SIZES[0]}x{SIZES[0]} to {SIZES[-1]}x{SIZES[-1]}, "
            f"got {columns} columns and {rows} rows"
        )


def require_square(place: str, rows: Sequence[Sized]) -> None:
    """Checks the size of a grid of rows.

    Raises:
        DataFileError: a row is not as long as there are rows, or the testbed has no such size.
    """
    require_size(place, len(rows), next((len(row) for row in rows if len(row) != len(rows)), len(rows)))


def legal_instance(board: ForeignBoard, agents: int | None = None) -> Instance:
    """Returns the instance of a foreign board with its first `agents` agents, or with all.

    Raises:
        DataFileError: the size, the number of agents, or a cell breaks a rule; the message names the place.
    """
    require_size(board.place, board.rows, board.columns)
    count = _count(board, agents)
    free = {(row, column) for row in range(board.rows) for column in range(board.columns)}
    for hole in board.holes:
        if hole not in free:
            raise DataFileError(f"{board.place}: every hole must lie on the board, got (row, column) {hole}")
    free -= set(board.holes)
    places = board.agent_places or [f"{board.place}, agent {agent}" for agent in range(count)]
    starts, goals = tuple(board.starts[:count]), tuple(board.goals[:count])
    for word, cells in (("start", starts), ("goal", goals)):
        _require_distinct_free_cells(word, cells, places, free)
    return Instance(board.rows, tuple(board.holes), starts, goals)


def _count(board: ForeignBoard, agents: int | None) -> int:
    given = len(board.starts)
    if given != len(board.goals):
        raise DataFileError(
            f"{board.place}: each agent needs a start and a goal, got {given} starts and {len(board.goals)} goals"
        )
    count = given if agents is None else agents
    if count > given:
        raise DataFileError(f"{board.place}: {count} agents are asked for, there are {given}; lower --agents")
    if not 1 <= count <= MOST_AGENTS:
        raise DataFileError(
            f"{board.place}: a board must have 1 to {MOST_AGENTS} agents, got {count}; "
            "--agents takes the first so many of each board"
        )
    return count


def _require_distinct_free_cells(word: str, cells: Sequence[Cell], places: Sequence[str], free: set[Cell]) -> None:
    first: dict[Cell, str] = {}
    for cell, place in zip(cells, places, strict=False):
        if cell not in free:
            raise DataFileError(f"{place}: a {word} must be a free cell of the board, got (row, column) {cell}")
        if cell in first:
            raise DataFileError(f"{place}: {word}s must be pairwise distinct, {cell} is also that of {first[cell]}")
        first[cell] = place
