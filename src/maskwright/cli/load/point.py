"""One point of the operating envelope: how the requests of one pattern and rate ended; and the
picture of all points, with goodput and the time to the first token over the rate.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from maskwright.cli.load.client import Outcome
from maskwright.cli.load.traffic import PatternName
from maskwright.cli.output.chart import Line, LineChart, draw_charts

SHARES = (50, 95, 99)


@dataclass(frozen=True, slots=True)
class Objective:
    """Upper bounds for a good answer: seconds until the first token, and for each one after it."""

    ttft: float
    tpot: float

    def met(self, outcome: Outcome) -> bool:
        """Whether the request was answered in its shape and in time."""
        return (
            outcome.end == "answered"
            and outcome.valid
            and (outcome.ttft or 0.0) <= self.ttft
            and (outcome.tpot or 0.0) <= self.tpot
        )


@dataclass(frozen=True, slots=True)
class Point:
    """`rate` is in requests a second, `goodput` in answers a second that met the objective. `ends`
    counts requests by how they ended. `ttft`, `tpot` and `gap` are percentiles 50, 95 and 99 in
    seconds, NaN where nothing was measured. `shaped` answers were asked to have a shape, which
    `valid` of them had."""

    pattern: PatternName
    rate: float
    sent: int
    goodput: float
    ends: dict[str, int]
    ttft: tuple[float, ...]
    tpot: tuple[float, ...]
    gap: tuple[float, ...]
    tokens_a_second: float
    shaped: int
    valid: int

    def row(self) -> dict[str, object]:
        """The point as a JSON object, with null for what was not measured."""
        row = asdict(self)
        for name in ("ttft", "tpot", "gap"):
            values: Sequence[float] = row.pop(name)
            for share, value in zip(SHARES, values, strict=True):
                row[f"{name}_p{share}"] = None if math.isnan(value) else value
        return row


def summarize(
    pattern: PatternName, rate: float, seconds: float, outcomes: Sequence[Outcome], aim: Objective
) -> Point:
    """Return the point of the requests `outcomes`, which were sent within `seconds`."""
    answered = [one for one in outcomes if one.end == "answered"]
    shaped = [one for one in answered if one.cell.shape != "none"]
    whole = max([seconds, *(one.seconds or 0.0 for one in answered)])
    return Point(
        pattern,
        rate,
        len(outcomes),
        sum(map(aim.met, outcomes)) / seconds,
        dict(Counter(one.end for one in outcomes)),
        _percentiles([one.ttft for one in answered if one.ttft is not None]),
        _percentiles([tpot for one in answered if (tpot := one.tpot) is not None]),
        _percentiles([gap for one in answered for gap in one.gaps]),
        sum(one.tokens for one in answered) / whole,
        len(shaped),
        sum(one.valid for one in shaped),
    )


def _percentiles(values: list[float]) -> tuple[float, ...]:
    """Percentiles by the nearest rank."""
    if not values:
        return (math.nan,) * len(SHARES)
    values.sort()
    return tuple(values[max(0, math.ceil(len(values) * share / 100) - 1)] for share in SHARES)


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
