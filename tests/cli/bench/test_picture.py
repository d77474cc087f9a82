"""The picture of an operating envelope: its scales, its lines and its text."""

from __future__ import annotations

import math
from typing import Any
from xml.etree import ElementTree

from maskwright.cli.bench.client import COLOURS, Point, draw

SVG = "{http://www.w3.org/2000/svg}"


def point(pattern: Any, rate: float, goodput: float = 1.0, ttft: float = 0.5) -> Point:
    times = (ttft, ttft, ttft)
    return Point(pattern, rate, 9, goodput, {}, times, times, times, 1.0, 0, 0)


def elements(points: list[Point], kind: str, title: str = "t") -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(draw(points, title)).iter(SVG + kind))


def test_a_line_for_each_pattern_and_one_for_the_ideal() -> None:
    points = [point("burst", 4.0), point("steady", 2.0), point("steady", 1.0)]
    lines = elements(points, "polyline")
    dashed = [line for line in lines if "stroke-dasharray" in line.attrib]
    colours = [line.attrib["stroke"] for line in lines if line not in dashed]
    assert len(dashed) == 1, "the ideal goodput is the rate"
    assert colours == [COLOURS["burst"], COLOURS["steady"]] * 2


def test_points_are_in_the_order_of_their_rates() -> None:
    lines = elements([point("steady", rate) for rate in (4.0, 1.0, 2.0)], "polyline")
    for line in lines[1:]:
        across = [float(corner.split(",")[0]) for corner in line.attrib["points"].split()]
        assert across == sorted(across)


def test_what_was_not_measured_is_left_out() -> None:
    points = [point("steady", 1.0), point("steady", 2.0, ttft=math.nan)]
    assert "nan" not in draw(points, "t")
    late = elements(points, "polyline")[-1]
    assert len(late.attrib["points"].split()) == 1
    draw([point("steady", 1.0, ttft=math.nan)], "t")  # nothing at all was measured


def test_higher_is_further_up() -> None:
    low, high = (elements([point("steady", 8.0, goodput)], "circle")[0] for goodput in (1.0, 8.0))
    assert float(high.attrib["cy"]) < float(low.attrib["cy"])


def test_a_title_is_text() -> None:
    texts = [each.text for each in elements([point("steady", 1.0)], "text", "a < b & c")]
    assert "a < b & c" in texts
    assert {"steady", "good answers a second", "seconds to the first token, p95"} <= set(texts)
