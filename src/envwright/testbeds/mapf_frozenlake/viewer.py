"""Boards and plans as text: A0 is agent 0, G0 its goal, ## a hole, and ! marks the cells of a first failure."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from rich.text import Text

from envwright.testbeds.mapf_frozenlake.instance import Cell, Instance, Paths
from envwright.testbeds.mapf_frozenlake.verifier import Fault, Judgement

AGENT_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9")
"""Okabe and Ito's palette: told apart under every common colour blindness."""

FAULT_COLOUR = "#D55E00"


def board_text(instance: Instance) -> str:
    """Returns the board with starts and goals, rows and columns numbered."""
    return _draw(instance, instance.starts)


def plan_frames(instance: Instance, paths: Paths, judgement: Judgement) -> list[str]:
    """Returns one frame per step, up to the first failure, whose frame names it and marks its cells.

    Args:
        instance: the board.
        paths: a cell per agent and step, from the start on; an agent stays at the end of its path.
        judgement: the verifier's on these paths.
    """
    faults = judgement.faults
    last = last_step(paths, faults)
    frames = [f"step {step} of {last}\n{_draw(instance, cells_at(paths, step))}" for step in range(last)]
    cells = cells_at(paths, last)
    marked = fault_cells(cells, faults)
    verdict = describe_fault(faults[0]) if faults else "every agent is at its goal"
    return [*frames, f"step {last} of {last}: {verdict}\n{_draw(instance, cells, marked)}"]


def last_step(paths: Paths, faults: Sequence[Fault]) -> int:
    """Returns the step at which a drawing ends: the first failure, else the end of the longest path."""
    end = max((len(path) - 1 for path in paths), default=0)
    return min(faults[0].time, end) if faults else end


def cells_at(paths: Paths, step: int) -> tuple[Cell, ...]:
    """Returns where each agent is at that step."""
    return tuple(path[min(step, len(path) - 1)] for path in paths)


def fault_cells(cells: Sequence[Cell], faults: Sequence[Fault]) -> frozenset[Cell]:
    """Returns the cells of the agents in the first failure."""
    return frozenset(cells[agent] for agent in faults[0].agents if agent < len(cells)) if faults else frozenset()


def describe_fault(fault: Fault) -> str:
    """Returns the failure in words."""
    kind = fault.kind.replace("_", " ")
    if not fault.agents:
        return kind
    return f"{kind}, agent{'s' * (len(fault.agents) > 1)} {' and '.join(map(str, fault.agents))}"


def coloured(frame: str) -> Text:
    """Returns a frame for a terminal: agents bold in their colours, goals plain, failures marked."""
    text = Text(frame)
    for agent, colour in enumerate(AGENT_COLOURS):
        text.highlight_regex(rf"\bA{agent}", f"bold {colour}")
        text.highlight_regex(rf"G{agent}", colour)
    text.highlight_regex(r"##", "dim")
    text.highlight_regex(r"\S*!", f"bold reverse {FAULT_COLOUR}")
    return text


def _draw(instance: Instance, agents: Sequence[Cell], marked: frozenset[Cell] = frozenset()) -> str:
    labels: defaultdict[Cell, str] = defaultdict(str, dict.fromkeys(instance.holes, "##"))
    for letter, cells in (("A", agents), ("G", instance.goals)):
        for number, cell in enumerate(cells):
            labels[cell] += f"{letter}{number}"
    for cell in marked:
        labels[cell] += "!"
    return "\n".join(_rows(instance.size, labels))


def _rows(size: int, labels: Mapping[Cell, str]) -> list[str]:
    on_board = [label for (row, column), label in labels.items() if 0 <= row < size and 0 <= column < size]
    width = max(map(len, on_board), default=1) + 1
    header = " " + "".join(f"{column:>{width}}" for column in range(size))
    return [header] + [
        f"{row}" + "".join(f"{labels.get((row, column), '.'):>{width}}" for column in range(size))
        for row in range(size)
    ]
