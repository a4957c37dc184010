"""One agent with a deadline: the states it can be in at each time if it is to arrive for good by then."""

from envwright.testbeds.mapf_frozenlake.distances import Board, few_bits
from envwright.testbeds.mapf_frozenlake.trails import Obstacles, Trail


class OneAgent:
    """An agent of a board, with or without the right to wait.

    A state is a cell, or `parked`: on the goal for good. Without waits a parked agent alone may stay where it is, so
    the agent on its goal chooses between parking and leaving again; with waits `parked` is neither needed nor reached.
    """

    def __init__(self, board: Board, agent: int, waits: bool) -> None:
        self.board = board
        self.waits = waits
        self.start, self.goal = board.starts[agent], board.goals[agent]
        self.distance = [*board.distances(self.goal), 0]
        self.shortest = self.distance[self.start]
        self.parked = board.size * board.size
        self.position = [*range(self.parked), self.goal]
        self.occupants = [1 << cell for cell in range(self.parked)]
        self.occupants[self.goal] |= 1 << self.parked
        self._standing = self.occupants[self.goal]
        self._in_time = [1 << self.goal if waits else self._standing]
        self._domains: dict[int, list[int]] = {}
        self._reach: dict[int, int] = {}
        self._steps: dict[int, tuple[int, ...]] = {}
        self.at_rest = 1 << (self.goal if waits else self.parked)
        """The states after the deadline."""

    def after(self, states: int) -> int:
        """Returns the states one step after any of the states."""
        if self.waits:
            return self.board.moves(states) | states
        moved = self.board.moves(states & self.board.free)
        return moved | 1 << self.parked if states & self._standing else moved

    def before(self, states: int) -> int:
        """Returns the states one step before any of the states."""
        if self.waits:
            return self.board.moves(states) | states
        moved = self.board.moves(states & self.board.free)
        return moved | self._standing if states >> self.parked & 1 else moved

    def reach(self, state: int) -> int:
        """Returns the states one step after a state."""
        if state not in self._reach:
            self._reach[state] = self.after(1 << state)
        return self._reach[state]

    def steps(self, state: int) -> tuple[int, ...]:
        """Returns the states one step after a state, those nearer to the goal first."""
        if state not in self._steps:
            following = few_bits(self.reach(state))
            self._steps[state] = tuple(sorted(following, key=self.distance.__getitem__))
        return self._steps[state]

    def domains(self, deadline: int) -> list[int]:
        """Returns the possible states at each time up to the deadline."""
        if deadline not in self._domains:
            while len(self._in_time) <= deadline:
                self._in_time.append(self.before(self._in_time[-1]))
            states = [1 << self.start & self._in_time[deadline]]
            for left in range(deadline - 1, -1, -1):
                states.append(self.after(states[-1]) & self._in_time[left])
            self._domains[deadline] = states
        return self._domains[deadline]

    def domain(self, deadline: int, time: int) -> int:
        """Returns the possible states at a time."""
        return self.domains(deadline)[time] if time <= deadline else self.at_rest

    def plan(self, deadline: int, obstacles: Obstacles) -> Trail | None:
        """Returns a way to arrive in time that avoids the obstacles, or None if there is none."""
        layers = [1 << self.start]
        for time in range(1, max(deadline + 1, obstacles.length)):
            layer, busy = layers[-1], obstacles.busy(time)
            if busy >> self.goal & 1:
                busy |= 1 << self.parked
            states = self.after(layer) & self.domain(deadline, time) & ~busy
            for cell, sources in obstacles.exchanges(time - 1).items():
                if states >> cell & 1 and not self.board.around[cell] & layer & ~sources:
                    states ^= 1 << cell
            if not states:
                return None
            layers.append(states)
        return self._way_back(layers, obstacles)

    def _way_back(self, layers: list[int], obstacles: Obstacles) -> Trail:
        state = layers[-1].bit_length() - 1
        cells = [(self.goal,)]
        for time in range(len(layers) - 2, -1, -1):
            sources = self.before(1 << state) & layers[time] & ~obstacles.exchanges(time).get(self.position[state], 0)
            stays = sources & 1 << state
            if sources != stays and not (stays and self.position[state] == self.goal):
                sources ^= stays  # moves rather than waits
            state = sources.bit_length() - 1
            cells.append((self.position[state],))
        return Trail(cells[::-1])
