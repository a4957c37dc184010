"""Some agents of a board within given deadlines: one plan, or the proof that there is none.

For each pair of agents a table holds the joint states from which both can still be in time. A depth-first search moves
agent by agent through states that all tables allow; the last agent is followed as a set of states, so that one step
covers many of its choices, and what failed is remembered.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from envwright.testbeds.mapf_frozenlake.distances import bits
from envwright.testbeds.mapf_frozenlake.one_agent import OneAgent
from envwright.testbeds.mapf_frozenlake.trails import States, Trail

PairTable = list[dict[int, int]]
"""For each time and state of the first agent, the states of the second from which both can be in time."""


class OutOfBudget(Exception):
    """The work budget is spent before the answer is known."""


@dataclass
class Budget:
    """Joint states that may still be looked at."""

    left: int

    def spend(self, amount: int = 1) -> None:
        """Counts work.

        Raises:
            OutOfBudget: nothing is left.
        """
        self.left -= amount
        if self.left < 0:
            raise OutOfBudget


def pair_table(first: OneAgent, second: OneAgent, deadlines: tuple[int, int], budget: Budget) -> PairTable | None:
    """Returns the table of two agents, or None when they cannot both be in time."""
    last = max(deadlines)
    at_end = second.domain(deadlines[1], last)
    table: PairTable = [dict.fromkeys(bits(first.domain(deadlines[0], last)), at_end)]
    for time in range(last - 1, -1, -1):
        later = table[-1]
        before = {state: second.before(states) for state, states in later.items()}
        here: dict[int, int] = {}
        possible = second.domain(deadlines[1], time)
        for state in bits(first.domain(deadlines[0], time)):
            budget.spend()
            cell, states = first.position[state], 0
            for target in first.steps(state):
                if target in later:
                    states |= before[target] & ~_exchanging(first.position[target], cell, later[target], second)
            if states := states & possible & ~second.occupants[cell]:
                here[state] = states
        table.append(here)
    table.reverse()
    return table if table[0] else None


def _exchanging(cell: int, target: int, allowed: int, agent: OneAgent) -> int:
    """Returns the state of the agent in `cell` if all it may do is to move to `target`, whose occupant comes here."""
    if cell == target or not allowed & agent.occupants[target]:
        return 0
    return 0 if agent.reach(cell) & allowed & ~agent.occupants[target] else 1 << cell


class JointSearch:
    """The search for one plan of at least two agents.

    Args:
        agents: the group.
        deadlines: of each agent.
        tables: of each pair, by the positions of its agents in the group.
        budget: what may be spent.
    """

    def __init__(
        self, agents: list[OneAgent], deadlines: States, tables: dict[tuple[int, int], PairTable], budget: Budget
    ) -> None:
        *self.leaders, self.follower = agents
        self.agents = agents
        self.deadlines = deadlines
        self.budget = budget
        self.last = max(deadlines)
        self.tables = tables
        self.failed: dict[tuple[int, States], int] = {}

    def plan(self) -> Trail | None:
        """Returns a plan in which every agent is in time, or None if there is none.

        Raises:
            OutOfBudget: the budget is spent.
        """
        trail = [(tuple(leader.start for leader in self.leaders), 1 << self.follower.start)]
        return self._way_back(trail) if self._descend(trail) else None

    def _descend(self, trail: list[tuple[States, int]]) -> bool:
        """Extends a trail of (states of the leaders, possible states of the follower) until all have arrived."""
        time = len(trail) - 1
        if time == self.last:
            return True
        states, mask = trail[-1]
        failed = self.failed.get((time, states), 0)
        mask &= ~failed
        if not mask:
            return False
        for following in self._following(time + 1, states, mask):
            self.budget.spend()
            trail.append(following)
            if self._descend(trail):
                return True
            trail.pop()
        self.failed[time, states] = failed | mask
        return False

    def _following(self, time: int, states: States, mask: int) -> Iterator[tuple[States, int]]:
        reach = [agent.reach(state) for agent, state in zip(self.leaders, states, strict=True)]
        reach.append(self.follower.after(mask))
        for number, agent in enumerate(self.agents):
            reach[number] &= agent.domain(self.deadlines[number], time)
        yield from self._choose(time, states, mask, reach, ())

    def _choose(
        self, time: int, states: States, mask: int, reach: list[int], chosen: States
    ) -> Iterator[tuple[States, int]]:
        number = len(chosen)
        if number == len(states):
            yield chosen, reach[number]
            return
        for target in self.agents[number].steps(states[number]):
            if reach[number] >> target & 1:
                rest = self._narrowed(time, states, mask, reach, target, number)
                if rest:
                    yield from self._choose(time, states, mask, rest, (*chosen, target))

    def _narrowed(
        self, time: int, states: States, mask: int, reach: list[int], target: int, number: int
    ) -> list[int] | None:
        """Returns what remains to the later agents when this one moves to the target, or None if one has no choice."""
        leader = self.leaders[number]
        cell, entered = leader.position[states[number]], leader.position[target]
        rest = reach[:]
        for other in range(number + 1, len(reach)):
            allowed = reach[other]
            table = self.tables[number, other]
            if time < len(table):
                allowed &= table[time].get(target, 0)
            if entered != cell and allowed >> cell & 1:  # nobody may come here from where this one goes
                sources = mask if other == len(states) else 1 << states[other]
                if sources >> entered & 1 and not self.agents[other].before(1 << cell) & sources & ~(1 << entered):
                    allowed ^= 1 << cell
            if not allowed:
                return None
            rest[other] = allowed
        return rest

    def _way_back(self, trail: list[tuple[States, int]]) -> Trail:
        """Returns the cells of a trail, the follower's chosen from the end."""
        follower = self.follower
        state = trail[-1][1].bit_length() - 1
        cells = [(*self._cells(trail[-1][0]), follower.position[state])]
        for states, mask in reversed(trail[:-1]):
            sources = follower.before(1 << state) & mask
            before = self._cells(states)
            if state in before:  # who leaves this cell may not pass the follower
                sources &= ~(1 << cells[-1][before.index(state)])
            state = sources.bit_length() - 1
            cells.append((*before, follower.position[state]))
        return Trail(cells[::-1])

    def _cells(self, states: States) -> States:
        return tuple(leader.position[state] for leader, state in zip(self.leaders, states, strict=True))
