"""The operating envelope as a picture: goodput, and the time to the first token, over the rate."""

from __future__ import annotations

from collections.abc import Sequence

from maskwright.cli.load.point import Point
from maskwright.cli.output.chart import Line, LineChart, draw_charts

COLOURS = {"steady": "#1b6ca8", "burst": "#c8691c", "adversarial": "#7a3b8f"}
IDEAL = "#999"


def draw(points: Sequence[Point], title: str) -> str:
    """Draw, over the rate of requests, how many answers a second were good, and within which time
    the first token came for 95 of 100."""
    own = _by_pattern(points)
    most = max(point.rate for point in points)
    ideal = Line("every request", [(0.0, 0.0), (most, most)], is_dashed=True, colour=IDEAL)
    good = [Line(n, [(p.rate, p.goodput) for p in own[n]], colour=COLOURS[n]) for n in own]
    late = [Line(n, [(p.rate, p.ttft[1]) for p in own[n]], colour=COLOURS[n]) for n in own]
    axis = "requests a second"
    charts = (
        LineChart("good answers a second", axis, [ideal, *good]),
        LineChart("seconds to the first token, p95", axis, late),
    )
    return draw_charts(charts, title)


def _by_pattern(points: Sequence[Point]) -> dict[str, list[Point]]:
    names = dict.fromkeys(point.pattern for point in points)
    return {
        name: sorted((p for p in points if p.pattern == name), key=lambda p: p.rate)
        for name in names
    }
