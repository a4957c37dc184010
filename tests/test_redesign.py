"""Guardrails over a whole run: what is carried on, what the engineer is told, what is mixed in."""

import json
from pathlib import Path

import pytest

from envwright.diagnosis.carry import Carry
from envwright.engineers.guardrails import GuardrailSettings
from envwright.run_store import RunStore
from run_fakes import ToyEngineer, ToyPolicy, ToyTrainer, toy_loop
from test_resume import Killed, MortalStore, contents


class FickleTrainer(ToyTrainer):
    """Its policy knows everything after its first lesson and nothing after its second."""

    class Policy(ToyPolicy):
        def _answer(self, text, seed):
            lessons, self.lessons = self.lessons, [0] * 4 if len(self.lessons) == 1 else []
            answer = super()._answer(text, seed)
            self.lessons = lessons
            return answer if len(lessons) == 1 else answer.model_copy(update={"text": "?"})

    def __init__(self) -> None:
        super().__init__()
        self._policy = self.Policy()
        self.resumed_from: list[str] = []

    def train(self, tasks, round_index, resume_from, checkpoint, report=lambda progress: None):
        self.resumed_from.append(resume_from.parent.name if resume_from else "base")
        return super().train(tasks, round_index, resume_from, checkpoint, report)


def run(path: Path, **guardrails: object) -> tuple[RunStore, FickleTrainer]:
    path.mkdir()
    store, trainer = RunStore(path), FickleTrainer()
    toy_loop(store, trainer, guardrails=GuardrailSettings(trust_region=None, **guardrails)).run()  # type: ignore[arg-type]
    return store, trainer


def events(store: RunStore) -> list[dict]:
    return [json.loads(line) for line in (store.path / "events.jsonl").read_text().splitlines()]


@pytest.mark.parametrize(
    ("mode", "resumed"),
    [("last", ["base", "round_00", "round_01"]), ("rollback", ["base", "round_00", "round_00"])],
)
def test_run__goes_on_from_the_checkpoint_that_is_carried(tmp_path: Path, mode: str, resumed: list[str]) -> None:
    _, trainer = run(tmp_path / "run", carry=mode)
    assert trainer.resumed_from == resumed


def test_run__tells_the_engineer_and_the_log_of_a_rollback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[str, ...]] = []
    propose = ToyEngineer.propose
    monkeypatch.setattr(
        ToyEngineer, "propose", lambda self, evidence: (told.append(evidence.notes), propose(self, evidence))[1]
    )
    store, _ = run(tmp_path / "run", carry="rollback")
    note = "round 1 fell to valid 0.00 from 1.00 in round 0; training goes on from round 0"
    assert told == [(), (note,)]
    assert next(event["note"] for event in events(store) if event["event"] == "guardrail") == note
    assert store.read_record("round_01/carry.json", Carry).round_index == 0


def test_run__holds_the_share_of_forgotten_sources(tmp_path: Path) -> None:
    store, _ = run(tmp_path / "run", forgetting_floor=0.45)
    carry = store.read_record("round_01/carry.json", Carry)
    assert {setback.scope for setback in carry.forgotten} == {"a", "b"}
    table = json.loads(store.read_text("round_01/proposal.json"))["configuration"]
    assert all(row["data_ratio"] >= 0.45 for row in table.values())


def test_run__mixes_tasks_of_round_0_into_later_rounds(tmp_path: Path) -> None:
    plain, _ = run(tmp_path / "plain")
    mixed, _ = run(tmp_path / "mixed", base_mix=0.5)
    assert plain.read_tasks("round_00/train.parquet") == mixed.read_tasks("round_00/train.parquet")
    assert plain.read_tasks("round_01/train.parquet") != mixed.read_tasks("round_01/train.parquet")
    assert len(mixed.read_tasks("round_01/train.parquet")) == 8
    assert [e["from_round_0_configuration"] for e in events(mixed) if "from_round_0_configuration" in e] == [4, 4]


def test_run__with_all_guardrails_resumes_after_a_kill_at_any_write(tmp_path: Path) -> None:
    guardrails = GuardrailSettings(trust_region=None, carry="best", forgetting_floor=0.1, base_mix=0.25)
    (tmp_path / "whole").mkdir()
    whole = MortalStore(tmp_path / "whole")
    toy_loop(whole, FickleTrainer(), guardrails=guardrails).run()
    for dies_at in range(whole.writes):
        path = tmp_path / f"killed {dies_at}"
        path.mkdir()
        with pytest.raises(Killed):
            toy_loop(MortalStore(path, dies_at), FickleTrainer(), guardrails=guardrails).run()
        toy_loop(RunStore(path), FickleTrainer(), guardrails=guardrails).run()
        assert contents(path) == contents(whole.path), path.name
