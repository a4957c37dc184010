"""Solving: time to a proved optimum, ours against the peers' on the same boards."""

from collections.abc import Iterator, Sequence
from itertools import islice

from rich.console import Console
from rich.progress import track

from benchmarks.boards import cell_boards, mixed_boards
from benchmarks.solvers import WORK_PER_SECOND, Run, Solver, our_cbs, ours, run
from benchmarks.table import Result, Value, percent, percentile
from envwright.testbeds.mapf_frozenlake.answer import Plan
from envwright.testbeds.mapf_frozenlake.instance import Instance, Objective
from envwright.testbeds.mapf_frozenlake.solver import Status
from envwright.testbeds.mapf_frozenlake.verifier import judge

PEERS_SHARE_OF_HARDEST = 0.5
"""The peers get this part of the hardest boards: many of them take a peer the whole limit."""


def solving(boards: int, limit: float, peers: Sequence[Solver], console: Console) -> list[Result]:
    """Returns a table for mixed boards and one for the hardest cell of the benchmark."""
    hardest = max(1, round(PEERS_SHARE_OF_HARDEST * boards))
    return [
        _compared("solving, mixed boards", mixed_boards(), boards, boards, limit, peers, console),
        _compared(
            "solving, 5 agents on 10x10 with 50 holes", cell_boards(10, 0.5, 5), boards, hardest, limit, peers, console
        ),
    ]


def _compared(
    title: str,
    source: Iterator[Instance],
    count: int,
    for_peers: int,
    limit: float,
    peers: Sequence[Solver],
    console: Console,
) -> Result:
    makespan, costs = ours(Objective.MAKESPAN), ours(Objective.SUM_OF_COSTS)
    boards, proofs = _without_unsolvable(source, count, makespan, limit)
    own = [makespan, costs, our_cbs()]
    solvers = [*own, *peers]
    for solver in solvers:  # first calls load and compile
        run(solver, boards[0], limit)
    runs: dict[str, list[Run]] = {solver.name: [] for solver in solvers}
    faults: list[str] = []
    for index, board in enumerate(track(boards, title, console=console)):
        # All solvers on one board in turn: a load on the machine that comes and goes meets all of them.
        for solver in solvers if index < for_peers else own:
            runs[solver.name].append(run(solver, board, limit))
        faults += _disagreements(board, {s: runs[s.name][index] for s in solvers if index < len(runs[s.name])})
    rows = [_row(solver, runs[solver.name], runs[costs.name]) for solver in solvers]
    return Result(f"{title}, limit {limit:g} s", rows, [*_notes(limit, for_peers, count, peers, proofs), *faults])


def _without_unsolvable(
    source: Iterator[Instance], count: int, solver: Solver, limit: float
) -> tuple[list[Instance], list[Run]]:
    """Returns `count` boards that are not proved unsolvable, and the proofs for those met on the way."""
    boards: list[Instance] = []
    proofs: list[Run] = []
    while len(boards) < count:
        board = next(source)
        outcome = run(solver, board, limit)
        if outcome.status is Status.UNSOLVABLE:
            proofs.append(outcome)
        else:
            boards.append(board)
    return boards, proofs


def _disagreements(board: Instance, runs: dict[Solver, Run]) -> list[str]:
    """Returns a sentence for each plan that our verifier rejects or that costs more than another's."""
    faults: list[str] = []
    costs: dict[Solver, int] = {}
    for solver, outcome in runs.items():
        if outcome.paths is None:
            continue
        judgement = judge(board, Plan("cells", outcome.paths))
        if judgement.sum_of_costs is None or judgement.makespan is None:
            fault = judgement.faults[0]
            faults.append(f"DISAGREEMENT on {board.id}: {solver.name}: {fault.kind} at time {fault.time}")
        else:
            by_costs = solver.objective is Objective.SUM_OF_COSTS
            costs[solver] = judgement.sum_of_costs if by_costs else judgement.makespan
    sums = {solver.name: cost for solver, cost in costs.items() if solver.objective is Objective.SUM_OF_COSTS}
    if len(set(sums.values())) > 1:
        faults.append(f"DISAGREEMENT on {board.id}: sums of costs {sums}")
    return faults


def _row(solver: Solver, runs: Sequence[Run], reference: Sequence[Run]) -> dict[str, Value]:
    """Returns a solver's row; the ratios are over the boards that it was given."""
    seconds = [outcome.seconds for outcome in runs]
    expected = [outcome.seconds for outcome in reference[: len(runs)]]
    statuses = [outcome.status for outcome in runs]
    return {
        "solver": solver.name,
        "boards": len(runs),
        "solved %": percent(statuses.count(Status.SOLVED), len(runs)),
        "undecided %": percent(statuses.count(Status.UNDECIDED), len(runs)),
        "p50 ms": percentile(seconds, 50),
        "p90 ms": percentile(seconds, 90),
        "p99 ms": percentile(seconds, 99),
        "max ms": max(seconds) * 1000,
        "total s": sum(seconds),
        "total / ours": sum(seconds) / sum(expected),
        "p50 / ours": percentile(seconds, 50) / percentile(expected, 50),
    }


def _notes(limit: float, for_peers: int, count: int, peers: Sequence[Solver], proofs: Sequence[Run]) -> Iterator[str]:
    yield f"ratios: time of the row / time of envwright {Objective.SUM_OF_COSTS}, both on the boards of the row"
    yield "an undecided board counts with the time spent on it, so a total with undecided boards is a lower bound"
    yield f"our budget for the limit: {int(limit * WORK_PER_SECOND):,} joint states; an answer after it is undecided"
    if peers and for_peers < count:
        yield f"the peers got the first {for_peers} of the {count} boards: many take them the whole limit"
    if proofs:
        seconds = [proof.seconds for proof in proofs]
        p50, worst = percentile(seconds, 50), 1000 * max(seconds)
        yield (
            f"{len(proofs)} unsolvable boards were drawn besides: envwright proved it in p50 {p50:.3g}, "
            f"max {worst:.3g} ms; the peers cannot prove it and were not asked"
        )


def growth(boards: int, limit: float, console: Console) -> list[Result]:
    """Returns the time by size, agents and holes: until the optimum is proved, or that there is no plan."""
    each = max(2, boards // 20)
    results: list[Result] = []
    for objective in (Objective.SUM_OF_COSTS, Objective.MAKESPAN):
        result = Result(f"growth, {objective}: ms p50 / p99 of {each} boards by holes")
        kinds = [(size, agents) for size in (4, 6, 8, 10) for agents in (2, 3, 4, 5)]
        for size, agents in track(kinds, f"growth, {objective}", console=console):
            result.rows.append(_growth_row(size, agents, each, limit, ours(objective)))
        result.notes.append("boards as drawn, unsolvable ones included; undecided ones at the time spent")
        results.append(result)
    return results


def _growth_row(size: int, agents: int, each: int, limit: float, solver: Solver) -> dict[str, Value]:
    row: dict[str, Value] = {"size": size, "agents": agents}
    undecided = 0
    for ratio in (0.1, 0.3, 0.5):
        runs = [run(solver, board, limit) for board in islice(cell_boards(size, ratio, agents), each)]
        seconds = [outcome.seconds for outcome in runs]
        row[f"{ratio:.0%} p50"] = percentile(seconds, 50)
        row[f"{ratio:.0%} p99"] = percentile(seconds, 99)
        undecided += sum(outcome.status is Status.UNDECIDED for outcome in runs)
    return row | {"undecided": undecided}
