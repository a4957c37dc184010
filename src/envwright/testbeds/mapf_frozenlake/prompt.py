"""What the policy is asked: the rules, the board as text and coordinates, and the answer format."""

from collections.abc import Iterable
from enum import StrEnum
from functools import cache
from importlib.resources import files
from string import Template

from envwright.testbed import Message
from envwright.testbeds.mapf_frozenlake.instance import Cell, Instance, Objective


class AnswerFormat(StrEnum):
    """Which form of plan the prompt asks for; the parser takes both."""

    CELLS = "cells"
    ACTIONS = "actions"


@cache
def _template(name: str) -> Template:
    text = files("envwright.testbeds.mapf_frozenlake").joinpath("prompts", f"{name}.txt").read_text(encoding="utf-8")
    return Template(text.rstrip("\n"))


def task_messages(
    instance: Instance,
    objective: Objective = Objective.SUM_OF_COSTS,
    answer_format: AnswerFormat = AnswerFormat.CELLS,
) -> tuple[Message, ...]:
    """Returns the chat that asks for a plan: one user message."""
    content = _template("task").substitute(
        objective=_template(f"objective_{objective}").template,
        size=instance.size,
        grid="\n".join(instance.rows),
        holes=_cell_list(instance.holes) or "none",
        agents="\n".join(
            f"Agent {number}: start {_cell(start)}, goal {_cell(goal)}"
            for number, (start, goal) in enumerate(zip(instance.starts, instance.goals, strict=True))
        ),
        answer_format=_template(f"answer_{answer_format}").template,
    )
    return ({"role": "user", "content": content},)


def _cell(cell: Cell) -> str:
    return f"({cell[0]},{cell[1]})"


def _cell_list(cells: Iterable[Cell]) -> str:
    return " ".join(_cell(cell) for cell in cells)
