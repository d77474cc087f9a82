"""Charts: their scales, and that what is drawn is where its value is."""

from __future__ import annotations

import itertools
import math
from xml.etree import ElementTree

import pytest

from maskwright.cli.output.chart import (
    HEIGHT,
    WIDTH,
    BarChart,
    Chart,
    Line,
    LineChart,
    draw_charts,
    round_up,
)

SVG = "{http://www.w3.org/2000/svg}"


def elements(kind: str, *charts: Chart) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(draw_charts(charts, "a < b")).iter(SVG + kind))


@pytest.mark.parametrize(
    ("value", "rounded"),
    [(1, 1), (1.1, 2), (2, 2), (2.01, 4), (4.5, 5), (5.1, 8), (9, 10), (11, 20), (0.03, 0.04),
     (0.1 + 0.2, 0.4), (0.7 + 0.1, 0.8), (1e-3, 1e-3)],
)  # fmt: skip
def test_scales_end_at_round_numbers(value: float, rounded: float) -> None:
    assert round_up(value) == pytest.approx(rounded)


def test_points_stand_at_their_values() -> None:
    chart = LineChart("t", "x", [Line("a", [(0.0, 0.0), (2.0, 4.0), (4.0, math.nan)])])
    one, other = elements("circle", chart)[:2]
    across = float(other.attrib["cx"]) - float(one.attrib["cx"])
    up = float(one.attrib["cy"]) - float(other.attrib["cy"])
    assert (across, up) == (WIDTH / 2, HEIGHT), "half of 4 to the right, and all of 4 up"


def test_doubling_is_as_wide_anywhere() -> None:
    chart = LineChart("t", "x", [Line("a", [(2.0**n, 1.0) for n in range(5)])], is_doubling=True)
    places = [float(each.attrib["cx"]) for each in elements("circle", chart)[:5]]
    steps = [right - left for left, right in itertools.pairwise(places)]
    assert steps == pytest.approx([WIDTH / 4] * 4, abs=0.2)


def test_bars_are_as_wide_as_their_values() -> None:
    chart = BarChart("t", ("p", "q"), [("one", (1.0, 3.0)), ("two", (2.0, 0.0))], "s")
    wide = [float(each.attrib["width"]) for each in elements("rect", chart)[1:]]
    assert wide[1] == pytest.approx(3 * wide[0], abs=0.2)
    assert wide[2] == pytest.approx(2 * wide[0], abs=0.2)
    assert wide[3] == 0.0
    texts = [each.text for each in elements("text", chart)]
    assert {"4 s", "2 s", "one", "two", "p", "q", "a < b"} <= set(texts)


def test_nothing_measured_can_be_drawn() -> None:
    assert elements("text", LineChart("t", "x", [Line("a", [(1.0, math.nan)])]))
    assert elements("text", BarChart("t", ("p",), [("none", (0.0,))], "s"))
