"""Resume with parts that carry state: whatever a new process fails to restore changes some number of the run."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from envwright.run_store import VALIDATION, RunStore
from run_fakes import ToyTestbed, ToyTrainer, toy_loop


class Killed(BaseException):
    """Stands for the end of the process."""


class MortalStore(RunStore):
    """Dies at its n-th write, just before or just after the file takes its final name."""

    def __init__(self, path: Path, dies_at: int = -1, after: bool = False) -> None:
        super().__init__(path)
        self.writes = 0
        self._dies_at, self._after = dies_at, after

    def _write(self, name: str, write: Callable[[Path], object]) -> None:
        dying = self.writes == self._dies_at
        self.writes += 1
        if dying and not self._after:
            raise Killed
        super()._write(name, write)
        if dying:
            raise Killed


@pytest.fixture
def store(tmp_path: Path) -> MortalStore:
    (tmp_path / "run").mkdir()
    return MortalStore(tmp_path / "run")


def contents(path: Path) -> dict[str, bytes]:
    files = [file for file in path.rglob("*") if file.is_file() and file.name != "events.jsonl"]
    return {str(file.relative_to(path)): file.read_bytes() for file in files}


def test_resume__after_a_kill_at_any_write_ends_as_without(store: MortalStore, tmp_path: Path) -> None:
    toy_loop(store).run()
    expected = contents(store.path)
    for dies_at in range(store.writes):
        for after in (False, True):
            path = tmp_path / f"killed {'after' if after else 'before'} {dies_at}"
            path.mkdir()
            with pytest.raises(Killed):
                toy_loop(MortalStore(path, dies_at, after)).run()
            toy_loop(RunStore(path)).run()
            assert contents(path) == expected, path.name


def test_resume__after_a_kill_inside_training_trains_that_round_again(store: MortalStore, tmp_path: Path) -> None:
    class Dying(ToyTrainer):
        def train(self, tasks, round_index, resume_from, checkpoint, report=lambda progress: None):
            training = super().train(tasks, round_index, resume_from, checkpoint, report)
            if round_index == 1:
                (checkpoint / "half").write_text("written")
                raise Killed
            return training

    toy_loop(store).run()
    killed = RunStore(tmp_path / "killed")
    killed.path.mkdir()
    with pytest.raises(Killed):
        toy_loop(killed, Dying()).run()
    second = ToyTrainer()
    toy_loop(killed, second).run()
    assert second.rounds == [1, 2]
    assert contents(killed.path) == contents(store.path)


def test_resume__of_a_finished_run_does_nothing(store: MortalStore) -> None:
    toy_loop(store).run()
    before = contents(store.path)
    trainer = ToyTrainer()
    toy_loop(store, trainer).run()
    assert trainer.rounds == []
    assert contents(store.path) == before


def test_loop__closes_the_trainer_after_the_last_round(store: MortalStore) -> None:
    trainer = ToyTrainer()
    toy_loop(store, trainer).run()
    assert trainer.rounds == [0, 1, 2]
    assert trainer.closed


def test_loop__hands_the_held_out_ids_to_the_generator(store: MortalStore) -> None:
    loop = toy_loop(store)
    loop.run()
    assert isinstance(loop.testbed, ToyTestbed)
    assert loop.testbed.excluded == [{task.id for task in store.read_tasks(VALIDATION)}] * 3


def test_loop__validates_every_stage_with_the_same_seed(store: MortalStore) -> None:
    class Forgetful(ToyTrainer):
        def restore(self, checkpoint: Path) -> None:
            self.policy.lessons = []

    toy_loop(store, Forgetful()).run()
    base, first, last = (store.read_rollouts(f"{name}/rollouts.parquet") for name in ("base", "round_00", "round_02"))
    assert base == first == last


def test_events__tell_seconds_and_tokens_of_each_step(store: MortalStore) -> None:
    toy_loop(store).run()
    events = [json.loads(line) for line in store.read_text("events.jsonl").splitlines()]
    done = {(event["step"], event["where"]): event for event in events if event["event"] == "done"}
    assert done["train", "round_01"]["tokens"] == 7
    assert done["redesign", "round_01"]["tokens"] == 5
    assert done["validate on 10 tasks", "base"]["tokens"] == 20
    assert all(event["seconds"] >= 0 for event in done.values())


def test_events__tell_of_an_interrupted_step(store: MortalStore) -> None:
    class Dying(ToyTrainer):
        def train(self, *arguments: object, **more: object):
            raise Killed

    with pytest.raises(Killed):
        toy_loop(store, Dying()).run()
    last = json.loads(store.read_text("events.jsonl").splitlines()[-1])
    assert (last["event"], last["step"], last["where"]) == ("interrupted", "train", "round_00")
