"""Cells as bits of one integer, and shortest distances on a board with holes."""

from functools import cache

from envwright.testbeds.mapf_frozenlake.instance import Cell, Instance

FAR = 10**6
"""The distance of a cell that cannot be reached."""


@cache
def column_masks(size: int) -> tuple[int, int]:
    """Returns the bits that may move left, and those that may move right."""
    left_column = sum(1 << (row * size) for row in range(size))
    everything = (1 << (size * size)) - 1
    return everything & ~left_column, everything & ~(left_column << (size - 1))


class Board:
    """The free cells of an instance; cell (row, column) is bit row * size + column."""

    def __init__(self, instance: Instance) -> None:
        size = instance.size
        self.size = size
        self.free = (1 << (size * size)) - 1
        for row, column in instance.holes:
            self.free &= ~(1 << (row * size + column))
        self.can_left, self.can_right = column_masks(size)
        self.starts = tuple(row * size + column for row, column in instance.starts)
        self.goals = tuple(row * size + column for row, column in instance.goals)
        self.neighbours: list[tuple[int, ...]] = [self._neighbours(cell) for cell in range(size * size)]

    def _neighbours(self, cell: int) -> tuple[int, ...]:
        if not self.free >> cell & 1:
            return ()
        return tuple(bits(self.moves(1 << cell)))

    def moves(self, cells: int) -> int:
        """Returns every cell that one move from one of the cells leads to."""
        size = self.size
        around = cells << size | cells >> size | (cells & self.can_right) << 1 | (cells & self.can_left) >> 1
        return around & self.free

    def distances(self, goal: int, avoid: int = 0) -> list[int]:
        """Returns the moves from each cell to the goal, never through the cells of `avoid`; FAR if there is no way."""
        distance = [FAR] * (self.size * self.size)
        frontier, seen, steps = 1 << goal, 1 << goal | avoid, 0
        while frontier:
            for cell in bits(frontier):
                distance[cell] = steps
            frontier = self.moves(frontier) & ~seen
            seen |= frontier
            steps += 1
        return distance

    def cell(self, index: int) -> Cell:
        """Returns the (row, column) of a bit."""
        return divmod(index, self.size)


def bits(mask: int) -> list[int]:
    """Returns the positions of the set bits, lowest first."""
    found: list[int] = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return found
