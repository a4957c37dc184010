"""What the commands of `envwright boards` do: boards from and to foreign files, and plans of foreign planners."""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track

from envwright.commands import must_be_new, read_boards
from envwright.errors import DataFileError
from envwright.testbeds.mapf_frozenlake.answer import format_cells
from envwright.testbeds.mapf_frozenlake.instance import GroundTruth, Objective, SolvedInstance
from envwright.testbeds.mapf_frozenlake.interchange import FORMATS, format_named
from envwright.testbeds.mapf_frozenlake.interchange.foreign_board import ForeignBoard, legal_instance
from envwright.testbeds.mapf_frozenlake.interchange.mapped_json import load_mapping
from envwright.testbeds.mapf_frozenlake.solver import Status, analyse

MAX_DISAGREEMENTS_SHOWN = 10


def import_boards(name: str, sources: Sequence[Path], output: Path, agents: int | None, mapping: Path | None) -> None:
    """Writes the solvable boards of foreign files as JSONL with their proved optima, and prints what became of all."""
    found = _foreign_boards(name, sources, mapping)
    must_be_new(output)
    lines: list[str] = []
    left_out = {Status.UNSOLVABLE: 0, Status.UNDECIDED: 0}
    disagreements: list[str] = []
    for board in track(found, "solving boards", transient=True, console=Console(stderr=True)):
        instance = legal_instance(board, agents)
        analysis = analyse(instance)
        if analysis.truth is None:
            left_out[analysis.status] += 1
            continue
        if instance.agents == len(board.starts):  # with fewer agents the file's optimum is another board's
            disagreements += _disagreements(board, analysis.truth)
        lines.append(_record(board, SolvedInstance(instance, analysis.truth)))
    if not lines:
        raise DataFileError(f"the sources must hold a board with a plan; {_counts(left_out)}")
    output.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    print(f"{len(lines)} boards written to {output}; left out: {_counts(left_out)}")
    for line in disagreements[:MAX_DISAGREEMENTS_SHOWN]:
        print(line)
    if len(disagreements) > MAX_DISAGREEMENTS_SHOWN:
        print(f"... {len(disagreements)} disagreements in all; does the mapping name the right fields?")


def export_boards(name: str, boards: Path, output: Path) -> None:
    """Writes the foreign files of each board into a new directory."""
    write = _ability(name, "write", "is written")
    found = read_boards(boards)
    must_be_new(output)
    output.mkdir()
    for index, board in enumerate(found):
        for file_name, text in write(_file_name(index), board.instance).items():
            (output / file_name).write_text(text, encoding="utf-8")
    print(f"{len(found)} boards written to {output}")


def import_answers(name: str, boards: Path, results: Path, output: Path) -> None:
    """Writes a planner's results, named as the exported boards, as answers that `envwright verify` judges."""
    read_plan = _ability(name, "read_plan", "has plans")
    must_be_new(output)
    lines: list[str] = []
    found = read_boards(boards)
    for index, board in enumerate(found):
        result = results / f"{_file_name(index)}.yaml"
        if result.exists():
            lines.append(json.dumps({"id": board.instance.id, "answer": format_cells(read_plan(result))}))
    if not lines:
        raise DataFileError(f"{results} must hold results named {_file_name(0)}.yaml and so on, there is none")
    output.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    print(f"{len(lines)} answers to {len(found)} boards written to {output}")


def _foreign_boards(name: str, sources: Sequence[Path], mapping: Path | None) -> Iterator[ForeignBoard]:
    chosen = format_named(name)
    if chosen.needs_mapping and mapping is None:
        raise DataFileError(f"{name} needs --mapping, a YAML file that says where the records hold their boards")
    if mapping is None:
        return chosen.read(sources)
    if not chosen.needs_mapping:
        raise DataFileError(f"{name} names its own fields, leave out --mapping")
    return chosen.read(sources, load_mapping(mapping))


def _ability(name: str, ability: str, words: str) -> Callable[..., Any]:
    """Returns what a format can do, a field of `Format`; `words` say it in the message."""
    can = getattr(format_named(name), ability)
    if can is None:
        able = [known for known, other in FORMATS.items() if getattr(other, ability)]
        raise DataFileError(f"the format must be one that {words}, {' or '.join(able)}, got {name}")
    return can


def _disagreements(board: ForeignBoard, truth: GroundTruth) -> list[str]:
    proved = {objective.value: truth.optimum(objective) for objective in Objective}
    return [
        f"{board.place}: {name} is {claim} in the file, {proved[name]} is proved"
        for name, claim in board.claims.items()
        if claim != proved[name]
    ]


def _record(board: ForeignBoard, solved: SolvedInstance) -> str:
    instance = solved.instance
    head: dict[str, Any] = {
        "id": instance.id,
        "size": instance.size,
        "agents": instance.agents,
        "origin": Path(board.place).name,  # directories of this machine are nobody else's business
    }
    return json.dumps(head | json.loads(solved.to_json()))


def _counts(left_out: dict[Status, int]) -> str:
    return ", ".join(f"{count} {status}" for status, count in left_out.items())


def _file_name(index: int) -> str:
    return f"board_{index:05d}"
