"""Verifying: answers a second from their text to the judgement, on one core."""

import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

from rich.console import Console
from rich.progress import track

from benchmarks.boards import cell_boards
from benchmarks.table import Result, Value
from envwright.testbeds.mapf_frozenlake.answer import Plan, format_actions, format_cells, read_answer
from envwright.testbeds.mapf_frozenlake.instance import Instance, Objective, Paths
from envwright.testbeds.mapf_frozenlake.solver import solve
from envwright.testbeds.mapf_frozenlake.verifier import judge

ROUNDS = 10
"""How often all plans are judged."""

SIZE, HOLE_RATIO, AGENTS = 10, 0.3, 5


def verifying(boards: int, console: Console) -> list[Result]:
    """Returns one table: ours with and without parsing, and pymapf's search for conflicts if it is installed."""
    solved = _solved(boards, console)
    cells = [(board, format_cells(paths)) for board, paths in solved]
    actions = [(board, format_actions(paths)) for board, paths in solved]
    rows = [
        _row("envwright, text with cells", _judge_text, cells),
        _row("envwright, text with actions", _judge_text, actions),
        _row("envwright, plan without text", _judge_plan, solved),
    ]
    notes = ["w9-pathfinding has no validation of joint plans; neither peer reads text"]
    if find_spec("pymapf"):
        rows.append(_row("pymapf is_valid, plan without text", _is_valid, _for_pymapf(solved)))
        notes.append("pymapf's check looks for conflicts alone: no holes, moves, borders, starts or goals")
    reference = rows[2]["plans/s"]
    rows = [row | {"plans/s / ours without text": row["plans/s"] / reference} for row in rows]
    return [Result(f"verifying, {AGENTS} agents on {SIZE}x{SIZE}, one core", rows, notes)]


def _solved(count: int, console: Console) -> list[tuple[Instance, Paths]]:
    source = cell_boards(SIZE, HOLE_RATIO, AGENTS)
    solved: list[tuple[Instance, Paths]] = []
    for _ in track(range(count), "plans to verify", console=console):
        paths = None
        while paths is None:
            board = next(source)
            paths = solve(board, Objective.MAKESPAN).paths
        solved.append((board, paths))
    return solved


def _row(name: str, check: Callable[..., bool], plans: Sequence[tuple[Any, ...]]) -> dict[str, Value]:
    """Returns the row of one check; a plan that does not pass would make the number meaningless."""
    if not all(check(*plan) for plan in plans):  # also the warm-up
        raise AssertionError(f"{name}: a solver's plan was rejected")
    begin = time.perf_counter()
    for _ in range(ROUNDS):
        for plan in plans:
            check(*plan)
    seconds = time.perf_counter() - begin
    count = ROUNDS * len(plans)
    return {"check": name, "plans": count, "s": seconds, "plans/s": count / seconds}


def _judge_text(board: Instance, text: str) -> bool:
    plan = read_answer(text, board.agents)
    return isinstance(plan, Plan) and judge(board, plan).valid


def _judge_plan(board: Instance, paths: Paths) -> bool:
    return judge(board, Plan("cells", paths)).valid


def _for_pymapf(solved: Sequence[tuple[Instance, Paths]]) -> list[tuple[Any]]:
    import pymapf

    return [(pymapf.Solution({str(agent): list(path) for agent, path in enumerate(paths)}),) for _, paths in solved]


def _is_valid(solution: Any) -> bool:
    return solution.is_valid()
