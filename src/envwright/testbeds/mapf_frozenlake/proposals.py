"""Candidate boards for the generator: plain draws, and boards built around one contested cell.

Boards on which every optimal plan waits are rare among plain draws (below 1 % on large open grids). A contested
board sends two agents through one cell on *all* their shortest paths: at the same time it is a cardinal conflict
(Boyarski et al., ICBS, 2015), with a delay it is the same geometry without the conflict, so that neither the
length of the paths nor the shape of the board gives the answer away. Only the exact label decides what a board is.
"""

import random
from collections.abc import Iterable
from dataclasses import dataclass

from envwright.testbeds.mapf_frozenlake.instance import Cell, Instance

Pair = tuple[int, int]
"""Start and goal of one agent, each as a one-bit mask of a Grid."""


@dataclass(frozen=True)
class Grid:
    """The free cells of a board as one integer, so that a step of a search is a handful of shifts.

    Cell (row, column) is bit row * (size + 1) + column; the spare column is never free and stops wrap-around.
    """

    size: int
    free: int

    @classmethod
    def draw(cls, size: int, holes: int, rng: random.Random) -> "Grid":
        """Returns a grid with exactly that many holes, uniformly placed."""
        row = (1 << size) - 1
        free = sum(row << index * (size + 1) for index in range(size))
        for cell in rng.sample(range(size * size), holes):
            free ^= 1 << cell // size * (size + 1) + cell % size
        return cls(size, free)

    def layers(self, source: int, avoid: int = 0) -> list[int]:
        """Returns the cells at distance 0, 1, 2, ... from the source on paths that do not touch `avoid`."""
        unseen = self.free & ~source & ~avoid
        layer, found = source, [source]
        while layer := self.moves(layer) & unseen:
            unseen ^= layer
            found.append(layer)
        return found

    def moves(self, cells: int) -> int:
        """Returns the cells next to the given ones, holes and the spare column included."""
        stride = self.size + 1
        return cells << 1 | cells >> 1 | cells << stride | cells >> stride

    def board(self, pairs: list[Pair]) -> Instance:
        """Returns the instance with these agents."""
        holes = [cell for cell in range(self.size * (self.size + 1)) if cell % (self.size + 1) < self.size]
        starts, goals = zip(*pairs, strict=True)
        return Instance(
            self.size,
            tuple(divmod(cell, self.size + 1) for cell in holes if not self.free >> cell & 1),
            tuple(map(self._cell, starts)),
            tuple(map(self._cell, goals)),
        )

    def _cell(self, mask: int) -> Cell:
        return divmod(mask.bit_length() - 1, self.size + 1)


def plain_board(grid: Grid, agents: int, rng: random.Random, *, crossing: bool = False) -> Instance | None:
    """Returns a board with random starts, each goal in its start's component; None if this draw has none.

    Args:
        grid: where.
        agents: how many.
        rng: the only source of chance.
        crossing: leave out most boards on which nobody has to wait: those where all agents but one have a shortest
            path that meets no shortest path of another.
    """
    pairs = _random_pairs(grid, agents, rng, [], longest=None)
    return grid.board(pairs) if pairs and not (crossing and _easily_kept_apart(grid, pairs)) else None


def contested_board(grid: Grid, agents: int, rng: random.Random, *, delay: int, equal_length: bool) -> Instance | None:
    """Returns a board whose first two agents must pass one cell `delay` steps apart; None if this draw has none.

    Args:
        grid: where.
        agents: how many, at least two; the others are drawn at random, and the numbers are shuffled.
        rng: the only source of chance.
        delay: 0 makes a conflict of all shortest paths, more keeps the crossing and drops the conflict.
        equal_length: the two paths differ by at most one step and no other agent has a longer one: a longer path
            would hide the conflict from the makespan.
    """
    start = _pick(grid.free, rng)
    waypoint = _pick(_union(grid.layers(start)[1:]), rng)
    arrivals = grid.layers(waypoint)
    meeting = _layer_of(start, arrivals)
    rivals = arrivals[meeting + delay] if meeting + delay < len(arrivals) else 0
    rival = _pick(rivals & ~start, rng)
    goal, length = _goal_behind(grid, start, waypoint, rng)
    lengths = (length - 1, length + 1) if equal_length else None
    rival_goal, rival_length = _goal_behind(grid, rival, waypoint, rng, taken=goal, lengths=lengths)
    if not rival_goal:
        return None
    longest = max(length, rival_length) if equal_length else None
    pairs = _random_pairs(grid, agents, rng, [(start, goal), (rival, rival_goal)], longest)
    rng.shuffle(pairs)
    return grid.board(pairs) if pairs else None


def _goal_behind(
    grid: Grid,
    start: int,
    waypoint: int,
    rng: random.Random,
    *,
    taken: int = 0,
    lengths: tuple[int, int] | None = None,
) -> tuple[int, int]:
    """Returns a random goal that no shortest path from the start reaches except over the waypoint, and its distance.

    The goal is 0 if there is none outside `taken` with a distance within `lengths`.
    """
    layers, detours = grid.layers(start), grid.layers(start, avoid=waypoint)
    behind, reached = [0] * len(layers), 0
    for distance, layer in enumerate(layers):
        reached |= detours[distance] if distance < len(detours) else 0
        if lengths is None or lengths[0] <= distance <= lengths[1]:
            behind[distance] = layer & ~reached & ~taken
    goal = _pick(_union(behind), rng)
    return goal, _layer_of(goal, behind)


def _easily_kept_apart(grid: Grid, pairs: list[Pair]) -> bool:
    routes = [_shortest_routes(grid, *pair) for pair in pairs]
    horizon = max(map(len, routes))
    routes = [route + [goal] * (horizon - len(route)) for route, (_, goal) in zip(routes, pairs, strict=True)]
    free_agents = sum(
        _keeps_clear(grid, route, [_union(cells) for cells in zip(*routes[:agent], *routes[agent + 1 :], strict=True)])
        for agent, route in enumerate(routes)
    )
    return free_agents >= len(pairs) - 1


def _shortest_routes(grid: Grid, start: int, goal: int) -> list[int]:
    """Returns, per time, the cells of all shortest paths."""
    ahead, back = grid.layers(start), grid.layers(goal)
    length = _layer_of(goal, ahead)
    return [ahead[time] & back[length - time] for time in range(length + 1)]


def _keeps_clear(grid: Grid, route: list[int], others: list[int]) -> bool:
    """Returns whether one of the routes shares no cell and exchanges none with what others may occupy, per time."""
    here = route[0]
    for now, then, cells in zip(others, others[1:], route[1:], strict=False):
        here = grid.moves(here & ~then) | grid.moves(here) & ~now | here
        here &= cells & ~then
    return here != 0


def _random_pairs(grid: Grid, agents: int, rng: random.Random, pairs: list[Pair], longest: int | None) -> list[Pair]:
    """Returns the pairs with random ones added up to the number of agents; an empty list if there is no room."""
    starts, goals = _union([start for start, _ in pairs]), _union([goal for _, goal in pairs])
    for _ in range(agents - len(pairs)):
        start = _pick(grid.free & ~starts, rng)
        reachable = grid.layers(start)[1 : None if longest is None else longest + 1]
        goal = _pick(_union(reachable) & ~goals, rng)
        if not goal:
            return []
        pairs.append((start, goal))
        starts |= start
        goals |= goal
    return pairs


def _union(masks: Iterable[int]) -> int:
    cells = 0
    for mask in masks:
        cells |= mask
    return cells


def _layer_of(cell: int, layers: list[int]) -> int:
    """Returns the index of the layer that holds the cell; their number if none does."""
    return next((index for index, layer in enumerate(layers) if layer & cell), len(layers))


def _pick(cells: int, rng: random.Random) -> int:
    """Returns one random cell of the mask, 0 if it is empty."""
    for _ in range(int(rng.random() * cells.bit_count())):
        cells &= cells - 1
    return cells & -cells
