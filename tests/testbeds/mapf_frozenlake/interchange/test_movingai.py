import math
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from legal_boards import instances, legal_boards

from envwright.errors import DataFileError
from envwright.testbeds.mapf_frozenlake.distances import FAR, Board
from envwright.testbeds.mapf_frozenlake.instance import Instance
from envwright.testbeds.mapf_frozenlake.interchange.foreign_board import legal_instance
from envwright.testbeds.mapf_frozenlake.interchange.movingai import octile_length, read, write

MAP = "type octile\nheight 3\nwidth 3\nmap\n.@T\nGS.\n...\n"
SCEN = "version 1\n0\tmaps/a.map\t3\t3\t0\t1\t2\t1\t2\n1\tmaps/a.map\t3\t3\t2\t2\t0\t0\t3.41421356\n"


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    (tmp_path / "a.map").write_text(MAP)
    (tmp_path / "a.scen").write_text(SCEN)
    return tmp_path / "a.scen"


@given(legal_boards())
def test_write__is_read_back_equal(board: Instance) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, text in write("board", board).items():
            Path(folder, name).write_text(text)
        assert instances(read([Path(folder, "board.scen")])) == [board]


def test_write__puts_x_before_y_and_the_octile_length_last() -> None:
    board = Instance.from_rows(["..H", "...", "..."], [[0, 1]], [[2, 2]])
    assert write("b", board) == {
        "b.map": "type octile\nheight 3\nwidth 3\nmap\n..@\n...\n...\n",
        "b.scen": "version 1\n0\tb.map\t3\t3\t1\t0\t2\t2\t2.41421356\n",
    }


def test_read__takes_every_mark_and_the_agents_in_order(scene: Path) -> None:
    board = Instance.from_rows([".HH", "...", "..."], [[1, 0], [2, 2]], [[1, 2], [0, 0]])
    assert instances(read([scene])) == [board]


def test_read__takes_the_first_agents_alone(scene: Path) -> None:
    assert legal_instance(next(read([scene])), agents=1).starts == ((1, 0),)


def test_read__takes_the_map_that_the_scenario_names_among_the_sources(scene: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    moved = (tmp_path / "a.map").rename(tmp_path / "elsewhere" / "a.map")
    assert len(instances(read([moved, scene]))) == 1
    with pytest.raises(DataFileError, match=r"a\.map must be a readable file"):
        list(read([scene]))


@given(legal_boards())
def test_octile_length__lies_between_the_straight_line_and_the_way_of_single_moves(board: Instance) -> None:
    start, goal = board.starts[0], board.goals[0]
    grid = Board(board)
    single = grid.distances(grid.goals[0])[grid.starts[0]]
    length = octile_length(board, start, goal)
    if single == FAR:  # a diagonal that cuts no corner can be walked in two single moves
        assert length == -1
    else:
        assert math.dist(start, goal) - 1e-9 <= length <= single


def test_octile_length__cuts_no_corner() -> None:
    board = Instance.from_rows([".H.", "...", "..."], [[0, 0]], [[1, 1]])
    assert octile_length(board, (0, 0), (1, 1)) == 2


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("type octile", "type tile", "line 1"),
        ("height 3", "height three", "line 2"),
        ("height 3", "height 9999999999", "line 2"),
        ("width 3\nmap", "map", "line 3"),
        ("map\n", "", "line 4"),
        ("width 3", "width 4", "got 4 columns and 3 rows"),
        ("height 3\nwidth 3", "height 11\nwidth 11", "got 11 columns and 11 rows"),
        ("GS.\n...\n", "GS.\n", "line 6: the map must have 3 rows, it has 2"),
        ("GS.", "GS", "line 6: a row must be 3 marks"),
        ("GS.", "GSx", "line 6: a row must be 3 marks"),
    ],
)
def test_read__names_the_line_of_a_bad_map(scene: Path, tmp_path: Path, old: str, new: str, message: str) -> None:
    (tmp_path / "a.map").write_text(MAP.replace(old, new))
    with pytest.raises(DataFileError, match=message) as error:
        list(read([scene]))
    assert "a.map" in str(error.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("version 1", "version 2", "line 1"),
        ("\t3.41421356\n", "", "line 3: an agent must have 9 columns between tabs, got 8"),
        ("\t2\t2\t0\t0", "\t2\ttwo\t0\t0", "line 3: columns 5 to 8 must be whole numbers"),
        ("1\tmaps/a.map", "1\tmaps/b.map", "line 3: all agents must be on the map"),
        ("maps/a.map", "..", "line 2: the second column must name a .map file"),
        ("maps/a.map", "a\0.map", "must be a readable file"),
        ("3\t3\t2", "6\t6\t2", "line 3: the map must be as wide and high"),
        (SCEN[10:], "", "line 2: a scenario must have at least one agent"),
        ("0\t1\t2\t1", "1\t0\t2\t1", "line 2: a start must be a free cell"),
        ("2\t2\t0\t0", "2\t3\t0\t0", "line 3: a start must be a free cell"),
        ("2\t2\t0\t0", "0\t1\t0\t0", r"line 3: starts must be pairwise distinct, \(1, 0\) is also that of .*line 2"),
        ("2\t2\t0\t0", "2\t2\t2\t1", "line 3: goals must be pairwise distinct"),
        ("2\t2\t0\t0", "2\t2\t2\t-1", "line 3: a goal must be a free cell"),
    ],
)
def test_read__names_the_line_of_a_bad_scenario(scene: Path, old: str, new: str, message: str) -> None:
    scene.write_text(SCEN.replace(old, new))
    with pytest.raises(DataFileError, match=message):
        instances(read([scene]))


@pytest.mark.parametrize("names", [["a.map"], ["a.scen", "a.png"]])
def test_read__takes_only_its_own_files(names: list[str]) -> None:
    with pytest.raises(DataFileError, match=r"must be \.scen files"):
        read([Path(name) for name in names])


def test_read__too_large_a_file_is_refused(scene: Path) -> None:
    scene.write_bytes(b"x" * 2_000_001)
    with pytest.raises(DataFileError, match=r"a\.scen must have at most 2,000,000 bytes"):
        list(read([scene]))
