"""What an answer says: the plan in a policy's text, in any of the forms that models write, and back to text.

- Text inside think tags, or before a lone `</think>`, is never an answer.
- Where an answer tag is opened, only closed answer tags are read: an answer that is never closed was cut off. In a
  truncated text nothing but closed tags counts.
- `Agent 0: ...` begins the steps of an agent, and lines of bare steps continue them. Agents in any order make up a
  block; an agent named again begins the next one, and other text outside tags ends it. Inside tags nothing is passed
  over: text that is no step is a fault of its agent. The last block that has every agent and no such fault counts.
- A JSON object {"0": [[r, c], ...]} stands for its agent lines.
- An agent without steps stays where it is if the others give actions; if they give cells, it lacks its start.
- All agents answer in one form; a mixture is not readable.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from envwright.testbeds.mapf_frozenlake.instance import Cell, Paths
from envwright.testbeds.mapf_frozenlake.markup import answer_tags, plain, without_thinking

MOVES: dict[str, Cell] = {"UP": (-1, 0), "DOWN": (1, 0), "LEFT": (0, -1), "RIGHT": (0, 1), "WAIT": (0, 0)}
"""What each action word adds to (row, column)."""

CELLS: dict[str, Cell] = {f"({row},{column})": (row, column) for row in range(32) for column in range(32)}
"""The common cells by the spelling that the prompt asks for; other cells and spellings take the patterns below."""

_LABEL = re.compile(r"\bagent(?=[\s_#0-9-])[\s_#-]*+(\w++)\s*+:", re.IGNORECASE)
_AGENT_NUMBER = re.compile(r"[0-9]{1,3}")
_CELL = re.compile(r"[(\[]\s*+(-?[0-9]{1,9})\s*+,\s*+(-?[0-9]{1,9})\s*+[)\]]")
_SEPARATORS = re.compile(r"[\s,;|>=.!()\[\]-]++")
_WORD = re.compile(r"[^\W\d_]\w*+")
_BULLET = re.compile(r"[\W_]*+[0-9]{0,3}+[\W_]*+")


@dataclass(frozen=True)
class Plan:
    """What an answer says, before judging.

    Attributes:
        form: whether the steps are cells or action words.
        steps: per agent its cells from the start on, or its action words: known ones in upper case, others verbatim.
    """

    form: Literal["cells", "actions"]
    steps: tuple[tuple[Cell | str, ...], ...]


@dataclass(frozen=True)
class Unreadable:
    """Why a text holds no plan for these agents."""

    reason: Literal["parse_error", "wrong_agent_count"]
    detail: str


_Steps = list[Cell | str]
_Block = dict[str, _Steps | None]
"""Agent name -> steps; None where a line of the agent is neither cells nor words."""


def read_answer(text: str, agents: int, truncated: bool = False) -> Plan | Unreadable:
    """Returns the plan that the text gives last; never raises, in time linear in the text.

    Args:
        text: a policy's whole answer, thinking included.
        agents: how many agents the board has.
        truncated: the text was cut off at the token limit.
    """
    spoken = without_thinking(text)
    closed, opened = answer_tags(spoken)
    if not closed and (opened or truncated):
        return Unreadable("parse_error", "the text ends before its answer is closed")
    if plan := _plan_as_asked(closed[-1] if closed else spoken, agents):
        return plan
    blocks = [block for passage in closed or [spoken] for block in _blocks(passage, tagged=bool(closed))]
    if not blocks:
        return Unreadable("parse_error", 'the answer needs a line "Agent 0: ..." for each agent, got none')
    wanted = {str(agent) for agent in range(agents)}
    complete = (block for block in reversed(blocks) if block.keys() == wanted and None not in block.values())
    return _plan(next(complete, blocks[-1]), agents)


def _plan_as_asked(passage: str, agents: int) -> Plan | None:
    """Returns the plan of a passage in exactly the form that the prompt asks for, else None.

    Such a passage is one complete block, so that the tolerant reading below says the same, several times as slowly.
    """
    parts = [line.partition(": ") for line in passage.strip().split("\n")]
    if [label for label, _, _ in parts] != [f"Agent {agent}" for agent in range(agents)]:
        return None
    cell = CELLS.__getitem__
    try:
        return Plan("cells", tuple([tuple(map(cell, steps.split(" -> "))) for _, _, steps in parts]))
    except KeyError:
        return None


def _blocks(passage: str, tagged: bool) -> Iterator[_Block]:
    block: _Block = {}
    name = ""
    for line in _LABEL.sub(r"\n\g<0>", plain(passage)).splitlines():
        if label := _LABEL.match(line):
            name = _agent_name(label[1])
            if name in block:
                yield block
                block = {}
            block[name] = _steps(line[label.end() :], tagged)
        elif block and not _BULLET.fullmatch(line):
            known, more = block[name], _steps(line, tagged)
            if more is None and not tagged:
                yield block
                block = {}
            elif more is None or known is None:
                block[name] = None
            else:
                known += more
    if block:
        yield block


def _agent_name(name: str) -> str:
    return str(int(name)) if _AGENT_NUMBER.fullmatch(name) else name


def _steps(text: str, tagged: bool) -> _Steps | None:
    """Returns the steps of a line, or None if it is neither cells nor words; outside tags prose is neither."""
    cells: _Steps = [(int(row), int(column)) for row, column in _CELL.findall(text)]
    if cells:
        return cells if _SEPARATORS.fullmatch(_CELL.sub(" ", text)) else None
    words: _Steps = [word.upper() if word.upper() in MOVES else word for word in _SEPARATORS.split(text) if word]
    is_prose = not tagged and 2 * sum(word in MOVES for word in words) < len(words)
    return None if is_prose or not all(_WORD.fullmatch(str(word)) for word in words) else words


def _plan(block: _Block, agents: int) -> Plan | Unreadable:
    for name, steps in block.items():
        if steps is None or not _AGENT_NUMBER.fullmatch(name):
            return Unreadable(
                "parse_error", f"agents are numbered and take cells or action words, got agent {name:.20}"
            )
    if block.keys() != {str(agent) for agent in range(agents)}:
        named = ", ".join(list(block)[:10])
        return Unreadable("wrong_agent_count", f"the answer must name the agents 0 to {agents - 1}, got {named}")
    steps = tuple(tuple(block[str(agent)] or ()) for agent in range(agents))
    kinds = {type(step) for path in steps for step in path}
    if len(kinds) > 1:
        return Unreadable("parse_error", "all steps must be cells or all must be action words, got both")
    return Plan("cells" if tuple in kinds else "actions", steps)


def format_cells(paths: Paths) -> str:
    """Returns the answer that gives each path as cells, as the prompt asks for it."""
    return _format([" -> ".join(f"({row},{column})" for row, column in path) for path in paths])


def format_actions(paths: Paths) -> str:
    """Returns the answer that gives each path, whose steps must be moves or waits, as action words."""
    words = {move: word for word, move in MOVES.items()}
    return _format([", ".join(words[c - a, d - b] for (a, b), (c, d) in pairwise(path)) for path in paths])


def _format(steps: list[str]) -> str:
    lines = [f"Agent {agent}: {text}".rstrip() for agent, text in enumerate(steps)]
    return "\n".join(("<answer>", *lines, "</answer>"))
