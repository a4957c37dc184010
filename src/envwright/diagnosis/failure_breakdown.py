"""Why answers fail: counts per folded kind, and a few short cases of the kinds that dominate."""

from collections import Counter
from collections.abc import Sequence

from envwright.engineer import FailureCase
from envwright.rollout import Rollout
from envwright.testbed import Verdict

CASES_PER_SOURCE = 2
PROMPT_CHARACTERS = 400
ANSWER_CHARACTERS = 200


def failure_kind(verdict: Verdict) -> str:
    """Returns the kind a failed verdict is counted under: the folded one, else the exact one."""
    return verdict.folded or verdict.failure or "unknown"


def count_failures(rollouts: Sequence[Rollout]) -> dict[str, int]:
    """Returns failure kind -> count, the most frequent first (ties by name)."""
    counts = Counter(failure_kind(rollout.verdict) for rollout in rollouts if not rollout.verdict.valid)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def failure_cases(rollouts: Sequence[Rollout], per_source: int = CASES_PER_SOURCE) -> tuple[FailureCase, ...]:
    """Returns, for each source, the first cases of its most frequent failure kind, shortened.

    Args:
        rollouts: of any sources; cases come in the order of sources met.
        per_source: the largest number of cases for one source.
    """
    shared = _lines_in_all([_prompt(rollout) for rollout in rollouts])
    by_source: dict[str, list[Rollout]] = {}
    for rollout in rollouts:
        if not rollout.verdict.valid:
            by_source.setdefault(rollout.task.source, []).append(rollout)
    cases: list[FailureCase] = []
    for failed in by_source.values():
        dominant = next(iter(count_failures(failed)))
        chosen = [rollout for rollout in failed if failure_kind(rollout.verdict) == dominant]
        cases += [_case(rollout, shared) for rollout in chosen[:per_source]]
    return tuple(cases)


def _case(rollout: Rollout, shared: set[str]) -> FailureCase:
    own_lines = [line for line in _prompt(rollout).splitlines() if line not in shared]
    return FailureCase(
        source=rollout.task.source,
        kind=failure_kind(rollout.verdict),
        prompt="\n".join(own_lines)[:PROMPT_CHARACTERS],
        answer=rollout.completion.text[-ANSWER_CHARACTERS:],
        explanation=_explanation(rollout.verdict)[:ANSWER_CHARACTERS],
    )


def _explanation(verdict: Verdict) -> str:
    details = ", ".join(f"{name} {value}" for name, value in verdict.details.items() if value is not None)
    exact = verdict.failure or failure_kind(verdict)
    return f"{exact}: {details}" if details else exact


def _prompt(rollout: Rollout) -> str:
    return rollout.task.messages[-1]["content"]


def _lines_in_all(prompts: Sequence[str]) -> set[str]:
    """The lines that every prompt has (rules, answer format): what is left of a prompt is its own board."""
    if len(prompts) < 2:
        return set()
    return set[str].intersection(*(set(prompt.splitlines()) for prompt in prompts))
