"""Cells as bits of one integer, and shortest distances on a board with holes."""

from functools import cache

from envwright.testbeds.mapf_frozenlake.instance import Cell, Instance

FAR = 10**6
"""The distance of a cell that cannot be reached."""


class Board:
    """The free cells of an instance; cell (row, column) is bit row * size + column."""

    def __init__(self, instance: Instance) -> None:
        size = instance.size
        self.size = size
        self.free = (1 << (size * size)) - 1
        for row, column in instance.holes:
            self.free ^= 1 << (row * size + column)
        self.can_left, self.can_right = _column_masks(size)
        self.around = _grid(size)
        self.starts = tuple(row * size + column for row, column in instance.starts)
        self.goals = tuple(row * size + column for row, column in instance.goals)

    def neighbours(self, cell: int) -> tuple[int, ...]:
        """Returns the cells one move away from a free cell."""
        return few_bits(self.around[cell] & self.free)

    def moves(self, cells: int) -> int:
        """Returns every cell that one move from one of the cells leads to."""
        size = self.size
        around = cells << size | cells >> size | (cells & self.can_right) << 1 | (cells & self.can_left) >> 1
        return around & self.free

    def balls(self, goal: int, avoid: int = 0) -> list[int]:
        """Returns the cells within k moves of the goal for k = 0, 1, ...; no way leads through the cells of `avoid`."""
        reached = 1 << goal
        balls = [reached]
        while (grown := (reached | self.moves(reached)) & ~avoid) != reached:
            balls.append(grown)
            reached = grown
        return balls

    def distances(self, goal: int) -> list[int]:
        """Returns the moves from each cell to the goal; FAR if there is no way."""
        return distances_of(self.balls(goal), self.size)

    def cell(self, index: int) -> Cell:
        """Returns the (row, column) of a bit."""
        return divmod(index, self.size)


def distances_of(balls: list[int], size: int) -> list[int]:
    """Returns for each cell the radius of the smallest ball that holds it; FAR if none does."""
    distance = [FAR] * (size * size)
    inner = 0
    for radius, ball in enumerate(balls):
        for cell in bits(ball ^ inner):
            distance[cell] = radius
        inner = ball
    return distance


def radius_of(balls: list[int], cells: int) -> int:
    """Returns the smallest radius whose ball holds one of the cells; FAR if none does."""
    if not balls[-1] & cells:
        return FAR
    return next(radius for radius, ball in enumerate(balls) if ball & cells)


def bits(mask: int) -> list[int]:
    """Returns the positions of the set bits, lowest first."""
    found: list[int] = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return found


@cache
def few_bits(mask: int) -> tuple[int, ...]:
    """Returns the positions of the set bits, remembered: for masks of which there are few, as a cell's neighbours."""
    return tuple(bits(mask))


@cache
def _column_masks(size: int) -> tuple[int, int]:
    """Returns the bits that may move left, and those that may move right."""
    left_column = sum(1 << (row * size) for row in range(size))
    everything = (1 << (size * size)) - 1
    return everything & ~left_column, everything & ~(left_column << (size - 1))


@cache
def _grid(size: int) -> tuple[int, ...]:
    """Returns the neighbours of each cell on a board without holes."""
    masks: list[int] = []
    for row in range(size):
        for column in range(size):
            around = ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1))
            masks.append(sum(1 << (r * size + c) for r, c in around if 0 <= r < size and 0 <= c < size))
    return tuple(masks)
