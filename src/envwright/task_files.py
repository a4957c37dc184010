"""Tasks and rollouts as parquet; the training rows carry the columns that TRL, verl and SkyRL read."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from envwright.errors import DataFileError
from envwright.rollout import Rollout
from envwright.testbed import Completion, Task, Verdict

TASK_SCHEMA = pa.schema(
    [
        ("prompt", pa.list_(pa.struct([("role", pa.string()), ("content", pa.string())]))),
        ("data_source", pa.string()),
        ("reward_model", pa.struct([("style", pa.string()), ("ground_truth", pa.string())])),
        ("extra_info", pa.struct([("index", pa.int64()), ("id", pa.string()), ("tags", pa.string())])),
    ]
)
ROLLOUT_SCHEMA = pa.schema(
    [
        ("task_id", pa.string()),
        ("source", pa.string()),
        ("tags", pa.string()),
        ("text", pa.string()),
        ("tokens", pa.int64()),
        ("truncated", pa.bool_()),
        ("reward", pa.float64()),
        ("parsed", pa.bool_()),
        ("valid", pa.bool_()),
        ("optimal", pa.bool_()),
        ("failure", pa.string()),
        ("folded", pa.string()),
        ("kinds", pa.list_(pa.string())),
        ("details", pa.string()),
    ]
)


def write_tasks(path: Path, tasks: Sequence[Task], data_source: str) -> None:
    """Writes one row per task; `data_source` becomes "<data_source>/<source>", so trainers report per source."""
    rows = [
        {
            "prompt": list(task.messages),
            "data_source": f"{data_source}/{task.source}",
            "reward_model": {"style": "rule", "ground_truth": task.payload},
            "extra_info": {"index": index, "id": task.id, "tags": json.dumps(task.tags)},
        }
        for index, task in enumerate(tasks)
    ]
    pq.write_table(pa.Table.from_pylist(rows, TASK_SCHEMA), path)


def read_tasks(path: Path) -> list[Task]:
    """Returns the tasks of a file that `write_tasks` wrote.

    Raises:
        DataFileError: the file is missing, damaged or of another form.
    """
    return [
        Task(
            id=row["extra_info"]["id"],
            messages=tuple(row["prompt"]),
            payload=row["reward_model"]["ground_truth"],
            tags=json.loads(row["extra_info"]["tags"]),
        )
        for row in _read(path, TASK_SCHEMA)
    ]


def write_rollouts(path: Path, rollouts: Sequence[Rollout]) -> None:
    """Writes one row per rollout, in order; prompts are not repeated, the task's id names them.

    How an answer came about (`Completion.record`) is not kept.
    """
    rows = [
        {
            "task_id": rollout.task.id,
            "source": rollout.task.source,
            "tags": json.dumps(rollout.task.tags),
            **rollout.completion.model_dump(exclude={"record"}),
            **rollout.verdict.model_dump(),
            "kinds": list(rollout.verdict.kinds),
            "details": json.dumps(rollout.verdict.details),
        }
        for rollout in rollouts
    ]
    pq.write_table(pa.Table.from_pylist(rows, ROLLOUT_SCHEMA), path)


def read_rollouts(path: Path, tasks: Sequence[Task]) -> list[Rollout]:
    """Returns the rollouts of a file that `write_rollouts` wrote.

    Args:
        path: the file.
        tasks: the tasks that were asked, in the same order.

    Raises:
        DataFileError: the file is missing, damaged, or of other tasks.
    """
    rows = _read(path, ROLLOUT_SCHEMA)
    if [row["task_id"] for row in rows] != [task.id for task in tasks]:
        raise DataFileError(f"{path} must hold one rollout per task of the validation set, in its order")
    return [
        Rollout(
            task=task,
            completion=Completion(**{name: row[name] for name in Completion.model_fields if name != "record"}),
            verdict=Verdict(
                **{name: row[name] for name in Verdict.model_fields if name != "details"},
                details=json.loads(row["details"]),
            ),
        )
        for row, task in zip(rows, tasks, strict=True)
    ]


def _read(path: Path, schema: pa.Schema) -> list[dict[str, Any]]:
    try:
        table = pq.read_table(path)
    except (OSError, pa.ArrowInvalid) as error:
        raise DataFileError(f"{path} must be a complete parquet file: {error}") from error
    missing = set(schema.names) - set(table.column_names)
    if missing:
        raise DataFileError(f"{path} must have the columns {', '.join(schema.names)}, it lacks {', '.join(missing)}")
    return table.to_pylist()
