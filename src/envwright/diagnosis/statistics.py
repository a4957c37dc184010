"""Counts over rollouts: in all, per source, and per source and tag value."""

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

from envwright.diagnosis.failure_breakdown import count_failures
from envwright.engineer import Score
from envwright.rollout import Rollout
from envwright.testbed import Tag, Task
from envwright.trainer import Group

BIN_WIDTH = 0.1
"""Width of the bins that split a continuous tag such as the share of holes."""

Item = TypeVar("Item")
Key = TypeVar("Key", bound=Hashable)


def score_rollouts(rollouts: Sequence[Rollout], groups: Collection[Group] = ()) -> Score:
    """Returns the counts over validation rollouts and over the training groups of the same kind of task."""
    verdicts = [rollout.verdict for rollout in rollouts]
    tokens = sum(rollout.completion.tokens for rollout in rollouts)
    return Score(
        rollouts=len(rollouts),
        valid=sum(verdict.valid for verdict in verdicts),
        optimal=sum(verdict.valid and verdict.optimal for verdict in verdicts),
        parsed=sum(verdict.parsed for verdict in verdicts),
        truncated=sum(rollout.completion.truncated for rollout in rollouts),
        failures=count_failures(rollouts),
        mean_tokens=tokens / len(rollouts) if rollouts else 0.0,
        groups=len(groups),
        groups_without_signal=sum(not group.has_signal for group in groups),
    )


def scores_by_source(rollouts: Sequence[Rollout], groups: Sequence[Group], sources: Iterable[str]) -> dict[str, Score]:
    """Returns source -> counts for every source, in the given order, empty ones included."""
    rollouts_of = _partition(rollouts, lambda rollout: rollout.task.source)
    groups_of = _partition(groups, lambda group: group.source)
    return {source: score_rollouts(rollouts_of.get(source, []), groups_of.get(source, [])) for source in sources}


def scores_by_tag(
    rollouts: Sequence[Rollout], groups: Sequence[Group], tasks: Mapping[str, Task], tag: str
) -> dict[str, Score]:
    """Returns "source/value" -> counts for one tag, in the order met.

    Args:
        rollouts: on validation tasks; those without the tag are left out.
        groups: on training tasks; those of an unknown task are left out.
        tasks: the training tasks by id, for the tags of the groups.
        tag: the tag to split by; a continuous one is put into bins.
    """
    tagged = [rollout for rollout in rollouts if tag in rollout.task.tags]
    trained = [group for group in groups if group.task_id in tasks and tag in tasks[group.task_id].tags]
    rollouts_of = _partition(tagged, lambda rollout: _cell(rollout.task, tag))
    groups_of = _partition(trained, lambda group: _cell(tasks[group.task_id], tag))
    return {
        cell: score_rollouts(rollouts_of.get(cell, []), groups_of.get(cell, []))
        for cell in {**rollouts_of, **groups_of}
    }


def tag_label(value: Tag) -> str:
    """Returns the name of a tag value: itself, or the bin [lower, upper) of a fraction, as "0.2-0.3"."""
    if not isinstance(value, float):
        return str(value)
    index = math.floor(value / BIN_WIDTH + 1e-9)
    return f"{index * BIN_WIDTH:.1f}-{(index + 1) * BIN_WIDTH:.1f}"


def _cell(task: Task, tag: str) -> str:
    return f"{task.source}/{tag_label(task.tags[tag])}"


def _partition(items: Iterable[Item], key: Callable[[Item], Key]) -> dict[Key, list[Item]]:
    parts: dict[Key, list[Item]] = {}
    for item in items:
        parts.setdefault(key(item), []).append(item)
    return parts
