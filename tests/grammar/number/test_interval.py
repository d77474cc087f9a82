"""Numbers between bounds, against comparisons of each number."""

from __future__ import annotations

from decimal import Decimal
from itertools import product

import pytest

from maskwright.grammar.number.interval import EVERYTHING, Interval, joint

POINTS = [Decimal(n) / 2 for n in range(-5, 6)]
BOUNDS = [None, Decimal(-1), Decimal(0), Decimal("1.5")]
INTERVALS = [
    Interval(low, high, low_open, high_open)
    for low, high, low_open, high_open in product(BOUNDS, BOUNDS, [False, True], [False, True])
]


def members(*intervals: Interval) -> list[Decimal]:
    return [point for point in POINTS if any(point in each for each in intervals)]


def test_bounds_belong_to_it_or_not() -> None:
    one = Decimal(1)
    assert one in Interval(low=one)
    assert one in Interval(high=one)
    assert one not in Interval(low=one, low_open=True)
    assert one not in Interval(high=one, high_open=True)
    assert members(EVERYTHING) == POINTS


@pytest.mark.parametrize("interval", INTERVALS, ids=str)
def test_of_one_interval(interval: Interval) -> None:
    inside = members(interval)
    assert members(*interval.outside) == [p for p in POINTS if p not in inside]
    assert members(interval.mirrored) == [-p for p in reversed(inside)]
    assert interval.only_sign is (interval.low in (None, 0) and interval.high in (None, 0))
    holes = [Decimal(-1), Decimal(0), Decimal("0.5")]
    pieces = interval.without(holes)
    assert members(*pieces) == [p for p in inside if p not in holes]
    assert sum(point in each for each in pieces for point in POINTS) == len(members(*pieces))


def test_what_several_have_in_common() -> None:
    for left, right in product(INTERVALS, INTERVALS):
        both = [point for point in POINTS if point in left and point in right]
        assert members(joint([left, right])) == both
    assert joint([]) == EVERYTHING
