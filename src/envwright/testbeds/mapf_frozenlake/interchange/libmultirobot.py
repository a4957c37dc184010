"""libMultiRobotPlanning YAML: boards in and out, and the schedules that its planners write. Cells are [x, y].

Format: https://github.com/whoenig/libMultiRobotPlanning (`example/cbs.cpp`). Agents are numbered in the order of the
list, whatever their names are.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import yaml
from pydantic import BaseModel

from envwright.errors import DataFileError
from envwright.testbeds.mapf_frozenlake.instance import Cell, Instance, Paths
from envwright.testbeds.mapf_frozenlake.interchange.foreign_board import ForeignBoard
from envwright.testbeds.mapf_frozenlake.interchange.source import read_yaml, validated

_Point = tuple[int, int]
"""(x, y): column, row."""


class _Map(BaseModel):
    dimensions: _Point
    obstacles: list[_Point] = []


class _Agent(BaseModel):
    start: _Point
    goal: _Point


class _Problem(BaseModel):
    map: _Map
    agents: list[_Agent]


class _State(BaseModel):
    x: int
    y: int
    t: int


class _Result(BaseModel):
    schedule: dict[str, list[_State]]


def read(sources: Sequence[Path]) -> Iterator[ForeignBoard]:
    """Yields one board per file.

    Raises:
        DataFileError: a file is missing, damaged, or of another form.
    """
    return (_board(source) for source in sources)


def _board(path: Path) -> ForeignBoard:
    problem = validated(_Problem, read_yaml(path), str(path))
    columns, rows = problem.map.dimensions
    return ForeignBoard(
        place=str(path),
        rows=rows,
        columns=columns,
        holes=[_swapped(point) for point in problem.map.obstacles],
        starts=[_swapped(agent.start) for agent in problem.agents],
        goals=[_swapped(agent.goal) for agent in problem.agents],
    )


def write(name: str, instance: Instance) -> dict[str, str]:
    """Returns the file of a board, file name -> text."""
    problem = {
        "map": {
            "dimensions": [instance.size, instance.size],
            "obstacles": [list(_swapped(hole)) for hole in instance.holes],
        },
        "agents": [
            {"name": f"agent{number}", "start": list(_swapped(start)), "goal": list(_swapped(goal))}
            for number, (start, goal) in enumerate(zip(instance.starts, instance.goals, strict=True))
        ],
    }
    return {f"{name}.yaml": yaml.safe_dump(problem, sort_keys=False, default_flow_style=None)}


def read_plan(path: Path) -> Paths:
    """Returns the paths of a planner's result, for the verifier to judge: nothing but their form is checked.

    Raises:
        DataFileError: the file is missing or damaged, the agents are not numbered from 0, or a time step is left out.
    """
    schedule = validated(_Result, read_yaml(path), str(path)).schedule
    names = [f"agent{number}" for number in range(len(schedule))]
    if set(schedule) != set(names):
        raise DataFileError(f"{path}: a schedule must name agent0, agent1, ..., got {', '.join(list(schedule)[:10])}")
    return tuple(_path(f"{path}, {name}", schedule[name]) for name in names)


def _path(place: str, states: list[_State]) -> tuple[Cell, ...]:
    ordered = sorted(states, key=lambda state: state.t)
    if not ordered or [state.t for state in ordered] != list(range(len(ordered))):
        raise DataFileError(f"{place}: the times must be 0, 1, 2, ... without a gap, got {[s.t for s in ordered][:20]}")
    return tuple((state.y, state.x) for state in ordered)


def _swapped(point: tuple[int, int]) -> tuple[int, int]:
    """Returns (row, column) of (x, y), and the reverse."""
    return point[1], point[0]
