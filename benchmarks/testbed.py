"""Throughput of the MAPF-FrozenLake testbed against public packages, measured in the same run.

    python -m benchmarks.testbed --section solving --json numbers.json

Boards are fixed by a seed; the times are wall times of one process on one core.
"""

import json
import platform
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from benchmarks.generation import generation
from benchmarks.solvers import peers
from benchmarks.solving import growth, solving
from benchmarks.table import Result
from benchmarks.verifying import verifying


class Section(StrEnum):
    """What can be measured."""

    SOLVING = "solving"
    GENERATION = "generation"
    VERIFYING = "verifying"
    GROWTH = "growth"


def measure(
    boards: Annotated[int, typer.Option(min=1, help="Boards per comparison; the other counts follow.")] = 200,
    section: Annotated[list[Section] | None, typer.Option(help="Measure this alone; may be repeated.")] = None,
    limit: Annotated[float, typer.Option(min=0.01, help="Seconds a solver has for one board.")] = 5.0,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the numbers here too.")] = None,
) -> None:
    """Measures solving, generation, verifying and growth of the MAPF-FrozenLake testbed."""
    console, progress = Console(width=150), Console(stderr=True)
    rivals, missing = peers()
    for sentence in missing:
        console.print(sentence, highlight=False)
    sections = {
        Section.SOLVING: lambda: solving(boards, limit, rivals, progress),
        Section.GENERATION: lambda: generation(boards, rivals, progress),
        Section.VERIFYING: lambda: verifying(boards, progress),
        Section.GROWTH: lambda: growth(boards, limit, progress),
    }
    results: dict[str, list[Result]] = {}
    for name in section or list(Section):
        results[name] = sections[name]()
        for result in results[name]:
            result.show(console)
    if json_file:
        record = {
            "settings": {"boards": boards, "limit_s": limit},
            "machine": {"python": platform.python_version(), "platform": platform.platform()},
            "missing": missing,
            "sections": {name: [result.to_dict() for result in made] for name, made in results.items()},
        }
        json_file.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    typer.run(measure)
