"""Boards of every size of the testbed, with 1 to 5 agents, some of which may start on their own goal."""

from hypothesis import strategies as st

from envwright.testbeds.mapf_frozenlake.instance import Instance
from envwright.testbeds.mapf_frozenlake.interchange.foreign_board import legal_instance


@st.composite
def legal_boards(draw: st.DrawFn) -> Instance:
    size, agents = draw(st.integers(3, 10)), draw(st.integers(1, 5))
    cells = draw(st.permutations([(row, column) for row in range(size) for column in range(size)]))
    holes = draw(st.integers(0, len(cells) // 2 - 1))
    free = cells[holes:]
    goals = draw(st.permutations(free))
    return Instance(size, tuple(cells[:holes]), tuple(free[:agents]), tuple(goals[:agents]))


def instances(found) -> list[Instance]:
    return [legal_instance(board) for board in found]
