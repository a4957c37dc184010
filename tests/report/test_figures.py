import xml.etree.ElementTree as ET

import pytest

from envwright.report.figures import PALETTE, Series, line_chart, scale_of, stacked_bars

TICKS = ["base", "round 0", "round 1"]
LINE = Series("valid", [0.1, 0.2, 0.3], [(0.05, 0.2), (0.1, 0.3), (0.2, 0.39)])


def drawing(figure: str) -> ET.Element:
    found = ET.fromstring(figure).find("svg")
    assert found is not None
    return found


def places(svg: ET.Element, tag: str, *names: str) -> list[float]:
    return [float(node.attrib[name]) for node in svg.iter(tag) for name in names if name in node.attrib]


@pytest.mark.parametrize(("values", "scale"), [([], 0.05), ([0.03], 0.05), ([0.4], 0.4), ([0.41], 0.6), ([1.0], 1.0)])
def test_scale_of__is_the_next_round_number(values: list[float], scale: float) -> None:
    assert scale_of([Series("x", values)]) == scale


def test_scale_of__leaves_room_for_intervals() -> None:
    assert scale_of([Series("x", [0.1], [(0.0, 0.7)])]) == 0.8


def test_line_chart__draws_each_point_and_interval_inside_the_picture() -> None:
    svg = drawing(line_chart("rates", TICKS, [LINE, Series("optimal", [0.0, 0.1, 0.2])], width=300, height=200))
    heights = places(svg, "circle", "cy")
    assert len(heights) == 6
    assert heights[:3] == sorted(heights[:3], reverse=True)
    assert all(0 <= y <= 200 for y in (*heights, *places(svg, "line", "y1", "y2"), *places(svg, "text", "y")))
    assert all(0 <= x <= 300 for x in places(svg, "circle", "cx"))


def test_line_chart__puts_the_same_value_at_the_same_height_on_a_shared_scale() -> None:
    low, high = Series("low", [0.1]), Series("high", [0.1, 0.9])
    first, second = (drawing(line_chart("", TICKS, [one], scale=scale_of([low, high]))) for one in (low, high))
    assert places(first, "circle", "cy")[0] == places(second, "circle", "cy")[0]


def test_line_chart__without_points_is_an_empty_frame() -> None:
    assert list(drawing(line_chart("none", [], [Series("x", [])])).iter("circle")) == []


def test_stacked_bars__are_as_high_as_their_counts() -> None:
    svg = drawing(stacked_bars("failures", TICKS[:2], [{"hole": 30, "parse": 10}, {"parse": 20}]))
    bars = {
        (node.attrib["fill"], tip): float(node.attrib["height"])
        for node in svg.iter("rect")
        if (tip := node.findtext("title"))
    }
    assert bars[PALETTE[0], "hole: 30"] == pytest.approx(3 * bars[PALETTE[1], "parse: 10"], abs=0.2)
    assert bars[PALETTE[1], "parse: 20"] == pytest.approx(2 * bars[PALETTE[1], "parse: 10"], abs=0.2)


def test_stacked_bars__of_no_failures_divide_by_nothing() -> None:
    assert "<svg" in stacked_bars("failures", TICKS, [{}, {}, {}])


def test_charts__escape_every_label() -> None:
    hostile = '"><script>&'
    for figure in (
        line_chart(hostile, [hostile], [Series(hostile, [0.5]), Series("b", [0.1])]),
        stacked_bars(hostile, [hostile], [{hostile: 1}]),
    ):
        assert "<script>" not in figure
        drawing(figure)
