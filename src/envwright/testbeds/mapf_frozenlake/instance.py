"""One board with its agents, its ground truth, and its text form. Cells are (row, column), row 0 on top."""

import hashlib
import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

Cell = tuple[int, int]
"""(row, column), 0-based; UP = row - 1, DOWN = row + 1, LEFT = column - 1, RIGHT = column + 1."""

Paths = tuple[tuple[Cell, ...], ...]
"""One path per agent: the cells it occupies from time 0 on."""


class Objective(StrEnum):
    """What "optimal" means: the sum of arrival times, or the last arrival time."""

    SUM_OF_COSTS = "sum_of_costs"
    MAKESPAN = "makespan"


@dataclass(frozen=True)
class Instance:
    """A board: `size` x `size` cells, `holes` in row-major order, one start and one goal per agent.

    An agent may start on its goal here, since boards from elsewhere do so; our generator never draws one.

    Raises:
        ValueError: a rule of the world is broken; the message names it.
    """

    size: int
    holes: tuple[Cell, ...]
    starts: tuple[Cell, ...]
    goals: tuple[Cell, ...]

    def __post_init__(self) -> None:
        cells = (*self.holes, *self.starts, *self.goals)
        if any(not (0 <= row < self.size and 0 <= column < self.size) for row, column in cells):
            raise ValueError(f"every cell must lie on the {self.size}x{self.size} board, got {cells}")
        if len(self.starts) != len(self.goals) or not self.starts:
            raise ValueError(f"each agent needs a start and a goal, got {len(self.starts)} and {len(self.goals)}")
        if len(set(self.starts)) < len(self.starts) or len(set(self.goals)) < len(self.goals):
            raise ValueError("starts must be pairwise distinct, and goals too")
        if set(self.holes) & {*self.starts, *self.goals}:
            raise ValueError("no start or goal may be a hole")
        object.__setattr__(self, "holes", tuple(sorted(set(self.holes))))

    @property
    def agents(self) -> int:
        """The number of agents."""
        return len(self.starts)

    @property
    def rows(self) -> tuple[str, ...]:
        """The board as text rows: "." is free, "H" a hole."""
        holes = set(self.holes)
        return tuple(
            "".join("H" if (row, column) in holes else "." for column in range(self.size)) for row in range(self.size)
        )

    @property
    def id(self) -> str:
        """The content hash: equal boards have equal ids, whatever set they are in."""
        text = json.dumps([self.size, self.holes, self.starts, self.goals])
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def to_text(self) -> str:
        """Returns the readable form that `from_text` reads back: the rows, then one line per agent."""
        agents = [
            f"{number}: ({start[0]},{start[1]}) -> ({goal[0]},{goal[1]})"
            for number, (start, goal) in enumerate(zip(self.starts, self.goals, strict=True))
        ]
        return "\n".join((*self.rows, *agents)) + "\n"

    @classmethod
    def from_rows(cls, rows: list[str], starts: list[list[int]], goals: list[list[int]]) -> "Instance":
        """Returns the instance of text rows ("." free, "H" hole) and [row, column] lists."""
        holes = [(r, c) for r, line in enumerate(rows) for c, mark in enumerate(line) if mark == "H"]
        if any(len(line) != len(rows) or set(line) - {".", "H"} for line in rows):
            raise ValueError(f"a board must be square rows of '.' and 'H', got {rows}")
        return cls(len(rows), tuple(holes), _cells(starts), _cells(goals))

    @classmethod
    def from_text(cls, text: str) -> "Instance":
        """Returns the instance that `to_text` wrote.

        Raises:
            ValueError: the text is not of that form.
        """
        rows: list[str] = []
        starts: list[list[int]] = []
        goals: list[list[int]] = []
        for line in text.split("\n"):
            if ":" in line:
                start, _, goal = line.partition(":")[2].partition("->")
                starts.append([int(part) for part in start.strip(" ()").split(",")])
                goals.append([int(part) for part in goal.strip(" ()").split(",")])
            elif line.strip():
                rows.append(line.strip())
        return cls.from_rows(rows, starts, goals)


def _cells(values: list[list[int]]) -> tuple[Cell, ...]:
    return tuple((int(row), int(column)) for row, column in values)


@dataclass(frozen=True)
class GroundTruth:
    """Both proved optima of a solvable instance, and whether every plan optimal in it has a wait."""

    sum_of_costs: int
    makespan: int
    needs_wait_sum_of_costs: bool
    needs_wait_makespan: bool

    def optimum(self, objective: Objective) -> int:
        """Returns the proved minimum of the objective."""
        return self.sum_of_costs if objective is Objective.SUM_OF_COSTS else self.makespan

    def needs_wait(self, objective: Objective) -> bool:
        """Returns whether no plan optimal in the objective does without a wait before arrival."""
        return self.needs_wait_sum_of_costs if objective is Objective.SUM_OF_COSTS else self.needs_wait_makespan


@dataclass(frozen=True)
class SolvedInstance:
    """An instance with its ground truth: what a task's payload holds."""

    instance: Instance
    truth: GroundTruth

    def to_json(self) -> str:
        """Returns one JSON line, the same bytes for the same content."""
        board, truth = self.instance, self.truth
        return json.dumps(
            {
                "grid": board.rows,
                "starts": board.starts,
                "goals": board.goals,
                "sum_of_costs": truth.sum_of_costs,
                "makespan": truth.makespan,
                "needs_wait_sum_of_costs": truth.needs_wait_sum_of_costs,
                "needs_wait_makespan": truth.needs_wait_makespan,
            }
        )

    @classmethod
    def from_json(cls, text: str) -> "SolvedInstance":
        """Returns what `to_json` wrote.

        Raises:
            ValueError: the text is no such record.
        """
        data: dict[str, Any] = json.loads(text)
        try:
            instance = Instance.from_rows(data["grid"], data["starts"], data["goals"])
            truth = GroundTruth(
                data["sum_of_costs"],
                data["makespan"],
                data["needs_wait_sum_of_costs"],
                data["needs_wait_makespan"],
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"an instance record needs the field {error}") from error
        return cls(instance, truth)
