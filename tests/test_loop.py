"""The loop with a frozen trainer and scripted answers: every step, every interruption, one end."""

from pathlib import Path
from typing import Any

import pytest

from envwright.configuration import knob_bounds
from envwright.diagnosis.context import ContextSettings, render_context, retry_message
from envwright.engineer import Bookkeeping, Redesign, RoundEvidence
from envwright.engineers.guardrails import GuardrailSettings, project
from envwright.engineers.llm import LlmEngineer, LlmSettings
from envwright.loop import Loop, LoopSettings
from envwright.policies.scripted import ScriptedPolicy
from envwright.policy import Sampling
from envwright.redesign import Redesigner
from envwright.run_store import RunStore
from envwright.testbeds.mapf_frozenlake.testbed import MapfFrozenLake, MapfSettings
from envwright.trainers.frozen import FrozenTrainer
from envwright.watch import Watch

REPLY = "```yaml\nreasons:\n  4: at the frontier\n3: {data_ratio: 0.3}\n4: {data_ratio: 0.7, hole_ratio: 0.9}\n```"
TESTBED = MapfFrozenLake(MapfSettings(sizes=(3, 4)))


class Interrupted(Exception):
    """Stands for a kill between two steps."""


class InterruptingStore(RunStore):
    """Raises before the n-th write."""

    writes_left = 10**9

    def _write(self, name: str, write: Any) -> None:
        if InterruptingStore.writes_left <= 0:
            raise Interrupted
        InterruptingStore.writes_left -= 1
        super()._write(name, write)


def make_loop(store: RunStore, rounds: int = 3) -> Loop:
    knobs = knob_bounds(TESTBED.knobs_type)
    engineer = LlmEngineer(
        policy=lambda: ScriptedPolicy([REPLY]),
        render=lambda evidence, count: render_context(evidence, TESTBED, ContextSettings()),
        retry_message=retry_message,
        knobs=knobs,
        settings=LlmSettings(),
        seed=0,
    )
    redesigner = Redesigner(
        engineer=engineer,
        project=lambda proposal, previous, forgotten: project(
            proposal, previous, knobs, GuardrailSettings(), forgotten
        ),
        carry_mode="last",
        check_forgetting=False,
        sources=TESTBED.sources,
        source_word=TESTBED.source_word,
        bookkeeping=Bookkeeping(round_index=0, rounds=rounds, epochs=1, samples_per_round=12),
        store=store,
    )
    return Loop(
        testbed=TESTBED,
        trainer=FrozenTrainer(ScriptedPolicy(["Agent 0: UP\nAgent 1: UP"])),
        redesigner=redesigner,
        start=TESTBED.uniform_configuration(),
        settings=LoopSettings(
            seed=1,
            rounds=rounds,
            samples_per_round=12,
            validation_tasks=8,
            validation_seed=2,
            sampling=Sampling(max_tokens=20),
            batch_size=4,
        ),
        store=store,
        watch=Watch(),
    )


def contents(path: Path) -> dict[str, bytes]:
    """Everything that must be equal: all files but the log, and seconds."""
    files = {str(file.relative_to(path)): file for file in path.rglob("*") if file.is_file()}
    return {
        name: file.read_bytes()
        for name, file in files.items()
        if not name.startswith(("events", ".lock")) and not name.endswith("proposal.json")
    }


def test_loop__leaves_a_complete_run_directory(tmp_path: Path) -> None:
    store = RunStore.create(tmp_path / "run", "name: x\n", {})
    make_loop(store).run()
    for index in range(3):
        names = [
            "config.yaml",
            "train.parquet",
            "checkpoint",
            "training.json",
            "rollouts.parquet",
            "evidence.json",
            "done",
        ]
        redesign = ["context.md", "reply.txt", "proposal.json", "engineer_state.json"] if index < 2 else []
        assert all(store.has(f"round_0{index}/{name}") for name in names + redesign)
    assert not store.has("round_02/proposal.json")


def test_loop__gives_the_engineers_wish_to_the_next_round(tmp_path: Path) -> None:
    store = RunStore.create(tmp_path / "run", "name: x\n", {})
    make_loop(store).run()
    redesign = store.read_record("round_00/proposal.json", Redesign)
    assert redesign.status == "corrected"  # a hole ratio of 0.9 is none
    evidence = store.read_record("round_01/evidence.json", RoundEvidence)
    assert evidence.configuration["4"]["hole_ratio"] == pytest.approx(redesign.configuration["4"]["hole_ratio"])
    assert evidence.configuration["4"]["data_ratio"] == pytest.approx(0.7)
    assert evidence.reasons == {"4": "at the frontier"}
    sources = [task.source for task in store.read_tasks("round_01/train.parquet")]
    assert sources.count("4") == round(0.7 * 12)


def test_loop__holds_the_validation_set_out(tmp_path: Path) -> None:
    store = RunStore.create(tmp_path / "run", "name: x\n", {})
    make_loop(store).run()
    held_out = {task.id for task in store.read_tasks("validation.parquet")}
    for index in range(3):
        assert held_out.isdisjoint(task.id for task in store.read_tasks(f"round_0{index}/train.parquet"))


def test_loop__ends_the_same_wherever_it_was_interrupted(tmp_path: Path) -> None:
    whole = RunStore.create(tmp_path / "whole", "name: x\n", {})
    make_loop(whole, rounds=2).run()
    expected = contents(whole.path)
    for kill_after in range(0, 40):
        path = tmp_path / f"killed_{kill_after}"
        InterruptingStore.writes_left = 10**9
        store = InterruptingStore.create(path, "name: x\n", {})
        InterruptingStore.writes_left = kill_after
        try:
            make_loop(store, rounds=2).run()
        except Interrupted:
            make_loop(RunStore.open(path), rounds=2).run()
        else:
            assert kill_after > 15
            break
        assert contents(path) == expected, f"killed before write {kill_after}"
    else:
        pytest.fail("the loop never ran to its end")
