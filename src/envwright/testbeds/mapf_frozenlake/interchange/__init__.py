"""Boards from and to foreign formats: one dictionary from a format's name to what it can read and write."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from envwright.errors import DataFileError
from envwright.testbeds.mapf_frozenlake.instance import Instance, Paths
from envwright.testbeds.mapf_frozenlake.interchange import libmultirobot, mapped_json, movingai, pogema
from envwright.testbeds.mapf_frozenlake.interchange.foreign_board import ForeignBoard


@dataclass(frozen=True)
class Format:
    """What a format can do; None for what it cannot.

    Attributes:
        read: files, and a mapping where `needs_mapping` -> boards in their order.
        write: a name without suffix, a board -> the texts of its files by file name.
        read_plan: a planner's result -> the paths in it.
        needs_mapping: whether reading takes a file that names the fields.
    """

    read: Callable[..., Iterator[ForeignBoard]]
    write: Callable[[str, Instance], dict[str, str]] | None = None
    read_plan: Callable[[Path], Paths] | None = None
    needs_mapping: bool = False


FORMATS: dict[str, Format] = {
    "movingai": Format(movingai.read, movingai.write),
    "pogema": Format(pogema.read, pogema.write),
    "libmultirobot": Format(libmultirobot.read, libmultirobot.write, libmultirobot.read_plan),
    "mapped_json": Format(mapped_json.read, needs_mapping=True),
}


def format_named(name: str) -> Format:
    """Returns the format of a name.

    Raises:
        DataFileError: there is no such format; the message lists the known ones.
    """
    if name not in FORMATS:
        raise DataFileError(f"a format must be one of {', '.join(FORMATS)}, got {name!r}")
    return FORMATS[name]
