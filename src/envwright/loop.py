"""The loop (paper, framework): generate, train, validate, diagnose, redesign, round after round.

It receives its parts and builds nothing. Every step leaves a file and is skipped when the file is there, so a run that
was killed between any two steps goes on as if it had not been.
"""

import random
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from envwright.configuration import Configuration, format_table
from envwright.diagnosis.carry import Carry
from envwright.diagnosis.evidence import round_evidence
from envwright.policy import Sampling
from envwright.redesign import Redesigner
from envwright.rollout import collect_rollouts
from envwright.run_store import VALIDATION, RunStore, round_name
from envwright.seeds import derive_seed
from envwright.testbed import Task, Testbed
from envwright.trainer import Trainer, Training
from envwright.watch import Watch

EXACT_DIGITS = 4


@dataclass(frozen=True)
class LoopSettings:
    """The numbers of a run; `sampling` is how the policy is validated."""

    seed: int
    rounds: int
    samples_per_round: int
    validation_tasks: int
    validation_seed: int
    sampling: Sampling
    batch_size: int
    base_mix: float = 0.0


@dataclass(frozen=True)
class Loop:
    """The parts of one run, and the steps they make together.

    Attributes:
        testbed: generates and judges.
        trainer: holds the one policy.
        redesigner: turns the evidence of a round into the next configuration.
        start: the configuration of round 0.
        settings: the numbers.
        store: where everything is left.
        watch: told what happens, for people.
    """

    testbed: Testbed[Any]
    trainer: Trainer
    redesigner: Redesigner
    start: Configuration[Any]
    settings: LoopSettings
    store: RunStore
    watch: Watch

    def run(self) -> None:
        """Runs or goes on until the last round is done."""
        validation = self._validation()
        if not self.store.has("base/rollouts.parquet"):
            self._validate("base", validation)
        self.watch.validated("base", self.store.read_rollouts("base/rollouts.parquet"))
        for index in range(self.settings.rounds):
            self._round(index, validation)
        self.trainer.close()

    def _validation(self) -> list[Task]:
        if not self.store.has(VALIDATION):
            with self._step("draw the validation set"):
                tasks = self.testbed.validation_set(self.settings.validation_tasks, self.settings.validation_seed)
                self.store.write_tasks(VALIDATION, tasks, self.testbed.name)
        return self.store.read_tasks(VALIDATION)

    def _round(self, index: int, validation: list[Task]) -> None:
        name, store = round_name(index), self.store
        configuration = self._configuration(index)
        tasks = self._tasks(index, configuration, {task.id for task in validation})
        training = self._train(index, tasks)
        if not store.has(f"{name}/rollouts.parquet"):
            self._validate(name, validation)
        rollouts = store.read_rollouts(f"{name}/rollouts.parquet")
        self.watch.validated(name, rollouts)
        if not store.has(f"{name}/evidence.json"):
            evidence = round_evidence(
                index, configuration, rollouts, training.groups, self.testbed, tasks, self.redesigner.reasons(index)
            )
            store.write_record(f"{name}/evidence.json", evidence)
        carry = self.redesigner.carry(index)
        for note in self.redesigner.notes(carry):
            self.watch.fell_back(note)
        if index + 1 < self.settings.rounds:
            self._redesign(index, carry)
        if not store.has(f"{name}/done"):
            store.write_text(f"{name}/done", "")

    def _configuration(self, index: int) -> Configuration[Any]:
        """Returns the round's configuration: the recipe's in round 0, then what the redesign before it left."""
        file = f"{round_name(index)}/config.yaml"
        if not self.store.has(file):
            redesigned = None if index == 0 else self.redesigner.read(index - 1).configuration
            table = redesigned or self.start.table()
            self.store.write_text(file, format_table(table, EXACT_DIGITS) + "\n")
        table = self.store.read_table(file)
        total = sum(knobs["data_ratio"] for knobs in table.values())
        for knobs in table.values():
            knobs["data_ratio"] /= total  # four digits are written; the shares must sum to 1 exactly enough
        configuration = type(self.start).model_validate({"sources": table})
        self.watch.round_begins(index, self.settings.rounds, configuration)
        return configuration

    def _tasks(self, index: int, configuration: Configuration[Any], held_out: set[str]) -> list[Task]:
        file = f"{round_name(index)}/train.parquet"
        if not self.store.has(file):
            with self._step(f"generate {self.settings.samples_per_round} tasks", round_name(index)) as event:
                tasks = self._draw(index, configuration, held_out, event)
                self.store.write_tasks(file, tasks, self.testbed.name)
        return self.store.read_tasks(file)

    def _draw(
        self, index: int, configuration: Configuration[Any], held_out: set[str], event: dict[str, Any]
    ) -> list[Task]:
        """Returns the round's tasks, from the second round on with the base mix among them."""
        settings = self.settings
        seed, total = derive_seed(settings.seed, "tasks", index), settings.samples_per_round
        mixed_in = round(settings.base_mix * total) if index else 0
        tasks = self.testbed.sample(configuration, total - mixed_in, seed, held_out)
        if mixed_in:
            event["from_round_0_configuration"] = mixed_in
            taken = held_out | {task.id for task in tasks}
            tasks += self.testbed.sample(self.start, mixed_in, derive_seed(seed, "base mix"), taken)
            random.Random(seed).shuffle(tasks)
        return tasks

    def _train(self, index: int, tasks: list[Task]) -> Training:
        name, store = round_name(index), self.store
        checkpoint = self._checkpoint(index)
        if not (store.has(f"{name}/training.json") and checkpoint.exists()):
            store.clear(f"{name}/checkpoint")
            resume_from = self._checkpoint(self.redesigner.carry(index - 1).round_index) if index else None
            with self._step("train", name) as event, self.watch.training() as report:
                training = self.trainer.train(tasks, index, resume_from, checkpoint, report)
                store.write_record(f"{name}/training.json", training)
                event["tokens"] = training.completion_tokens
        return store.read_record(f"{name}/training.json", Training)

    def _checkpoint(self, index: int) -> Path:
        return self.store.path / round_name(index) / "checkpoint"

    def _validate(self, name: str, validation: list[Task]) -> None:
        """Samples the policy of this stage on the validation set, with the same seed at every stage."""
        self._live(name)
        settings, total = self.settings, len(validation)
        sampling = settings.sampling.model_copy(update={"seed": derive_seed(settings.seed, "validate")})
        with self._step(f"validate on {total} tasks", name) as event, self.watch.rollouts(total) as count:
            policy = self.trainer.policy
            rollouts = collect_rollouts(policy, validation, self.testbed, sampling, settings.batch_size, count)
            self.store.write_rollouts(f"{name}/rollouts.parquet", rollouts)
            event["tokens"] = sum(rollout.completion.tokens for rollout in rollouts)

    def _live(self, name: str) -> None:
        """Makes the live policy that of the stage; a trainer that has just trained it does nothing."""
        checkpoint = self.store.path / name / "checkpoint"
        if checkpoint.exists():
            self.trainer.restore(checkpoint)

    def _redesign(self, index: int, carry: Carry) -> None:
        if not self.redesigner.is_done(index):
            self._live(round_name(carry.round_index))
            with self._step("redesign", round_name(index)) as event:
                event["tokens"] = self.redesigner.redesign(index, carry)
        self.watch.redesigned(self.redesigner.read(index))

    @contextmanager
    def _step(self, what: str, where: str = "") -> Generator[dict[str, Any]]:
        """Tells people and the event log that a step begins, how long it took, and what the body adds to the event."""
        started = time.monotonic()
        values: dict[str, Any] = {}
        status = "interrupted"
        self.watch.step_begins(what)
        self.store.event("begin", step=what, where=where)
        try:
            yield values
            status = "done"
        finally:
            seconds = round(time.monotonic() - started, 2)
            self.store.event(status, step=what, where=where, seconds=seconds, **values)
        self.watch.step_ends(what, seconds)
