"""MovingAI benchmark files: a .map with the terrain and a .scen whose i-th line is agent i; x stands before y.

Format: https://movingai.com/benchmarks/formats.html (Sturtevant 2012).

The last column of a .scen is the length of the one agent's shortest octile path: moves to 8 neighbours, diagonals cost
sqrt(2) and cut no corner of a hole. We write exactly that, because the format defines the column so and programs check
or sort by it. Here it is no more than a lower bound on each agent's own way, and reading ignores it.
"""

import heapq
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from envwright.errors import DataFileError
from envwright.testbeds.mapf_frozenlake.instance import Cell, Instance
from envwright.testbeds.mapf_frozenlake.interchange.foreign_board import ForeignBoard, require_size
from envwright.testbeds.mapf_frozenlake.interchange.source import read_text

FREE = ".GS"
BLOCKED = "@OTW"
COLUMNS = 9
NO_WAY = -1.0
"""Written as the length where even diagonal moves do not reach the goal."""


def read(sources: Sequence[Path]) -> Iterator[ForeignBoard]:
    """Yields one board per .scen file; its map is the .map it names, among the sources or beside it.

    Args:
        sources: .scen files, and .map files if they lie elsewhere.

    Raises:
        DataFileError: a file is missing, damaged, or of another form; the message names the line.
    """
    maps = {source.name: source for source in sources if source.suffix == ".map"}
    scenes = [source for source in sources if source.suffix == ".scen"]
    if not scenes or len(maps) + len(scenes) < len(sources):
        raise DataFileError(f"sources must be .scen files, and .map files, got {', '.join(map(str, sources))}")
    return (_board(scene, maps) for scene in scenes)


def _board(scene: Path, maps: dict[str, Path]) -> ForeignBoard:
    rows = list(_agents(scene))
    if not rows:
        raise DataFileError(f"{scene}, line 2: a scenario must have at least one agent, it has none")
    place, first = rows[0]
    name = first[1].replace("\\", "/").rpartition("/")[2]  # directories of another machine say nothing here
    if not name.endswith(".map"):
        raise DataFileError(f"{place}: the second column must name a .map file, got {first[1][:60]!r}")
    path = maps.get(name, scene.with_name(name))
    grid = _read_map(path)
    for place, fields in rows:
        if fields[1] != first[1]:
            raise DataFileError(f"{place}: all agents must be on the map {first[1]}, got {fields[1]}")
        if [fields[2], fields[3]] != [str(len(grid[0])), str(len(grid))]:
            raise DataFileError(
                f"{place}: the map must be as wide and high as {path.name} ({len(grid[0])}, {len(grid)}), "
                f"got {fields[2]}, {fields[3]}"
            )
    holes = [(r, c) for r, line in enumerate(grid) for c, mark in enumerate(line) if mark in BLOCKED]
    cells = [_cells(place, fields) for place, fields in rows]
    return ForeignBoard(
        place=str(scene),
        rows=len(grid),
        columns=len(grid[0]),
        holes=holes,
        starts=[start for start, _ in cells],
        goals=[goal for _, goal in cells],
        agent_places=[place for place, _ in rows],
    )


def _agents(scene: Path) -> Iterator[tuple[str, list[str]]]:
    """Yields place and fields of each agent's line."""
    lines = read_text(scene).rstrip().splitlines()
    if lines[0].split() not in (["version", "1"], ["version", "1.0"]):
        raise DataFileError(f'{scene}, line 1: a scenario must begin with "version 1", got {lines[0][:60]!r}')
    for number, line in enumerate(lines[1:], start=2):
        fields = line.split("\t")
        if len(fields) != COLUMNS:
            raise DataFileError(
                f"{scene}, line {number}: an agent must have {COLUMNS} columns between tabs, got {len(fields)}"
            )
        yield f"{scene}, line {number}", fields


def _cells(place: str, fields: list[str]) -> tuple[Cell, Cell]:
    try:
        start_x, start_y, goal_x, goal_y = (int(field) for field in fields[4:8])
    except ValueError as error:
        raise DataFileError(f"{place}: columns 5 to 8 must be whole numbers: {error}") from error
    return (start_y, start_x), (goal_y, goal_x)


def _read_map(path: Path) -> list[str]:
    """Returns the rows of a .map, all of one length."""
    lines = read_text(path).rstrip().splitlines()
    height, width = (_header(path, lines, number, word) for number, word in ((2, "height"), (3, "width")))
    for number, words in ((1, "type octile"), (4, "map")):
        if " ".join(lines[number - 1 : number][0].split() if len(lines) >= number else ()) != words:
            raise DataFileError(f'{path}, line {number}: a map must have "{words}" here')
    require_size(str(path), height, width)
    grid = lines[4:]
    if len(grid) != height:
        raise DataFileError(f"{path}, line {len(lines)}: the map must have {height} rows, it has {len(grid)}")
    for number, row in enumerate(grid, start=5):
        if len(row) != width or set(row) - set(FREE + BLOCKED):
            raise DataFileError(
                f"{path}, line {number}: a row must be {width} marks of {FREE + BLOCKED}, got {row[:60]!r}"
            )
    return grid


def _header(path: Path, lines: list[str], number: int, word: str) -> int:
    line = lines[number - 1] if len(lines) >= number else ""
    name, _, value = line.strip().partition(" ")
    if name != word or not value.strip().isdecimal() or len(value) > 9:
        raise DataFileError(f'{path}, line {number}: a map must have "{word} <number>" here, got {line[:60]!r}')
    return int(value)


def write(name: str, instance: Instance) -> dict[str, str]:
    """Returns the two files of a board, file name -> text."""
    size = instance.size
    grid = "".join(row.replace("H", "@") + "\n" for row in instance.rows)
    agents = "".join(
        f"0\t{name}.map\t{size}\t{size}\t{start[1]}\t{start[0]}\t{goal[1]}\t{goal[0]}\t{length:.8f}\n"
        for start, goal in zip(instance.starts, instance.goals, strict=True)
        for length in [octile_length(instance, start, goal)]
    )
    return {
        f"{name}.map": f"type octile\nheight {size}\nwidth {size}\nmap\n{grid}",
        f"{name}.scen": f"version 1\n{agents}",
    }


def octile_length(instance: Instance, start: Cell, goal: Cell) -> float:
    """Returns the shortest way of one agent with diagonal moves of sqrt(2) that cut no corner; -1 if there is none."""
    free = {(row, column) for row in range(instance.size) for column in range(instance.size)} - set(instance.holes)
    waiting, done = [(0.0, start)], set[Cell]()
    while waiting:
        length, cell = heapq.heappop(waiting)
        if cell == goal:
            return length
        if cell not in done:
            done.add(cell)
            for step, target in _octile_moves(cell, free):
                heapq.heappush(waiting, (length + step, target))
    return NO_WAY


def _octile_moves(cell: Cell, free: set[Cell]) -> Iterator[tuple[float, Cell]]:
    row, column = cell
    for down, right in ((-1, 0), (1, 0), (0, -1), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)):
        passed = {(row + down, column + right), (row + down, column), (row, column + right)}
        if passed <= free:  # a straight move passes its target and the cell it leaves
            yield (math.sqrt(2) if down and right else 1.0), (row + down, column + right)
