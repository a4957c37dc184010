"""Boards from a configuration: exact ratios, exact labels, and the same boards for the same seed everywhere."""

import random
from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from functools import partial
from multiprocessing import get_context
from typing import NamedTuple

from envwright.errors import GenerationError
from envwright.seeds import derive_seed
from envwright.testbeds.mapf_frozenlake.instance import Instance, Objective, SolvedInstance
from envwright.testbeds.mapf_frozenlake.knobs import MapfConfiguration
from envwright.testbeds.mapf_frozenlake.proposals import Grid, contested_board, plain_board
from envwright.testbeds.mapf_frozenlake.solver import Status, analyse

PLAIN_SHARE = 0.25
"""Share of the boards, with and without a needed wait, that come from plain rejection, for variety."""

TRIES_PER_PROPOSAL = 24
"""After so many rejected candidates a draw changes to the other kind of proposal, and back."""

MAX_TRIES = 4_000
"""Proposals for one board before its stratum is declared impossible."""

MAX_ATTEMPTS = 200
"""Boards drawn in a row that were all there already before a stratum is declared exhausted."""

ATTEMPTS_BEFORE_REPEAT = 8

OnBoard = Callable[[int, int], None]


@dataclass(frozen=True)
class Stratum:
    """What is asked of one board; boards of one stratum differ by chance alone."""

    size: int
    holes: int
    agents: int
    needs_wait: bool

    @classmethod
    def of(cls, size: int, hole_ratio: float, agents: int, needs_wait: bool) -> "Stratum":
        """Returns the stratum with round(hole_ratio * size * size) holes, fewer where the agents would not fit.

        Raises:
            GenerationError: even without holes the board is too small for the agents and one cell to move.
        """
        room = size * size - agents - 1
        if room < 0:
            raise GenerationError(
                f"{agents} agents need {agents + 1} free cells, a {size}x{size} board has {size * size}; "
                "lower the number of agents or drop this size"
            )
        return cls(size, min(round(hole_ratio * size * size), room), agents, needs_wait)

    def __str__(self) -> str:
        wait = "a wait needed" if self.needs_wait else "no wait needed"
        return f"size {self.size}, {self.holes} holes, {self.agents} agents, {wait}"


def generate(
    configuration: MapfConfiguration,
    count: int,
    seed: int,
    *,
    agents: int | Sequence[int] = 2,
    objective: Objective = Objective.SUM_OF_COSTS,
    exclude: Collection[str] = (),
    allow_repeats: bool = False,
    workers: int = 1,
) -> list[SolvedInstance]:
    """Returns `count` boards in mixed order: a pure function of the arguments, whatever the number of workers.

    Args:
        configuration: knobs per size; the sources are the sizes.
        count: number of boards, shared out by largest remainder of the data ratios.
        seed: any integer; it is hashed.
        agents: agents per board, or several numbers that take turns.
        objective: whose optimal plans decide whether a board needs a wait.
        exclude: instance ids that must not appear.
        allow_repeats: where the distinct boards run out, repeat some (never an excluded one).
        workers: processes that draw boards.

    Raises:
        GenerationError: a stratum cannot be filled; the message names it and the rate seen.
    """
    turns = (agents,) if isinstance(agents, int) else tuple(agents)
    strata = _strata(configuration, count, turns)
    boards = draw_boards(
        strata, seed, objective=objective, exclude=exclude, allow_repeats=allow_repeats, workers=workers
    )
    random.Random(derive_seed("mapf order", seed)).shuffle(boards)
    return boards


def _strata(configuration: MapfConfiguration, count: int, agents: tuple[int, ...]) -> list[Stratum]:
    sources = configuration.sources
    counts = apportion([knobs.data_ratio for knobs in sources.values()], count)
    strata: list[Stratum] = []
    for (source, knobs), share in zip(sources.items(), counts, strict=True):
        waits = round(knobs.wait_ratio * share)
        strata += [
            Stratum.of(int(source), knobs.hole_ratio, agents[index % len(agents)], index < waits)
            for index in range(share)
        ]
    return strata


def apportion(shares: Sequence[float], count: int) -> list[int]:
    """Returns whole numbers that add up to `count`, in proportion to the shares, by largest remainder."""
    quotas = [share / sum(shares) * count for share in shares]
    counts = [int(quota) for quota in quotas]
    by_remainder = sorted(range(len(shares)), key=lambda index: counts[index] - quotas[index])
    for index in by_remainder[: count - sum(counts)]:
        counts[index] += 1
    return counts


def draw_boards(
    strata: Sequence[Stratum],
    seed: int,
    *,
    objective: Objective = Objective.SUM_OF_COSTS,
    exclude: Collection[str] = (),
    allow_repeats: bool = False,
    workers: int = 1,
    on_board: OnBoard = lambda done, undecided: None,
) -> list[SolvedInstance]:
    """Returns one board per stratum, in order.

    Args:
        strata: what is asked of each board; the k-th board of a stratum depends on the stratum, k and the seed
            alone, except where it gives way to an equal or excluded one.
        seed: any integer; it is hashed.
        objective: whose optimal plans decide whether a board needs a wait.
        exclude: instance ids that must not appear.
        allow_repeats: where the distinct boards run out, repeat some (never an excluded one).
        workers: processes that draw boards; the boards are the same for any number.
        on_board: called after each board with the number of boards done and of candidates left undecided so far.

    Raises:
        GenerationError: a stratum cannot be filled; the message names it and the rate seen.
    """
    seen: Counter[Stratum] = Counter()
    slots = [_Slot(stratum, _next(seen, stratum), seed, objective) for stratum in strata]
    excluded, taken = frozenset(exclude), set[str]()
    boards: list[SolvedInstance] = []
    undecided = 0
    with _mapper(workers) as parallel_map:
        for slot, first in zip(slots, parallel_map(_draw, slots), strict=True):
            drawn = _settle(slot, first, excluded, taken, allow_repeats)
            taken.add(drawn.board.instance.id)
            boards.append(drawn.board)
            undecided += drawn.undecided
            on_board(len(boards), undecided)
    return boards


class _Drawn(NamedTuple):
    """A board that fits its slot, and how many candidates before it the solver left undecided."""

    board: SolvedInstance
    undecided: int


@dataclass(frozen=True)
class _Slot:
    """One board to draw: the `index`-th of its stratum."""

    stratum: Stratum
    index: int
    seed: int
    objective: Objective


def _next(seen: Counter[Stratum], stratum: Stratum) -> int:
    seen[stratum] += 1
    return seen[stratum] - 1


@contextmanager
def _mapper(workers: int) -> Generator[Callable[..., Iterator[_Drawn]]]:
    """Yields an ordered map, over processes if there is more than one worker."""
    if workers == 1:
        yield map
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        yield partial(pool.map, chunksize=16)


def _settle(slot: _Slot, drawn: _Drawn, excluded: frozenset[str], taken: set[str], allow_repeats: bool) -> _Drawn:
    """Returns the board, or the slot's first further one that is neither excluded nor taken."""
    for attempt in range(1, MAX_ATTEMPTS + 1):
        identifier = drawn.board.instance.id
        repeat_allowed = allow_repeats and attempt > ATTEMPTS_BEFORE_REPEAT
        if identifier not in excluded and (repeat_allowed or identifier not in taken):
            return drawn
        drawn = _draw(slot, attempt)
    raise GenerationError(
        f"{slot.stratum}: only {slot.index} distinct boards found, the next {MAX_ATTEMPTS} draws were all repeats "
        "or held out; ask for fewer boards there (data_ratio, wait_ratio), change hole_ratio, or allow repeats"
    )


def _draw(slot: _Slot, attempt: int = 0) -> _Drawn:
    """Returns a board of the slot's stratum; further attempts are independent of the first."""
    stratum = slot.stratum
    rng = random.Random(derive_seed("mapf board", slot.seed, *astuple(stratum), slot.index, attempt))
    first_plain = rng.random() < PLAIN_SHARE
    found: Counter[Status] = Counter()
    for tries in range(MAX_TRIES):
        changed = tries // TRIES_PER_PROPOSAL % 2 == 1
        instance = _propose(stratum, first_plain != changed, slot.objective, rng)
        if instance is None:
            continue
        analysis = analyse(instance)
        found[analysis.status] += 1
        if analysis.truth and analysis.truth.needs_wait(slot.objective) == stratum.needs_wait:
            return _Drawn(SolvedInstance(instance, analysis.truth), found[Status.UNDECIDED])
    raise GenerationError(
        f"{stratum} ({slot.objective}): none of {MAX_TRIES} proposals fits; {found.total()} were boards, "
        f"{found[Status.SOLVED]} of them solvable, {found[Status.UNDECIDED]} undecided, 0 of the wanted kind; "
        "change wait_ratio, hole_ratio or the number of agents for this size"
    )


def _propose(stratum: Stratum, plain: bool, objective: Objective, rng: random.Random) -> Instance | None:
    grid = Grid.draw(stratum.size, stratum.holes, rng)
    if plain or stratum.agents < 2:
        return plain_board(grid, stratum.agents, rng, crossing=stratum.needs_wait)
    delay = 0 if stratum.needs_wait else rng.choice((1, 2))
    return contested_board(grid, stratum.agents, rng, delay=delay, equal_length=objective is Objective.MAKESPAN)
