from pathlib import Path

import pytest
from PIL import Image

from envwright.testbeds.mapf_frozenlake.animation import FINAL_MS, FRAMES_PER_STEP, write_gif
from envwright.testbeds.mapf_frozenlake.answer import Plan
from envwright.testbeds.mapf_frozenlake.instance import Instance, Paths
from envwright.testbeds.mapf_frozenlake.verifier import Judgement, judge
from envwright.testbeds.mapf_frozenlake.viewer import AGENT_COLOURS, FAULT_COLOUR, board_text, coloured, plan_frames

BOARD = Instance.from_rows(["...", "HH.", "..."], [[0, 0], [0, 2]], [[0, 2], [2, 2]])
VALID: Paths = (((0, 0), (0, 1), (0, 2)), ((0, 2), (1, 2), (2, 2)))
CLASH: Paths = (((0, 0), (0, 1), (0, 2)), ((0, 2), (0, 2), (0, 2)))


def judged(paths: Paths) -> Judgement:
    return judge(BOARD, Plan("cells", paths))


def frames_of(paths: Paths) -> list[str]:
    return plan_frames(BOARD, paths, judged(paths))


def test_board_text__shows_starts_goals_and_holes_with_row_and_column_numbers():
    assert board_text(BOARD).split("\n") == [
        "     0    1    2",
        "0   A0    . A1G0",
        "1   ##   ##    .",
        "2    .    .   G1",
    ]


def test_plan_frames__of_a_valid_plan_has_one_frame_per_step():
    frames = frames_of(VALID)
    assert [frame.split("\n")[0] for frame in frames] == [
        "step 0 of 2",
        "step 1 of 2",
        "step 2 of 2: every agent is at its goal",
    ]
    assert "A0G0" in frames[-1]
    assert "A1G1" in frames[-1]
    assert "!" not in "".join(frames)


def test_plan_frames__ends_at_the_first_failure_and_marks_its_cell():
    longer = (CLASH[0] + ((0, 2),) * 3, CLASH[1])
    frames = frames_of(longer)
    assert len(frames) == 3
    assert frames[-1].startswith("step 2 of 2: vertex conflict, agents 0 and 1\n")
    assert frames[-1].count("!") == 1
    assert "A0A1G0!" in frames[-1]


def test_plan_frames__of_an_agent_off_the_board_names_it():
    away: Paths = (((0, 0), (-1, 0)), ((0, 2), (0, 2)))
    frames = frames_of(away)
    assert frames[-1].startswith("step 1 of 1: out of bounds, agent 0\n")
    assert "A0" not in frames[-1]


def test_coloured__keeps_the_text_and_gives_each_agent_its_colour():
    frame = frames_of(CLASH)[-1]
    text = coloured(frame)
    assert text.plain == frame
    styles = {str(span.style) for span in text.spans}
    assert any(AGENT_COLOURS[1] in style for style in styles)
    assert any(FAULT_COLOUR in style for style in styles)


def rgb(colour: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(colour[1:]))


def colours_of(image: Image.Image) -> set[tuple[int, ...]]:
    return {colour for _, colour in image.convert("RGB").getcolors(1 << 20) or [] if isinstance(colour, tuple)}


@pytest.mark.parametrize(("paths", "marked"), [(VALID, False), (CLASH, True)])
def test_write_gif__shows_every_step_and_marks_only_failures(tmp_path: Path, paths: Paths, marked: bool):
    path = tmp_path / "plan.gif"
    write_gif(path, BOARD, paths, judged(paths).faults)
    with Image.open(path) as gif:
        assert (gif.format, gif.n_frames) == ("GIF", 2 * FRAMES_PER_STEP + 1)
        first = colours_of(gif)
        gif.seek(gif.n_frames - 1)
        assert gif.info["duration"] == FINAL_MS
        last = colours_of(gif)
    assert {rgb(AGENT_COLOURS[0]), rgb(AGENT_COLOURS[1])} <= first & last
    assert rgb(FAULT_COLOUR) not in first
    assert (rgb(FAULT_COLOUR) in last) is marked
