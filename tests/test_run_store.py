import json
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from envwright.engineer import Attempt
from envwright.errors import DataFileError, RunDirectoryError
from envwright.rollout import Rollout
from envwright.run_store import RECIPE, VALIDATION, RunStore
from envwright.testbed import Completion, Task, Verdict

TASKS = [
    Task(
        id=f"id{index}",
        messages=({"role": "system", "content": "be brief"}, {"role": "user", "content": f"größe {index}\n"}),
        payload=json.dumps({"grid": ["..", ".H"], "index": index}),
        tags={"source": str(3 + index % 2), "size": 3 + index % 2, "holes": 0.25, "wait": index > 0},
    )
    for index in range(3)
]
ROLLOUTS = [
    Rollout(
        task=task,
        completion=Completion(text="Agent 0: …", tokens=4, truncated=True),
        verdict=Verdict(
            reward=0.1, parsed=True, valid=False, optimal=False, failure="hole_collision", folded="hole",
            kinds=("hole_collision", "goal_not_reached"), details={"step": 2, "agents": [0, 1]},
        ),
    )
    for task in TASKS
]  # fmt: skip


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    return RunStore.create(tmp_path / "run", "name: x\n", {"seed": 0})


def test_create__takes_a_new_or_an_empty_directory(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for name in ("empty", "deep/new"):
        assert RunStore.create(tmp_path / name, "name: x\n", {}).has(RECIPE)


@pytest.mark.parametrize("kind", ["file", "directory", "run"])
def test_create__overwrites_nothing(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "there"
    if kind == "file":
        path.write_text("mine")
    elif kind == "directory":
        path.mkdir()
        (path / "mine").write_text("mine")
    else:
        RunStore.create(path, "name: mine\n", {})
    before = sorted((str(file), file.read_bytes()) for file in tmp_path.rglob("*") if file.is_file())
    with pytest.raises(RunDirectoryError, match="resume"):
        RunStore.create(path, "name: other\n", {})
    assert sorted((str(file), file.read_bytes()) for file in tmp_path.rglob("*") if file.is_file()) == before


def test_create__says_where_it_cannot_make_a_directory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunDirectoryError, match="another output"):
        RunStore.create(tmp_path / "file" / "run", "name: x\n", {})


def test_open__wants_a_run(tmp_path: Path) -> None:
    with pytest.raises(RunDirectoryError, match=RECIPE):
        RunStore.open(tmp_path)


def test_lock__names_who_holds_it(store: RunStore) -> None:
    program = (
        "import sys; from pathlib import Path; from envwright.run_store import RunStore\n"
        "with RunStore(Path(sys.argv[1])).locked():\n"
        "    print('held', flush=True)\n"
        "    sys.stdin.read()\n"
    )
    command = [sys.executable, "-c", program, str(store.path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(RunDirectoryError, match=rf"process {holder.pid} on .* since \d{{4}}-"), store.locked():
            pass
        holder.kill()
    with store.locked():  # a lock dies with its process
        pass


def test_lock__is_free_again_afterwards(store: RunStore) -> None:
    for _ in range(2):
        with store.locked(), pytest.raises(RunDirectoryError), store.locked():
            pass


def test_write__keeps_the_old_file_if_it_fails(store: RunStore) -> None:
    store.write_text("note.txt", "old")
    with pytest.raises(UnicodeEncodeError):
        store.write_text("note.txt", "new \ud800")
    assert store.read_text("note.txt") == "old"


def test_write__leaves_no_file_under_the_name_if_it_fails(store: RunStore) -> None:
    with pytest.raises(UnicodeEncodeError):
        store.write_text("round_00/note.txt", "\ud800")
    assert not store.has("round_00/note.txt")


def test_tasks__come_back_equal(store: RunStore) -> None:
    store.write_tasks("train.parquet", TASKS, "toy")
    assert store.read_tasks("train.parquet") == TASKS


def test_tasks__have_the_columns_that_trainers_read(store: RunStore) -> None:
    store.write_tasks("train.parquet", TASKS, "toy")
    row = pq.read_table(store.path / "train.parquet").to_pylist()[1]
    assert row["prompt"] == list(TASKS[1].messages)
    assert row["data_source"] == "toy/4"
    assert row["reward_model"] == {"style": "rule", "ground_truth": TASKS[1].payload}
    assert row["extra_info"]["index"] == 1
    assert row["extra_info"]["id"] == "id1"
    assert json.loads(row["extra_info"]["tags"]) == TASKS[1].tags


def test_tasks__are_the_same_bytes_each_time(store: RunStore) -> None:
    for name in ("one.parquet", "two.parquet"):
        store.write_tasks(name, TASKS, "toy")
    assert (store.path / "one.parquet").read_bytes() == (store.path / "two.parquet").read_bytes()


def test_rollouts__come_back_equal(store: RunStore) -> None:
    store.write_tasks(VALIDATION, TASKS, "toy")
    store.write_rollouts("base/rollouts.parquet", ROLLOUTS)
    assert store.read_rollouts("base/rollouts.parquet") == ROLLOUTS


def test_rollouts__must_belong_to_the_validation_tasks(store: RunStore) -> None:
    store.write_tasks(VALIDATION, TASKS[1:], "toy")
    store.write_rollouts("base/rollouts.parquet", ROLLOUTS)
    with pytest.raises(DataFileError, match="one rollout per task"):
        store.read_rollouts("base/rollouts.parquet")


@pytest.mark.parametrize("damage", ["missing", "truncated", "other columns"])
def test_tasks__damaged_file_is_named(store: RunStore, damage: str) -> None:
    path = store.path / "train.parquet"
    store.write_tasks("train.parquet", TASKS, "toy")
    if damage == "missing":
        path.unlink()
    elif damage == "truncated":
        path.write_bytes(path.read_bytes()[:200])
    else:
        store.write_rollouts("train.parquet", ROLLOUTS)
    with pytest.raises(DataFileError, match=r"train\.parquet"):
        store.read_tasks("train.parquet")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"text": 3}'])
def test_record__damaged_file_is_named(store: RunStore, text: str) -> None:
    store.write_text("record.json", text)
    with pytest.raises(DataFileError, match=r"record\.json"):
        store.read_record("record.json", Attempt)


def test_record__comes_back_equal(store: RunStore) -> None:
    attempt = Attempt(text="früh", error="no block", tokens=3, seconds=0.5)
    store.write_record("record.json", attempt)
    assert store.read_record("record.json", Attempt) == attempt


def test_event__appends_a_line(store: RunStore) -> None:
    store.event("begin", step="train")
    store.event("done", step="train", seconds=1.5)
    rows = [json.loads(line) for line in store.read_text("events.jsonl").splitlines()]
    assert [row["event"] for row in rows] == ["begin", "done"]
    assert rows[1]["seconds"] == 1.5
