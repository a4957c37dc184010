"""The miniature's own report: how well it plans, and how often its first answer as an engineer is usable."""

import random
from collections.abc import Sequence
from typing import Any

from envwright.configuration import knob_bounds
from envwright.diagnosis.context import PRESETS
from envwright.diagnosis.statistics import score_rollouts
from envwright.engineers.proposal_parser import UnusableAnswer, parse_proposal
from envwright.evaluation.metrics import wilson_interval
from envwright.miniature.dialogues import context
from envwright.miniature.evidence import random_evidence
from envwright.miniature.settings import MiniatureSettings
from envwright.policies.transformers_policy import TransformersPolicy
from envwright.policy import Sampling
from envwright.rollout import Rollout, collect_rollouts
from envwright.seeds import derive_seed
from envwright.testbeds.mapf_frozenlake.knobs import MapfKnobs
from envwright.testbeds.mapf_frozenlake.testbed import MapfFrozenLake, MapfSettings

AGENTS = (2, 3, 4)
PLAN_TOKENS = 160
PROPOSAL_TOKENS = 256
ENGINEER_TEMPERATURE = 0.3
"""As in the CPU recipe."""


def evaluate_miniature(model: Any, tokenizer: Any, settings: MiniatureSettings) -> dict[str, Any]:
    """Returns valid and optimal rates per agents and size, and usable first answers per preset."""
    policy = TransformersPolicy(model, tokenizer)
    plans: dict[str, Any] = {}
    for agents in AGENTS:
        testbed = _testbed(agents)
        tasks = testbed.validation_set(settings.evaluation_boards, derive_seed("miniature report", settings.seed))
        for temperature in (0.0, 1.0):
            sampling = Sampling(temperature=temperature, max_tokens=PLAN_TOKENS)
            rollouts = collect_rollouts(policy, tasks, testbed, sampling)
            rows = {source: _rates([r for r in rollouts if r.task.source == source]) for source in testbed.sources}
            plans[f"{agents} agents, temperature {temperature:g}"] = {"all": _rates(rollouts), **rows}
    return {"plans": plans, "first_answers": {name: _first_answers(policy, settings, name) for name in PRESETS}}


def _testbed(agents: int) -> MapfFrozenLake:
    sizes = tuple(range(3 if agents < 4 else 4, 11))
    return MapfFrozenLake(
        MapfSettings(sizes=sizes, agents=agents, validation_hole_ratios=(0.1, 0.2, 0.3), allow_repeats=True)
    )


def _rates(rollouts: Sequence[Rollout]) -> dict[str, float]:
    score = score_rollouts(rollouts)
    low, high = wilson_interval(score.valid, score.rollouts)
    return {
        "boards": score.rollouts,
        "valid": round(score.valid_rate, 3),
        "valid_low": round(low, 3),
        "valid_high": round(high, 3),
        "optimal": round(score.optimal_rate, 3),
        "parsed": round(score.rate(score.parsed), 3),
    }


def _first_answers(policy: TransformersPolicy, settings: MiniatureSettings, preset: str) -> dict[str, float]:
    """Returns the share of fresh contexts with a usable first answer, and of reasons that quote the right rate."""
    generator = random.Random(derive_seed("miniature contexts", preset, settings.seed))
    cases = [random_evidence(generator) for _ in range(settings.evaluation_contexts)]
    answers = policy.generate(
        [[{"role": "user", "content": context(evidence, preset)}] for evidence in cases],
        Sampling(temperature=ENGINEER_TEMPERATURE, max_tokens=PROPOSAL_TOKENS, seed=settings.seed),
    )
    usable, quotes = 0, list[bool]()
    for answer, evidence in zip(answers, cases, strict=True):
        try:
            _, reasons = parse_proposal(answer.text, evidence.current.configuration, knob_bounds(MapfKnobs))
        except UnusableAnswer:
            continue
        usable += 1
        scores = evidence.current.by_source
        quotes += [f"valid {scores[source].valid_rate:.2f}" in reason for source, reason in reasons.items()]
    return {
        "usable": round(usable / len(cases), 3),
        "rates quoted right": round(sum(quotes) / len(quotes), 3) if quotes else 0.0,
    }
