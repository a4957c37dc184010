"""A toy testbed, trainer and engineer whose every number depends on the state that a resumed run must restore."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import Field

from envwright.configuration import Configuration, Knobs, knob_bounds
from envwright.engineer import Attempt, Bookkeeping, Engineer, Evidence, Proposal
from envwright.engineers.guardrails import GuardrailSettings, project
from envwright.loop import Loop, LoopSettings
from envwright.policy import Policy, Sampling
from envwright.redesign import Redesigner
from envwright.run_store import RunStore
from envwright.seeds import derive_seed
from envwright.testbed import Completion, Message, Task, Testbed, Verdict
from envwright.trainer import Group, Trainer, Training, TrainingProgress
from envwright.watch import Watch


class ToyKnobs(Knobs):
    hard: float = Field(ge=0.0, le=1.0, description="share of large numbers")


class ToyTestbed(Testbed[ToyKnobs]):
    """The task is to repeat a number."""

    name = "toy"
    source_word = "kind"
    subject = "repeating numbers"
    failure_kinds = ("wrong",)
    split_tags = ("hard",)
    knobs_type = ToyKnobs
    sources = ("a", "b")

    def __init__(self) -> None:
        self.excluded: list[set[str]] = []

    def sample(
        self, configuration: Configuration[ToyKnobs], count: int, seed: int, exclude: Collection[str] = ()
    ) -> list[Task]:
        self.excluded.append(set(exclude))
        share = configuration.sources["a"].data_ratio
        hard = configuration.sources["a"].hard
        return [
            self._task("a" if index < share * count else "b", derive_seed(seed, index) % 1000, index < hard * count)
            for index in range(count)
        ]

    def _task(self, source: str, number: int, hard: bool) -> Task:
        text = str(number + 10_000 * hard)
        messages: tuple[Message, ...] = ({"role": "user", "content": text},)
        return Task(id=f"{source}{text}", messages=messages, payload=text, tags={"source": source, "hard": hard})

    def verify(self, task: Task, completion: Completion) -> Verdict:
        right = completion.text == task.payload
        failure = None if right else "wrong"
        return Verdict(reward=float(right), parsed=True, valid=right, optimal=right, failure=failure, folded=failure)

    def validation_set(self, count: int, seed: int) -> list[Task]:
        return [
            self._task("ab"[index % 2], derive_seed("held out", seed, index) % 1000, False) for index in range(count)
        ]

    def uniform_configuration(self) -> Configuration[ToyKnobs]:
        return Configuration[ToyKnobs](sources=dict.fromkeys(self.sources, ToyKnobs(data_ratio=0.5, hard=0.5)))


class ToyPolicy(Policy):
    """Right more often the more it has learned; what exactly it gets right depends on all it has learned."""

    def __init__(self) -> None:
        self.lessons: list[int] = []

    def generate(self, conversations: Sequence[Sequence[Message]], sampling: Sampling) -> list[Completion]:
        return [self._answer(conversation[-1]["content"], sampling.seed) for conversation in conversations]

    def _answer(self, text: str, seed: int) -> Completion:
        right = derive_seed(seed, text, *self.lessons) % 10 < 3 + 2 * len(self.lessons)
        return Completion(text=text if right else "?", tokens=2)


class ToyTrainer(Trainer):
    """Learns one lesson per round: a hash of the tasks and of what it learned before."""

    def __init__(self) -> None:
        self._policy = ToyPolicy()
        self.rounds: list[int] = []
        self.closed = False

    @property
    def policy(self) -> ToyPolicy:
        return self._policy

    def train(
        self,
        tasks: Sequence[Task],
        round_index: int,
        resume_from: Path | None,
        checkpoint: Path,
        report: Callable[[TrainingProgress], None] = lambda progress: None,
    ) -> Training:
        before = _lessons(resume_from) if resume_from else []
        self._policy.lessons = [*before, derive_seed(*before, *(task.id for task in tasks)) % 1000]
        self.rounds.append(round_index)
        checkpoint.mkdir()
        (checkpoint / "lessons").write_text(" ".join(str(lesson) for lesson in self._policy.lessons))
        report(TrainingProgress(step=1, steps=1))
        groups = tuple(Group(task_id=task.id, source=task.source, rewards=(0.0, 1.0)) for task in tasks)
        return Training(groups=groups, log=({"step": 1.0},), completion_tokens=7)

    def restore(self, checkpoint: Path) -> None:
        self._policy.lessons = _lessons(checkpoint)

    def close(self) -> None:
        self.closed = True


def _lessons(checkpoint: Path) -> list[int]:
    return [int(word) for word in (checkpoint / "lessons").read_text().split()]


class ToyEngineer(Engineer):
    """Proposes numbers that depend on the live policy, on the evidence and on its own state."""

    def __init__(self, policy: Callable[[], ToyPolicy]) -> None:
        self._policy = policy
        self.proposals = 0

    def propose(self, evidence: Evidence) -> Proposal:
        self.proposals += 1
        seen = derive_seed(*self._policy().lessons, evidence.model_dump_json(), self.proposals)
        share = 0.3 + seen % 400 / 1000
        hard = 0.35 + seen % 300 / 1000
        table = {"a": {"data_ratio": share, "hard": hard}, "b": {"data_ratio": 1 - share, "hard": hard}}
        attempts = (Attempt(text=f"proposal {self.proposals}", tokens=5),)
        return Proposal(table=table, reasons={"a": f"saw {seen}"}, attempts=attempts, context="evidence")

    def state_dict(self) -> dict[str, Any]:
        return {"proposals": self.proposals}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.proposals = state["proposals"]


SETTINGS = LoopSettings(
    seed=3,
    rounds=3,
    samples_per_round=8,
    validation_tasks=10,
    validation_seed=5,
    sampling=Sampling(),
    batch_size=4,
)


def toy_loop(
    store: RunStore,
    trainer: ToyTrainer | None = None,
    watch: Watch | None = None,
    guardrails: GuardrailSettings | None = None,
) -> Loop:
    """Returns a loop of fresh toy parts, as a new process would build it."""
    testbed, made = ToyTestbed(), trainer or ToyTrainer()
    chosen = guardrails or GuardrailSettings(trust_region=None)
    redesigner = Redesigner(
        engineer=ToyEngineer(lambda: made.policy),
        project=lambda proposal, previous, forgotten: project(
            proposal, previous, knob_bounds(ToyKnobs), chosen, forgotten
        ),
        carry_mode=chosen.carry,
        check_forgetting=chosen.forgetting_floor is not None,
        sources=testbed.sources,
        source_word=testbed.source_word,
        bookkeeping=Bookkeeping(round_index=0, rounds=3, epochs=1, samples_per_round=8),
        store=store,
    )
    return Loop(
        testbed=testbed,
        trainer=made,
        redesigner=redesigner,
        start=testbed.uniform_configuration(),
        settings=replace(SETTINGS, base_mix=chosen.base_mix),
        store=store,
        watch=watch or Watch(),
    )
