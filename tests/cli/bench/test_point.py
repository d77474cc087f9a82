"""One point of the operating envelope, from the requests of one pattern and rate."""

from __future__ import annotations

import math
from typing import Any
from xml.etree import ElementTree

import pytest

from maskwright.cli.bench.client import Cell, Objective, Outcome, draw, summarize

CELL = Cell(4, 8, "", 0.0, "none")


AIM = Objective(1.0, 0.1)


def test_a_point_is_the_sum_of_its_requests() -> None:
    found = [Outcome(CELL, "answered", ttft=0.1 * n, seconds=0.1 * n + 0.9, tokens=10,
                     gaps=[0.01 * n], valid=True) for n in range(1, 21)]  # fmt: skip
    found += [Outcome(CELL, "refused"), Outcome(CELL), Outcome(CELL, "answered", ttft=0.1)]
    point = summarize("steady", 5.0, 4.0, found, Objective(1.0, 0.1001))
    assert point.ends == {"answered": 21, "refused": 1, "unfinished": 1}
    assert point.goodput == 10 / 4, "late, refused, unfinished and wrong answers are not good"
    assert point.ttft == pytest.approx((1.0, 1.9, 2.0))
    assert point.gap == pytest.approx((0.1, 0.19, 0.2))
    assert point.tokens_a_second == pytest.approx(200 / 4)
    nothing = summarize("burst", 5.0, 4.0, [Outcome(CELL)], AIM)
    assert (nothing.goodput, math.isnan(nothing.ttft[0]), nothing.row()["ttft_p50"]) == (
        0.0, True, None,
    )  # fmt: skip
    ElementTree.fromstring(draw([point, nothing], "a < b"))


def outcome(**fields: Any) -> Outcome:
    return Outcome(CELL, **{"end": "answered", "valid": True, **fields})


MET: list[tuple[Outcome, bool]] = [
    (outcome(ttft=1.0, seconds=1.9, tokens=10), True),  # 0.1 s a token after the first
    (outcome(ttft=1.01, seconds=1.1, tokens=10), False),
    (outcome(ttft=0.5, seconds=1.5, tokens=10), False),
    (outcome(ttft=0.5, seconds=9.5, tokens=1), True),  # no token after the first
    (outcome(), True),  # an answer without text
    (outcome(ttft=0.1, valid=False), False),
    (outcome(ttft=0.1, end="refused"), False),
    (outcome(ttft=0.1, end="unfinished"), False),
]


@pytest.mark.parametrize(("found", "met"), MET)
def test_good_answers(found: Outcome, met: bool) -> None:
    assert AIM.met(found) is met


@pytest.mark.parametrize(
    ("count", "expected"),
    [(1, (1, 1, 1)), (2, (1, 2, 2)), (20, (10, 19, 20)), (100, (50, 95, 99)), (101, (51, 96, 100))],
)
def test_percentiles_by_the_nearest_rank(count: int, expected: tuple[int, ...]) -> None:
    times = [outcome(ttft=float(n)) for n in range(count, 0, -1)]
    assert summarize("steady", 1.0, 1.0, times, AIM).ttft == expected


def test_tokens_a_second_count_the_time_of_late_answers() -> None:
    found = [outcome(tokens=30, seconds=6.0), outcome(tokens=30, seconds=1.0)]
    assert summarize("steady", 1.0, 4.0, found, AIM).tokens_a_second == 60 / 6
    assert summarize("steady", 1.0, 10.0, found, AIM).tokens_a_second == 60 / 10
