"""Charts as SVG, drawn by hand: lines over two axes, and horizontal bars of stacked parts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias
from xml.sax.saxutils import escape

WIDTH, HEIGHT, LEFT, TOP = 360, 240, 64, 50
"""Size of the area of one chart, and the margins on its left and above it, in pixels."""

PITCH: Final = WIDTH + LEFT + 46
BAR: Final = 22
LETTER: Final = 6.6
"""Width of a letter of 12 pixels, about, in pixels."""

COLOURS: Final = (
    "#1b6ca8",
    "#c8691c",
    "#7a3b8f",
    "#2f7d4f",
    "#8a6d1d",
    "#a8324a",
    "#5a6472",
    "#2a9d9d",
)


@dataclass(frozen=True, slots=True)
class Line:
    """A line through `points` (x, y); those with NaN are left out. A dashed line is a bound or an
    ideal, and has no marks."""

    name: str
    points: Sequence[tuple[float, float]]
    is_dashed: bool = False
    colour: str | None = None


@dataclass(frozen=True, slots=True)
class LineChart:
    """Lines over axes from 0, or with `is_doubling` over powers of two from the least x."""

    title: str
    x_label: str
    lines: Sequence[Line]
    is_doubling: bool = False

    @property
    def height(self) -> int:
        """Pixels of the area, without margins."""
        return HEIGHT

    def elements(self, left: int, top: int) -> list[str]:
        """The elements of SVG, for an area whose upper left corner is given."""
        known = [
            (line, [(x, y) for x, y in line.points if not math.isnan(y)]) for line in self.lines
        ]
        every = [x for line in self.lines for x, _ in line.points]
        high = round_up(max([1e-3, *(y for _, points in known for _, y in points)]))
        across, ticks = self._scale(every)

        def place(x: float, y: float) -> tuple[float, float]:
            return left + WIDTH * across(x), top + HEIGHT * (1 - y / high)

        drawn = [_text(left, top - 10, self.title)]
        for step in range(5):
            y = top + HEIGHT * (1 - step / 4)
            drawn.append(f'<path d="M{left} {y:.1f}h{WIDTH}" stroke="#ddd"/>')
            drawn.append(_text(left - 6, y + 4, _figure(high * step / 4), "end"))
        for x in ticks:
            drawn.append(_text(left + WIDTH * across(x), top + HEIGHT + 16, _figure(x), "middle"))
        drawn.append(_text(left + WIDTH / 2, top + HEIGHT + 34, self.x_label, "middle"))
        for number, (line, points) in enumerate(known):
            drawn += _line(line, [place(x, y) for x, y in points], number)
        names = [(line.name, line.colour or _colour(n)) for n, line in enumerate(self.lines)]
        return drawn + _legend(left, top + HEIGHT + 54, [n for n in names if n[0]])

    def _scale(self, every: list[float]) -> tuple[Callable[[float], float], list[float]]:
        """Where a value of x stands from 0 to 1, and the values that are written at the axis."""
        if self.is_doubling:
            low, high = math.log2(min(every)), math.log2(max(every))
            span = (high - low) or 1.0
            steps = math.ceil(span / 6) or 1
            ticks = [2.0**power for power in range(math.floor(low), math.ceil(high) + 1, steps)]
            return lambda x: (math.log2(x) - low) / span, [
                x for x in ticks if low <= math.log2(x) <= high
            ]
        right = round_up(max([1e-3, *every]))
        return lambda x: x / right, [right * step / 4 for step in range(5)]


@dataclass(frozen=True, slots=True)
class BarChart:
    """A horizontal bar for each row, of parts beside each other. All rows have equal parts; `unit`
    stands after the sum of each."""

    title: str
    parts: Sequence[str]
    rows: Sequence[tuple[str, Sequence[float]]]
    unit: str

    @property
    def height(self) -> int:
        """Pixels of the area, without margins."""
        return len(self.rows) * (2 * BAR + 4)

    def elements(self, left: int, top: int) -> list[str]:
        """The elements of SVG, for an area whose upper left corner is given."""
        drawn = [_text(left, top - 10, self.title)]
        most = max([1e-9, *(sum(values) for _, values in self.rows)])
        room = WIDTH - 70
        y = float(top)
        for name, values in self.rows:
            drawn.append(_text(left, y + 12, name))
            x = float(left)
            for number, value in enumerate(values):
                wide = room * value / most
                drawn.append(
                    f'<rect x="{x:.1f}" y="{y + 18:.1f}" width="{wide:.1f}" height="{BAR}" '
                    f'fill="{_colour(number)}"><title>{escape(self.parts[number])}: '
                    f"{_figure(value)} {escape(self.unit)}</title></rect>"
                )
                x += wide
            total = f"{_figure(sum(values))} {self.unit}"
            drawn.append(_text(x + 6, y + 18 + BAR / 2 + 4, total))
            y += 2 * BAR + 4
        names = [(part, _colour(number)) for number, part in enumerate(self.parts)]
        return drawn + _legend(left, top + self.height + 20, names)


Chart: TypeAlias = LineChart | BarChart


def draw_charts(charts: Sequence[Chart], title: str, columns: int = 2) -> str:
    """Draw charts beside and below each other, as one document of SVG."""
    rows = [charts[start : start + columns] for start in range(0, len(charts), columns)]
    width = PITCH * min(columns, len(charts)) + 20
    drawn: list[str] = []
    y = TOP + 10
    for row in rows:
        for column, chart in enumerate(row):
            drawn += chart.elements(LEFT + PITCH * column, y)
        y += max(chart.height + _legend_height(chart) for chart in row) + TOP + 10
    height = y - TOP
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
            f'<rect width="{width}" height="{height}" fill="white"/>',
            f'<text x="{LEFT}" y="22" font-size="14">{escape(title)}</text>',
            *drawn,
            "</svg>\n",
        )
    )


def round_up(value: float) -> float:
    """Round up to 1, 2, 4, 5, 8 or 10 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(value))
    return next(power * n for n in (1, 2, 4, 5, 8, 10) if power * n >= value * (1 - 1e-9))


def _line(line: Line, places: Sequence[tuple[float, float]], number: int) -> Iterable[str]:
    colour = line.colour or _colour(number)
    corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    dashes = ' stroke-dasharray="4 4"' if line.is_dashed else ""
    yield f'<polyline points="{corners}" fill="none" stroke="{colour}"{dashes}/>'
    if not line.is_dashed:
        for x, y in places:
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>'


def _legend_places(names: Iterable[str]) -> Iterable[tuple[float, int]]:
    """Where each name stands: from the left in pixels, and in which line."""
    x, line = 0.0, 0
    for name in names:
        wide = 26 + LETTER * len(name)
        if x and x + wide > WIDTH + 30:
            x, line = 0.0, line + 1
        yield x, line
        x += wide


def _legend(left: float, top: float, names: Sequence[tuple[str, str]]) -> list[str]:
    drawn: list[str] = []
    for (name, colour), (x, line) in zip(names, _legend_places(n for n, _ in names), strict=True):
        y = top + 18 * line
        drawn.append(f'<circle cx="{left + x + 4:.1f}" cy="{y - 4:.1f}" r="4" fill="{colour}"/>')
        drawn.append(_text(left + x + 14, y, name))
    return drawn


def _legend_height(chart: Chart) -> int:
    """Pixels below the area of a chart for its axis and its legend."""
    match chart:
        case LineChart():
            names = [line.name for line in chart.lines if line.name]
            axis = 36
        case BarChart():
            names, axis = list(chart.parts), 4
    lines = 1 + max((line for _, line in _legend_places(names)), default=-1)
    return axis + 18 * lines


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    at = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text x="{x:.1f}" y="{y:.1f}"{at}>{escape(text)}</text>'


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def _colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]
