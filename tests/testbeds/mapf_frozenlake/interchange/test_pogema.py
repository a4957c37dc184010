import json
import tempfile
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from legal_boards import instances, legal_boards

from envwright.errors import DataFileError
from envwright.testbeds.mapf_frozenlake.instance import Instance
from envwright.testbeds.mapf_frozenlake.interchange.pogema import read, write

BOARD = Instance.from_rows(["..H", "...", "H.."], [[0, 0], [1, 2]], [[2, 1], [0, 1]])
LETTERS = "aB#\n..b\n#A.\n"
LISTS = {"map": "..#\n...\n#..\n", "agents_xy": [[0, 0], [1, 2]], "targets_xy": [[2, 1], [0, 1]]}


def read_text(folder: Path, name: str, text: str) -> list[Instance]:
    (folder / name).write_text(text)
    return instances(read([folder / name]))


@given(legal_boards())
def test_write__is_read_back_equal(board: Instance) -> None:
    with tempfile.TemporaryDirectory() as folder:
        ((name, text),) = write("board", board).items()
        assert read_text(Path(folder), name, text) == [board]


def test_write__gives_the_keyword_arguments_of_a_grid_configuration() -> None:
    assert yaml.safe_load(write("b", BOARD)["b.yaml"]) == LISTS


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("letters.txt", LETTERS),
        ("letters", f"\n{LETTERS}\n"),
        ("letters.yaml", "map: |\n  aB#\n  ..b\n  #A.\nnum_agents: 2\n"),
        ("lists.json", json.dumps(LISTS)),
        ("numbers.json", json.dumps({**LISTS, "map": [[0, 0, 1], [0, 0, 0], [1, 0, 0]]})),
        ("numbers.yml", "map: [[0, 0, 1], [0, 0, 0], [1, 0, 0]]\nagents_xy: [[0, 0], [1, 2]]\n"
                        "targets_xy: [[2, 1], [0, 1]]\n"),
    ],
)  # fmt: skip
def test_read__takes_letters_and_lists(tmp_path: Path, name: str, text: str) -> None:
    assert read_text(tmp_path, name, text) == [BOARD]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("cut.txt", "aB#\n..b\n#A\n", "must be square.*got 2 columns and 3 rows"),
        ("wide.txt", "aB#.\n..b.\n#A..\n", "must be square"),
        ("small.txt", "aA\n..\n", "got 2 columns and 2 rows"),
        ("marks.txt", "a@#\n...\n#A.\n", "row 0 of the map: marks must be"),
        ("twice.txt", "aa#\n...\n#A.\n", "row 0 of the map: each letter may stand once"),
        ("alone.txt", "a.#\n...\n#..\n", "got only 'a'"),
        ("none.txt", "...\n...\n...\n", "1 to 5 agents, got 0"),
        ("empty.txt", " \n", "it is empty"),
        ("cut.json", json.dumps(LISTS)[:-9], "line 1: the text must be JSON"),
        ("deep.json", "[" * 100_000, "must be plain JSON"),
        ("list.json", "[]", "valid dictionary"),
        ("field.json", '{"agents_xy": []}', "map: Field required"),
        ("two.json", json.dumps({**LISTS, "map": LETTERS}), "either in the map or in agents_xy"),
        ("hole.json", json.dumps({**LISTS, "agents_xy": [[0, 0], [0, 2]]}), "agent 1: a start must be a free cell"),
        ("same.json", json.dumps({**LISTS, "agents_xy": [[0, 0], [0, 0]]}), "agent 1: starts must be pairwise"),
        ("odd.json", json.dumps({**LISTS, "targets_xy": [[2, 1]]}), "got 2 starts and 1 goals"),
        ("tour.json", json.dumps({**LISTS, "targets_xy": [[[2, 1], [0, 0]]]}), "targets_xy.0.0"),
        ("two.yaml", "map: '...'\nmap", "line 2: the file must be YAML"),
        ("tag.yaml", "map: !!python/object/apply:os.system [true]", "map"),
        ("bomb.yaml", "a: &a [1, 1]\nb: [*a, *a]", "line 2: YAML aliases"),
        ("deep.yaml", "[" * 50, "line 1: a board is not nested so deep"),
        ("large.yaml", "[" + "1," * 60_000 + "]", "nested so deep or so large"),
        ("huge.yaml", "#" * 200_001, "at most 200,000 bytes"),
    ],
)
def test_read__says_what_is_wrong_in_which_file(tmp_path: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(DataFileError, match=message) as error:
        read_text(tmp_path, name, text)
    assert name in str(error.value)


def test_read__bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(DataFileError, match=r"b\.txt must be text"):
        instances(read([tmp_path / "b.txt"]))
