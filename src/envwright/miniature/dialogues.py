"""Engineering dialogues for the miniature: invented evidence in real contexts, and the teacher's answers.

The contexts are the real ones (every preset in turn), the answers have the real format. What varies at random: sizes,
round, configuration, rates and failures, notes of guardrails, and the wording; the edits follow from the judgements by
one rule. The miniature learns the trade of reading a table and editing a configuration.
"""

import random
from collections.abc import Iterator

from envwright.diagnosis.context import PRESETS, ContextSettings, render_context
from envwright.engineer import Evidence
from envwright.miniature.evidence import random_evidence
from envwright.miniature.teacher import answer
from envwright.testbeds.mapf_frozenlake.testbed import MapfFrozenLake, MapfSettings


def dialogues(count: int, seed: int) -> Iterator[tuple[str, str]]:
    """Yields `count` pairs of (context, answer), the presets in turn."""
    generator = random.Random(seed)
    presets = list(PRESETS)
    for index in range(count):
        evidence = random_evidence(generator)
        yield context(evidence, presets[index % len(presets)]), answer(evidence, generator)


def context(evidence: Evidence, preset: str) -> str:
    """Returns the real context for the evidence."""
    sizes = tuple(int(source) for source in evidence.current.by_source)
    return render_context(evidence, MapfFrozenLake(MapfSettings(sizes=sizes)), ContextSettings(modules=preset))
