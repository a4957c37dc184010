"""Charts as inline SVG: no script, no network, readable in light and dark, colours safe for the colour-blind."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

PALETTE = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#F0E442", "#999999")
"""Okabe and Ito's colours."""

LEFT, RIGHT, TOP, BOTTOM = 44, 12, 26, 26


@dataclass(frozen=True)
class Series:
    """One line of a chart; `intervals` are (low, high) per point, or empty."""

    label: str
    values: Sequence[float]
    intervals: Sequence[tuple[float, float]] = ()


def scale_of(series: Sequence[Series]) -> float:
    """Returns a round number that no value and no interval exceeds; charts to be compared share one."""
    top = max([value for one in series for value in (*one.values, *(high for _, high in one.intervals))], default=0)
    return next((edge for edge in (0.05, 0.1, 0.2, 0.4, 0.6, 0.8) if top <= edge), 1.0)


def line_chart(
    title: str,
    ticks: Sequence[str],
    series: Sequence[Series],
    width: int = 460,
    height: int = 240,
    scale: float | None = None,
) -> str:
    """Returns lines over the ticks, with interval bars, on an axis from 0 to `scale` (`scale_of` the series)."""
    scale = scale or scale_of(series)
    plot_width, plot_height = width - LEFT - RIGHT, height - TOP - BOTTOM
    step = plot_width / max(1, len(ticks))

    def x(index: int, shift: float = 0.0) -> float:
        return LEFT + step * (index + 0.5) + shift

    def y(value: float) -> float:
        return TOP + plot_height * (1 - value / scale)

    parts = [_grid(scale, y, width), *(_text(x(i), height - 8, tick, "middle") for i, tick in enumerate(ticks))]
    for number, one in enumerate(series):
        colour, shift = PALETTE[number], 5.0 * (number - (len(series) - 1) / 2)
        points = " ".join(f"{x(i, shift):.1f},{y(value):.1f}" for i, value in enumerate(one.values))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for i, value in enumerate(one.values):
            tip = f"<title>{escape(one.label)}, {escape(ticks[i])}: {100 * value:.1f}%</title>"
            parts.append(f'<circle cx="{x(i, shift):.1f}" cy="{y(value):.1f}" r="3.5" fill="{colour}">{tip}</circle>')
        for i, (low, high) in enumerate(one.intervals):
            parts.append(
                f'<line x1="{x(i, shift):.1f}" x2="{x(i, shift):.1f}" y1="{y(low):.1f}" y2="{y(high):.1f}" '
                f'stroke="{colour}" stroke-width="1.5"/>'
            )
    legend = _legend([one.label for one in series], width) if len(series) > 1 else ""
    return _svg(title, "".join(parts) + legend, width, height)


def stacked_bars(
    title: str, ticks: Sequence[str], parts_of: Sequence[Mapping[str, int]], width: int = 460, height: int = 240
) -> str:
    """Returns one bar per tick, cut into labelled counts."""
    labels = list(dict.fromkeys(label for parts in parts_of for label in parts))
    scale = 1.15 * max([sum(parts.values()) for parts in parts_of], default=0) or 1  # room for the count above a bar
    plot_height = height - TOP - BOTTOM
    step = (width - LEFT - RIGHT) / max(1, len(ticks))
    drawn: list[str] = []
    for index, parts in enumerate(parts_of):
        bottom = float(TOP + plot_height)
        left = LEFT + step * (index + 0.25)
        for number, label in enumerate(labels):
            size = plot_height * parts.get(label, 0) / scale
            bottom -= size
            tip = f"<title>{escape(label)}: {parts.get(label, 0)}</title>"
            drawn.append(
                f'<rect x="{left:.1f}" y="{bottom:.1f}" width="{step / 2:.1f}" height="{size:.1f}" '
                f'fill="{PALETTE[number % len(PALETTE)]}">{tip}</rect>'
            )
        drawn.append(_text(left + step / 4, bottom - 4, str(sum(parts.values())), "middle"))
        drawn.append(_text(left + step / 4, height - 8, ticks[index], "middle"))
    return _svg(title, "".join(drawn) + _legend(labels, width), width, height)


def _grid(scale: float, y: Callable[[float], float], width: int) -> str:
    lines: list[str] = []
    for quarter in range(5):
        value = scale * quarter / 4
        height = y(value)
        lines.append(f'<line x1="{LEFT}" x2="{width - RIGHT}" y1="{height:.1f}" y2="{height:.1f}" class="grid"/>')
        lines.append(_text(LEFT - 6, height + 4, f"{100 * value:g}%", "end"))
    return "".join(lines)


def _legend(labels: Sequence[str], width: int) -> str:
    parts: list[str] = []
    place = float(LEFT)
    for number, label in enumerate(labels):
        colour = PALETTE[number % len(PALETTE)]
        parts.append(f'<rect x="{place:.0f}" y="6" width="10" height="10" fill="{colour}"/>')
        parts.append(_text(place + 14, 15, label, "start"))
        place += 26 + 6.6 * len(label)
    return "".join(parts)


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _svg(title: str, content: str, width: int, height: int) -> str:
    return (
        f'<figure><figcaption>{escape(title)}</figcaption><svg viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{escape(title)}">{content}</svg></figure>'
    )
