"""A plan as an animated GIF: holes dark, goals as rings, agents as numbered discs, a first failure marked and final."""

from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from envwright.testbeds.mapf_frozenlake.instance import Cell, Instance, Paths
from envwright.testbeds.mapf_frozenlake.verifier import Fault
from envwright.testbeds.mapf_frozenlake.viewer import (
    AGENT_COLOURS,
    FAULT_COLOUR,
    cells_at,
    describe_fault,
    fault_cells,
    last_step,
)

ICE, HOLE, LINE, INK, PAPER = "#EAF4FB", "#3B4252", "#B8CBD8", "#000000", "#FFFFFF"
COLOURS = (PAPER, ICE, HOLE, LINE, INK, FAULT_COLOUR, *AGENT_COLOURS)
FRAMES_PER_STEP = 5
MOVING_MS, RESTING_MS, FINAL_MS = 60, 350, 2_000

Position = tuple[float, float]
"""(row, column) of a disc, between cells while it moves."""


def write_gif(path: Path, instance: Instance, paths: Paths, faults: Sequence[Fault]) -> None:
    """Writes the plan's animation, which ends at the first failure.

    Args:
        path: where to write.
        instance: the board.
        paths: a cell per agent and step, from the start on.
        faults: what the verifier found in it, first failure first; empty for a valid plan.
    """
    frames, durations = _animate(_Canvas(instance), paths, faults)
    frames[0].save(path, format="GIF", save_all=True, append_images=frames[1:], duration=durations, loop=0, disposal=1)


def _animate(canvas: "_Canvas", paths: Paths, faults: Sequence[Fault]) -> tuple[list[Image.Image], list[int]]:
    last = last_step(paths, faults)
    frames, durations = [], []
    for step in range(last):
        here, there = cells_at(paths, step), cells_at(paths, step + 1)
        for part in range(FRAMES_PER_STEP):
            frames.append(canvas.frame(_between(here, there, part / FRAMES_PER_STEP), f"step {step}"))
            durations.append(MOVING_MS if part else RESTING_MS)
    end = cells_at(paths, last)
    caption = f"step {last}: {describe_fault(faults[0])}" if faults else f"step {last}: all at their goals"
    frames.append(canvas.frame(end, caption, fault_cells(end, faults)))
    return frames, [*durations, FINAL_MS]


def _between(here: Sequence[Cell], there: Sequence[Cell], share: float) -> list[Position]:
    return [
        (row + (next_row - row) * share, column + (next_column - column) * share)
        for (row, column), (next_row, next_column) in zip(here, there, strict=True)
    ]


def _side_by_side(agents: Sequence[Position]) -> list[Position]:
    """Returns the positions, with agents in one place moved apart so that both are seen."""
    here = [[other for other, place in enumerate(agents) if place == position] for position in agents]
    return [
        (row, column + 0.4 * (same.index(number) - (len(same) - 1) / 2) / max(1, len(same) - 1))
        for number, ((row, column), same) in enumerate(zip(agents, here, strict=True))
    ]


class _Canvas:
    """Draws what stays the same once, in palette colours, and each frame on a copy of it."""

    def __init__(self, instance: Instance) -> None:
        self._cell = max(32, min(64, 480 // instance.size))
        self._font = ImageFont.load_default(self._cell * 0.34)
        self._small = ImageFont.load_default(max(11, self._cell * 0.24))
        self._margin = self._cell // 2
        side = instance.size * self._cell + 2 * self._margin
        self._base = Image.new("P", (max(side, 320), side + self._margin))
        self._base.putpalette([channel for colour in COLOURS for channel in bytes.fromhex(colour[1:])])
        self._draw_board(instance)

    def frame(self, agents: Sequence[Position], caption: str, marked: frozenset[Cell] = frozenset()) -> Image.Image:
        """Returns the board with the agents on it, the marked cells framed, and the caption below."""
        image = self._base.copy()
        draw = _pen(image)
        for cell in marked:
            draw.rectangle(self._box(cell), COLOURS.index(FAULT_COLOUR), COLOURS.index(INK), 4)
        for number, position in enumerate(_side_by_side(agents)):
            draw.ellipse(self._box(position, 0.22), _agent_colour(number), COLOURS.index(INK), 2)
            self._write(draw, position, str(number), self._font)
        foot = (self._margin, image.height - self._margin)
        draw.text(foot, caption, COLOURS.index(INK), self._small, anchor="lm")
        return image

    def _draw_board(self, instance: Instance) -> None:
        draw = _pen(self._base)
        for row in range(instance.size):
            for column in range(instance.size):
                fill = HOLE if (row, column) in instance.holes else ICE
                draw.rectangle(self._box((row, column)), COLOURS.index(fill), COLOURS.index(LINE))
            for position in ((row, -0.75), (-0.75, row)):
                self._write(draw, position, str(row), self._small)
        for number, (start, goal) in enumerate(zip(instance.starts, instance.goals, strict=True)):
            colour = _agent_colour(number)
            draw.rectangle(self._box(start, 0.06), None, colour, 2)
            draw.rectangle(self._box(goal, 0.12), None, colour, max(3, self._cell // 12))
            self._write(draw, goal, f"G{number}", self._small)

    def _write(
        self,
        draw: ImageDraw.ImageDraw,
        position: Position,
        text: str,
        font: ImageFont.FreeTypeFont | ImageFont.ImageFont,
    ) -> None:
        left, top, right, bottom = self._box(position)
        draw.text(((left + right) / 2, (top + bottom) / 2), text, COLOURS.index(INK), font, anchor="mm")

    def _box(self, position: Position, inset: float = 0.0) -> tuple[float, float, float, float]:
        """Returns the pixel box of a cell, shrunk by a share of its side: left, top, right, bottom."""
        left = self._margin + (position[1] + inset) * self._cell
        top = self._margin + (position[0] + inset) * self._cell
        side = (1 - 2 * inset) * self._cell
        return left, top, left + side, top + side


def _agent_colour(number: int) -> int:
    return COLOURS.index(AGENT_COLOURS[number % len(AGENT_COLOURS)])


def _pen(image: Image.Image) -> ImageDraw.ImageDraw:
    draw = ImageDraw.Draw(image)
    draw.fontmode = "1"
    return draw
