import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest
from fake_run import HOSTILE, write_fake_run

from envwright.errors import DataFileError, RunDirectoryError
from envwright.report import write_report
from envwright.report.page import render_page
from envwright.report.run_data import read_run

VOID = {"meta", "rect", "line", "circle", "polyline"}


class Page(HTMLParser):
    """Fails on a tag that is not closed in order; counts the tags and gathers what they point to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.links: list[str | None] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name in ("src", "href")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)


@pytest.fixture
def page(tmp_path: Path) -> str:
    return write_report(write_fake_run(tmp_path / "run").path).read_text(encoding="utf-8")


def test_page__is_one_well_formed_file_that_asks_for_nothing(page: str) -> None:
    parsed = Page(page)
    assert parsed.links == []
    assert not {"script", "link", "img", "iframe"} & set(parsed.tags)
    assert not re.search(r"https?:|url\(|@import", page)


def test_page__shows_what_models_wrote_as_text(page: str) -> None:
    assert "<script" not in page
    # The context and the answer of both redesigns, and the reason and the error that quote it.
    assert unescape(page).count(HOSTILE) == 2 * 4


def test_page__states_the_gain_with_its_interval(page: str) -> None:
    assert "<b>30.0%</b> (base) &rarr; <b>60.0%</b> (round 2)" in page
    assert re.search(r"<b>\+30\.0</b> points, 95% interval \+\d+\.\d to \+\d+\.\d\.", page)


def test_page__has_a_chart_per_size_besides_the_overall_ones(tmp_path: Path) -> None:
    sizes = tuple(range(3, 11))
    text = render_page(read_run(write_fake_run(tmp_path / "run", sizes=sizes)))
    assert Page(text).tags.count("svg") == 3 + len(sizes)
    assert all(f"<figcaption>size {size}</figcaption>" in text for size in sizes)


def test_page__shows_each_correction_and_attempt(page: str) -> None:
    assert page.count("3.hole_ratio: 0.9 &rarr; 0.5 (above its bound)") == 2
    assert page.count("answer 1: unusable: no block") == 2
    assert page.count("answer 2: usable, 60 tokens, 2.5 s") == 2


@pytest.mark.parametrize("stages", [0, 1, 2, 3])
def test_page__of_an_unfinished_run_shows_what_there_is(tmp_path: Path, stages: int) -> None:
    text = render_page(read_run(write_fake_run(tmp_path / "run", stages)))
    assert "This run is not finished" in text
    assert (Page(text).tags.count("svg") > 0) == (stages > 0)


def test_page__of_a_round_without_evidence_and_redesign_is_made(tmp_path: Path) -> None:
    store = write_fake_run(tmp_path / "run", stages=2)
    for name in ("evidence.json", "proposal.json", "done"):
        (store.path / "round_00" / name).unlink()
    assert "round 0" in render_page(read_run(store))


def test_write_report__again_gives_the_same_bytes(tmp_path: Path) -> None:
    store = write_fake_run(tmp_path / "run")
    first, second = (write_report(store.path).read_bytes() for _ in range(2))
    assert first == second


def test_write_report__refuses_what_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(RunDirectoryError, match=r"recipe\.yaml"):
        write_report(tmp_path)


def test_write_report__names_a_damaged_file(tmp_path: Path) -> None:
    store = write_fake_run(tmp_path / "run")
    (store.path / "base" / "rollouts.parquet").write_bytes(b"PAR1")
    with pytest.raises(DataFileError, match=r"base/rollouts\.parquet"):
        write_report(store.path)
