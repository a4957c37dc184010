"""One run directory: what a run leaves, written atomically, so that it can be resumed after a kill at any point."""

import fcntl
import json
import os
import shutil
import socket
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from envwright.configuration import read_table
from envwright.errors import DataFileError, RunDirectoryError
from envwright.rollout import Rollout
from envwright.task_files import read_rollouts, read_tasks, write_rollouts, write_tasks
from envwright.testbed import Task

RECIPE, ENVIRONMENT, VALIDATION, EVENTS, LOCK = (
    "recipe.yaml",
    "environment.json",
    "validation.parquet",
    "events.jsonl",
    ".lock",
)

RecordT = TypeVar("RecordT", bound=BaseModel)


class RunStore:
    """Reads and writes one run directory; names are relative to it, e.g. "round_00/evidence.json"."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def create(cls, path: Path, recipe: str, environment: Mapping[str, Any]) -> "RunStore":
        """Makes a new run directory.

        Raises:
            RunDirectoryError: there is something at the path already.
        """
        cls.check_new(path)
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RunDirectoryError(f"a new run must be able to make {path}: {error}; choose another output") from error
        store = cls(path)
        store.write_json(ENVIRONMENT, environment)
        store.write_text(RECIPE, recipe)  # last: a directory with a recipe is a run
        return store

    @staticmethod
    def check_new(path: Path) -> None:
        """Makes sure that a new run would overwrite nothing.

        Raises:
            RunDirectoryError: there is something at the path already.
        """
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise RunDirectoryError(
                f"a new run needs a directory that does not exist, got {path}: "
                f"choose another output, or go on with `envwright resume {path}`"
            )

    @classmethod
    def open(cls, path: Path) -> "RunStore":
        """Opens an existing run directory.

        Raises:
            RunDirectoryError: the path is not a run directory.
        """
        if not (path / RECIPE).is_file():
            raise RunDirectoryError(f"a run directory holds a {RECIPE}, there is none in {path}: check the path")
        return cls(path)

    @contextmanager
    def locked(self) -> Generator[None]:
        """Holds the directory for this process; the lock goes with the process, however it ends.

        Raises:
            RunDirectoryError: another process holds it; the message says who.
        """
        with open(self.path / LOCK, "a+", encoding="utf-8") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                file.seek(0)
                raise RunDirectoryError(
                    f"{self.path} is in use by {file.read().strip() or 'another process'}: wait for it or stop it"
                ) from error
            file.truncate(0)
            since = time.strftime("%Y-%m-%d %H:%M:%S")
            file.write(f"process {os.getpid()} on {socket.gethostname()} since {since}")
            file.flush()
            yield

    def has(self, name: str) -> bool:
        """Returns whether the step that writes this name is done."""
        return (self.path / name).exists()

    def write_text(self, name: str, text: str) -> None:
        """Writes a text file atomically."""
        self._write(name, lambda path: path.write_text(text, encoding="utf-8"))

    def read_text(self, name: str) -> str:
        """Returns a text file.

        Raises:
            DataFileError: it is not there or not text.
        """
        try:
            return (self.path / name).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise DataFileError(f"{self.path / name} must be a readable text file of this run: {error}") from error

    def write_json(self, name: str, value: Any) -> None:
        """Writes plain JSON values atomically."""
        self.write_text(name, json.dumps(value, indent=1) + "\n")

    def read_json(self, name: str) -> Any:
        """Returns the values of a JSON file.

        Raises:
            DataFileError: it is missing or not JSON.
        """
        try:
            return json.loads(self.read_text(name))
        except ValueError as error:
            raise DataFileError(f"{self.path / name} must be JSON: {error}") from error

    def write_record(self, name: str, record: BaseModel) -> None:
        """Writes one data record as JSON atomically."""
        self.write_text(name, record.model_dump_json(indent=1) + "\n")

    def read_record(self, name: str, kind: type[RecordT]) -> RecordT:
        """Returns a record that `write_record` wrote.

        Raises:
            DataFileError: it is missing or of another form.
        """
        try:
            return kind.model_validate_json(self.read_text(name))
        except ValueError as error:
            raise DataFileError(f"{self.path / name} must hold one {kind.__name__}: {error}") from error

    def read_table(self, name: str) -> dict[str, dict[str, float]]:
        """Returns the configuration of a file.

        Raises:
            DataFileError: it is missing or no configuration.
        """
        try:
            return read_table(self.read_text(name))
        except DataFileError:
            raise
        except ValueError as error:
            raise DataFileError(f"{self.path / name} must hold a configuration: {error}") from error

    def write_tasks(self, name: str, tasks: Sequence[Task], data_source: str) -> None:
        """Writes tasks as training rows atomically."""
        self._write(name, lambda path: write_tasks(path, tasks, data_source))

    def read_tasks(self, name: str) -> list[Task]:
        """Returns the tasks of a file that `write_tasks` wrote."""
        return read_tasks(self.path / name)

    def write_rollouts(self, name: str, rollouts: Sequence[Rollout]) -> None:
        """Writes rollouts atomically, in the order of their tasks."""
        self._write(name, lambda path: write_rollouts(path, rollouts))

    def read_rollouts(self, name: str) -> list[Rollout]:
        """Returns the rollouts on the validation set that `write_rollouts` wrote."""
        return read_rollouts(self.path / name, self.read_tasks(VALIDATION))

    def event(self, kind: str, **values: Any) -> None:
        """Appends one event with the time; the events are a log, no step of a run reads them."""
        line = json.dumps({"time": round(time.time(), 3), "event": kind, **values})
        with open(self.path / EVENTS, "a", encoding="utf-8") as file:
            file.write(line + "\n")

    def events(self) -> list[dict[str, Any]]:
        """Returns the events so far; a line that a kill has cut off is left out."""
        events: list[dict[str, Any]] = []
        for line in self.read_text(EVENTS).splitlines() if self.has(EVENTS) else ():
            with suppress(ValueError):
                events.append(json.loads(line))
        return events

    def rounds(self) -> list[int]:
        """Returns the indices of the rounds that have begun."""
        return sorted(int(path.name.removeprefix("round_")) for path in self.path.glob("round_*"))

    def _write(self, name: str, write: Callable[[Path], object]) -> None:
        final = self.path / name
        final.parent.mkdir(parents=True, exist_ok=True)
        partial = final.with_name(f".{final.name}.partial")
        write(partial)
        os.replace(partial, final)

    def clear(self, name: str) -> None:
        """Removes what an interrupted step left."""
        shutil.rmtree(self.path / name, ignore_errors=True)


def round_name(index: int) -> str:
    """Returns the name of a round's directory."""
    return f"round_{index:02d}"
