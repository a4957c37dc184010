import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envwright.configuration import Configuration
from envwright.errors import GenerationError
from envwright.testbeds.mapf_frozenlake import generator
from envwright.testbeds.mapf_frozenlake.generator import Stratum, apportion, draw_boards, generate
from envwright.testbeds.mapf_frozenlake.instance import Objective, SolvedInstance
from envwright.testbeds.mapf_frozenlake.knobs import SIZES, MapfConfiguration, MapfKnobs
from envwright.testbeds.mapf_frozenlake.solver import Status, analyse

BUDGET = 1_000_000


def configuration(*rows: tuple[int, float, float, float]) -> MapfConfiguration:
    """Rows of (size, share, hole ratio, wait ratio); the shares are normalised."""
    total = sum(row[1] for row in rows)
    return Configuration[MapfKnobs](
        sources={
            str(size): MapfKnobs(data_ratio=share / total, hole_ratio=holes, wait_ratio=wait)
            for size, share, holes, wait in rows
        }
    )


UNIFORM = configuration(*((size, 1.0, 0.3, 0.5) for size in SIZES))


def ids(boards: list[SolvedInstance]) -> list[str]:
    return [board.instance.id for board in boards]


def mean_length(boards: list[SolvedInstance]) -> float:
    """Mean distance from start to goal as the crow walks: what a reader could tell the label from."""
    pairs = [pair for b in boards for pair in zip(b.instance.starts, b.instance.goals, strict=True)]
    return sum(abs(s[0] - g[0]) + abs(s[1] - g[1]) for s, g in pairs) / len(pairs)


@given(shares=st.lists(st.floats(0.0, 1.0), min_size=1, max_size=8).filter(any), count=st.integers(0, 500))
def test_apportion__adds_up_and_stays_within_one_of_the_quota(shares: list[float], count: int):
    counts = apportion(shares, count)
    assert sum(counts) == count
    assert all(abs(got - share / sum(shares) * count) < 1 for got, share in zip(counts, shares, strict=True))


def test_apportion__gives_the_rest_to_the_largest_remainders():
    assert apportion([0.5, 0.3, 0.2], 7) == [4, 2, 1]


ROWS = st.lists(
    st.tuples(st.sampled_from((4, 5, 6, 8)), st.floats(0.1, 1.0), st.floats(0.1, 0.5), st.floats(0.0, 1.0)),
    min_size=1,
    max_size=3,
    unique_by=lambda row: row[0],
)


@settings(max_examples=200, deadline=None)
@given(rows=ROWS, count=st.integers(1, 24), seed=st.integers(), objective=st.sampled_from(Objective))
def test_generate__meets_every_ratio_exactly(
    rows: list[tuple[int, float, float, float]], count: int, seed: int, objective: Objective
):
    legal = configuration(*rows)
    boards = generate(legal, count, seed, objective=objective)
    counts = dict(zip(legal.sources, apportion([k.data_ratio for k in legal.sources.values()], count), strict=True))
    assert len(set(ids(boards))) == count
    for source, knobs in legal.sources.items():
        mine = [board for board in boards if board.instance.size == int(source)]
        assert len(mine) == counts[source]
        assert sum(board.truth.needs_wait(objective) for board in mine) == round(knobs.wait_ratio * len(mine))
        assert {len(board.instance.holes) for board in mine} <= {round(knobs.hole_ratio * int(source) ** 2)}


def test_generate__labels_each_board_as_the_solver_does():
    for board in generate(UNIFORM, 32, 0, agents=(2, 3)):
        analysis = analyse(board.instance, BUDGET)
        assert (analysis.status, analysis.truth) == (Status.SOLVED, board.truth)


def test_generate__same_seed_same_boards_and_neighbouring_seeds_share_none():
    first, again, other = (ids(generate(UNIFORM, 48, seed)) for seed in (0, 0, 1))
    assert first == again
    assert not set(first) & set(other)


def test_generate__with_two_workers_gives_the_same_bytes():
    small = configuration((3, 1.0, 0.1, 0.5), (5, 1.0, 0.3, 0.5))
    lines = [[board.to_json() for board in generate(small, 40, 5, workers=workers)] for workers in (1, 2)]
    assert lines[0] == lines[1]


def test_generate__keeps_a_size_when_another_size_changes():
    before = generate(configuration((4, 0.5, 0.3, 0.5), (6, 0.5, 0.3, 0.5)), 20, 0)
    after = generate(configuration((4, 0.5, 0.3, 0.5), (6, 0.5, 0.1, 1.0)), 20, 0)
    fours = [
        {i for b, i in zip(boards, ids(boards), strict=True) if b.instance.size == 4} for boards in (before, after)
    ]
    assert fours[0] == fours[1]


def test_generate__mixes_sizes_and_labels():
    boards = generate(UNIFORM, 80, 0)
    assert len({board.instance.size for board in boards[:20]}) >= 5
    assert {board.truth.needs_wait_sum_of_costs for board in boards[:20]} == {True, False}


def test_generate__gives_no_excluded_board():
    tiny = configuration((3, 1.0, 0.1, 0.5))
    held_out = ids(generate(tiny, 100, 0))
    assert not set(held_out) & set(ids(generate(tiny, 100, 0, exclude=held_out)))


def test_generate__takes_turns_with_several_agent_counts():
    boards = generate(configuration((5, 1.0, 0.2, 0.5)), 30, 0, agents=(2, 3, 4))
    assert Counter(board.instance.agents for board in boards) == {2: 10, 3: 10, 4: 10}


@pytest.mark.parametrize("objective", Objective)
def test_generate__path_length_does_not_tell_the_label(objective: Objective):
    boards = generate(configuration((8, 1.0, 0.1, 0.5)), 240, 0, objective=objective)
    by_label = [[board for board in boards if board.truth.needs_wait(objective) is label] for label in (True, False)]
    assert abs(mean_length(by_label[0]) - mean_length(by_label[1])) < 0.9


EXHAUSTED = configuration((3, 1.0, 0.0, 1.0))


def test_generate__when_distinct_boards_run_out_names_the_stratum():
    with pytest.raises(GenerationError, match=r"size 3, 0 holes, 2 agents, a wait needed: only \d+ distinct boards"):
        generate(EXHAUSTED, 500, 0)


def test_generate__with_repeats_allowed_still_honours_the_exclusion():
    held_out = ids(generate(EXHAUSTED, 10, 0))
    boards = ids(generate(EXHAUSTED, 150, 1, exclude=held_out, allow_repeats=True))
    assert len(boards) == 150 > len(set(boards))
    assert not set(boards) & set(held_out)


def test_draw_boards__when_no_proposal_fits_tells_the_rate_seen(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(generator, "MAX_TRIES", 50)
    monkeypatch.setattr(generator, "plain_board", lambda *_args, **_named: None)
    monkeypatch.setattr(generator, "contested_board", lambda *_args, **_named: None)
    with pytest.raises(
        GenerationError, match=r"size 4, 5 holes, 2 agents, no wait needed.*none of 50 proposals fits; 0"
    ):
        draw_boards([Stratum(4, 5, 2, False)], 0)


def test_stratum__leaves_one_cell_more_than_agents_free():
    assert Stratum.of(3, 0.5, 5, True).holes == 3
    assert Stratum.of(3, 0.5, 4, True).holes == 4


def test_stratum__that_cannot_hold_the_agents_states_the_cells_needed():
    with pytest.raises(GenerationError, match="9 agents need 10 free cells, a 3x3 board has 9"):
        Stratum.of(3, 0.0, 9, False)


def test_generate__leaves_the_global_generator_alone():
    state = random.getstate()
    generate(UNIFORM, 8, 0)
    assert random.getstate() == state
