"""From the rollouts of a round to the evidence an engineer may see (paper, structured diagnosis)."""

from collections.abc import Mapping, Sequence
from typing import Any

from envwright.configuration import Configuration
from envwright.diagnosis.failure_breakdown import failure_cases
from envwright.diagnosis.statistics import score_rollouts, scores_by_source, scores_by_tag
from envwright.engineer import RoundEvidence
from envwright.rollout import Rollout
from envwright.testbed import Task, Testbed
from envwright.trainer import Group


def round_evidence(
    round_index: int,
    configuration: Configuration[Any],
    rollouts: Sequence[Rollout],
    groups: Sequence[Group],
    testbed: Testbed[Any],
    training_tasks: Sequence[Task],
    reasons: Mapping[str, str],
) -> RoundEvidence:
    """Returns what one round showed: a pure function of its arguments.

    Args:
        round_index: 0-based.
        configuration: what the round's training tasks were generated from.
        rollouts: the answers of the trained policy on the fixed validation set.
        groups: the reward groups the trainer saw.
        testbed: names the sources, the tags to split by, and describes the tasks.
        training_tasks: what the generator really produced.
        reasons: the engineer's reasons for this configuration, per source; empty in round 0.
    """
    tasks = {task.id: task for task in training_tasks}
    return RoundEvidence(
        round_index=round_index,
        configuration=configuration.table(),
        overall=score_rollouts(rollouts, groups),
        by_source=scores_by_source(rollouts, groups, testbed.sources),
        by_tag={tag: scores_by_tag(rollouts, groups, tasks, tag) for tag in testbed.split_tags},
        environment=testbed.describe(training_tasks),
        failure_cases=failure_cases(rollouts),
        reasons=dict(reasons),
    )
