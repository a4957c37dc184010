import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from legal_boards import instances, legal_boards

from envwright.errors import DataFileError
from envwright.testbeds.mapf_frozenlake.instance import Instance
from envwright.testbeds.mapf_frozenlake.interchange.mapped_json import BoardMapping, _board, load_mapping, read

BOARD = Instance.from_rows(["..H", "...", "..."], [[0, 0], [0, 1]], [[0, 1], [2, 2]])
RECORD: dict[str, Any] = {
    "env": {"n": 3, "blocked": [[0, 2]], "grid": ["SSH", "FFF", "FFG"], "bits": [[0, 0, 1], [0, 0, 0], [0, 0, 0]]},
    "agents": [{"start": [0, 0], "goal": [0, 1]}, {"start": [0, 1], "goal": [2, 2]}],
    "by_name": {"b": {"goal": [0, 1]}, "a": {"goal": [2, 2]}},
    "cost": 4,
}
CELLS = BoardMapping(size="env.n", holes="env.blocked", starts="agents.start", goals="agents.goal")


def read_lines(folder: Path, mapping: BoardMapping, *lines: str, name: str = "b.jsonl") -> list[Instance]:
    (folder / name).write_text("".join(line + "\n" for line in lines))
    return instances(read([folder / name], mapping))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"holes": "env.grid", "size": None, "symbols": dict.fromkeys("SFG", "free") | {"H": "hole"}},
        {"holes": "env.bits", "size": None, "symbols": {"0": "free", "1": "hole"}},
        {"goals": "by_name.*.goal"},
    ],
)
def test_read__finds_the_board_wherever_the_mapping_says(tmp_path: Path, changes: dict[str, Any]) -> None:
    mapping = CELLS.model_copy(update=changes)
    text = json.dumps(RECORD)
    assert read_lines(tmp_path, mapping, text, "", text) == [BOARD, BOARD]
    assert read_lines(tmp_path, mapping, f"[{text}]", name="b.json") == [BOARD]


@given(legal_boards(), st.booleans(), st.booleans())
def test_read__gives_the_board_that_a_record_was_made_of(board: Instance, as_grid: bool, x_first: bool) -> None:
    def written(cells: Any) -> list[list[int]]:
        return [[column, row] if x_first else [row, column] for row, column in cells]

    holes = [[".H".index(mark) for mark in row] for row in board.rows] if as_grid else written(board.holes)
    record = {"n": board.size, "h": holes, "s": written(board.starts), "g": written(board.goals)}
    mapping = BoardMapping(
        starts="s",
        goals="g",
        holes="h",
        size=None if as_grid else "n",
        symbols={"0": "free", "1": "hole"} if as_grid else None,
        coordinates="x_y" if x_first else "row_column",
    )
    assert instances([_board("here", record, mapping)]) == [board]


def test_read__keeps_the_files_own_optimum_apart(tmp_path: Path) -> None:
    (tmp_path / "b.jsonl").write_text(json.dumps(RECORD))
    (board,) = read([tmp_path / "b.jsonl"], CELLS.model_copy(update={"sum_of_costs": "cost"}))
    assert board.claims == {"sum_of_costs": 4}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"starts": "agents.begin"}, "says starts: agents.begin, but there is no 'begin'; the record has env, agents"),
        ({"goals": "agents.goal.x.*"}, "goals"),
        ({"size": "env"}, "size: Input should be a valid integer"),
        ({"size": "two"}, "got 2 columns and 2 rows"),
        ({"holes": "env.grid"}, "holes.0"),
        ({"holes": "env.n"}, "holes: Input should be a valid list"),
        ({"coordinates": "x_y", "goals": "env.blocked"}, "got 2 starts and 1 goals"),
        (
            {"symbols": {"F": "free", "H": "hole"}, "holes": "env.grid"},
            r"symbols are F, H, the grid also has \['G', 'S'\]",
        ),
        ({"symbols": {"S": "free"}, "holes": "env.ragged"}, "got 2 columns and 3 rows"),
        ({"sum_of_costs": "env.grid"}, "sum_of_costs: Input should be a valid integer"),
    ],
)
def test_read__names_the_line_of_a_record_that_does_not_fit(tmp_path: Path, changes: Any, message: str) -> None:
    record = {**RECORD, "two": 2, "env": {**RECORD["env"], "ragged": ["SSS", "SS", "SSS"]}}
    good = json.dumps(RECORD)
    mapping = CELLS.model_copy(update=changes)
    with pytest.raises(DataFileError, match=message) as error:
        read_lines(tmp_path, mapping, json.dumps(record), good)
    assert "b.jsonl, line 1" in str(error.value)


@pytest.mark.parametrize(
    ("name", "lines", "message"),
    [
        ("b.jsonl", (json.dumps(RECORD), json.dumps(RECORD)[:40]), "line 2: the text must be JSON"),
        ("b.jsonl", (json.dumps(RECORD), "3"), "line 2: the mapping says size: env.n"),
        ("b.jsonl", ("[" * 100_000,), "line 1: the text must be plain JSON"),
        ("b.json", ("[", "{", "]"), "line 3: the text must be JSON"),
        ("b.json", (json.dumps(RECORD), json.dumps(RECORD)), "line 2: the text must be JSON: Extra data"),
        ("b.json", (json.dumps(RECORD),), "must hold one list of records"),
        ("b.json", ("[{}]",), "record 0: the mapping says"),
    ],
)  # fmt: skip
def test_read__names_the_place_of_a_damaged_file(tmp_path: Path, name: str, lines: Any, message: str) -> None:
    with pytest.raises(DataFileError, match=message) as error:
        read_lines(tmp_path, CELLS, *lines, name=name)
    assert name in str(error.value)


def test_load_mapping__reads_what_a_user_writes(tmp_path: Path) -> None:
    (tmp_path / "m.yaml").write_text(
        "starts: agents.start\ngoals: agents.goal\nholes: env.bits\nsymbols: {0: free, 1: hole}\nsum_of_costs: cost\n"
    )
    mapping = load_mapping(tmp_path / "m.yaml")
    assert mapping.symbols == {"0": "free", "1": "hole"}
    assert read_lines(tmp_path, mapping, json.dumps(RECORD)) == [BOARD]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("starts: s\ngoals: g\nholes: h\n", "either `size`"),
        ("starts: s\ngoals: g\nholes: h\nsize: n\nsymbols: {a: free}\n", "either `size`"),
        ("starts: s\ngoals: g\nholes: h\nsymbols: {a: wall}\n", "symbols.a: Input should be 'free' or 'hole'"),
        ("starts: s\ngoals: g\nholes: h\nsize: n\nsizes: n\n", "sizes: Extra inputs"),
        ("starts: s\ngoals: g\nholes: h\nsize: n\ncoordinates: y_x\n", "coordinates: Input should be"),
        ("- starts\n", "valid dictionary"),
    ],
)
def test_load_mapping__is_closed(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "m.yaml").write_text(text)
    with pytest.raises(DataFileError, match=message) as error:
        load_mapping(tmp_path / "m.yaml")
    assert "m.yaml" in str(error.value)
