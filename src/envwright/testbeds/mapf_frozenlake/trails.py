"""Where a group of agents is at each time, and where that leaves no room for another."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, zip_longest

States = tuple[int, ...]


class Trail:
    """The joint cells of a group at each time; at the last ones it stays for good."""

    def __init__(self, cells: Sequence[States]) -> None:
        self.cells = cells

    def __len__(self) -> int:
        return len(self.cells)

    def at(self, time: int) -> States:
        """Returns the cells at a time."""
        return self.cells[min(time, len(self.cells) - 1)]

    @cached_property
    def masks(self) -> list[int]:
        """The cells at each time as bits."""
        return [_mask(cells) for cells in self.cells]

    @cached_property
    def moves(self) -> list[list[tuple[int, int]]]:
        """For each step the (from, to) of the agents that move."""
        steps = zip(self.cells, self.cells[1:], strict=False)
        return [[(a, b) for a, b in zip(before, after, strict=True) if a != b] for before, after in steps]

    def clashes(self, other: "Trail") -> bool:
        """Returns whether the two ever share a cell or exchange two."""
        steps = zip_longest(self.masks, other.masks)
        if any((self.masks[-1] if a is None else a) & (other.masks[-1] if b is None else b) for a, b in steps):
            return True
        moves = zip(self.moves, other.moves, strict=False)
        return any((after, before) in mine for mine, theirs in moves for before, after in theirs)

    @cached_property
    def paths(self) -> list[list[int]]:
        """The cells of each agent, from time 0 to its arrival for good."""
        paths = [list(cells) for cells in zip(*self.cells, strict=True)]
        for path in paths:
            while len(path) > 1 and path[-1] == path[-2]:
                path.pop()
        return paths

    @property
    def has_wait(self) -> bool:
        """Whether an agent waits before it has arrived for good."""
        return any(before == after for path in self.paths for before, after in pairwise(path))


@dataclass(frozen=True)
class Best:
    """An optimum, with one plan."""

    value: int
    trail: Trail


class Obstacles:
    """The trails of agents that are to be avoided; these may still clash with each other."""

    def __init__(self, trails: Sequence[Trail]) -> None:
        self.length = max((len(trail) for trail in trails), default=1)
        self._busy = [0] * self.length
        self._exchanges: list[dict[int, int]] = [{} for _ in range(self.length)]
        for trail in trails:
            for time, mask in enumerate(trail.masks):
                self._busy[time] |= mask
            for time in range(len(trail), self.length):
                self._busy[time] |= trail.masks[-1]
            for sources, moves in zip(self._exchanges, trail.moves, strict=False):
                for before, after in moves:
                    sources[before] = sources.get(before, 0) | 1 << after

    def busy(self, time: int) -> int:
        """Returns the cells that are taken at a time."""
        return self._busy[min(time, self.length - 1)]

    def exchanges(self, time: int) -> dict[int, int]:
        """Returns for a cell that is left in the step after a time the cells from which it may not be entered."""
        return self._exchanges[time] if time < self.length else {}


def _mask(cells: States) -> int:
    mask = 0
    for cell in cells:
        mask |= 1 << cell
    return mask
