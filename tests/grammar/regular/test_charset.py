"""Sets of code points: each operation against sets of numbers at the ends of the code space."""

from __future__ import annotations

from itertools import combinations, pairwise, product

import pytest

from maskwright.grammar.regular import charset
from maskwright.grammar.regular.charset import EVERY, LAST, NONE, Ranges

POINTS = (0, 1, 2, 5, LAST - 1, LAST)
SETS = [
    charset.ranges_of(points)
    for size in range(len(POINTS) + 1)
    for points in combinations(POINTS, size)
]


def members(ranges: Ranges) -> set[int]:
    return {point for point in (*POINTS, 3, 4, 6) for low, high in ranges if low <= point <= high}


def is_normal(ranges: Ranges) -> bool:
    """Whether ranges are not empty, ascend, and neither overlap nor touch."""
    ordered = all(low <= high for low, high in ranges)
    return ordered and all(a[1] + 1 < b[0] for a, b in pairwise(ranges))


@pytest.mark.parametrize(
    ("given", "ranges"),
    [
        ([], NONE),
        ([(5, 9), (1, 3)], ((1, 3), (5, 9))),
        ([(1, 3), (4, 6)], ((1, 6),)),
        ([(1, 3), (5, 6)], ((1, 3), (5, 6))),
        ([(1, 9), (2, 3)], ((1, 9),)),
        ([(1, 5), (3, 9), (9, 9)], ((1, 9),)),
    ],
)
def test_ranges_that_overlap_or_touch_are_joined(
    given: list[tuple[int, int]], ranges: Ranges
) -> None:
    assert charset.normal(given) == ranges


def test_operations_are_those_of_sets() -> None:
    for left, right in product(SETS, repeat=2):
        union, common = charset.union(left, right), charset.intersection(left, right)
        assert members(union) == members(left) | members(right)
        assert members(common) == members(left) & members(right)
        assert is_normal(union)
        assert is_normal(common)


@pytest.mark.parametrize("ranges", SETS)
def test_the_complement_has_all_others(ranges: Ranges) -> None:
    rest = charset.complement(ranges)
    assert is_normal(rest)
    assert members(rest) == {*POINTS, 3, 4, 6} - members(ranges)
    assert charset.complement(rest) == ranges
    assert charset.union(ranges, rest) == EVERY


@pytest.mark.parametrize(
    ("low", "high", "point"),
    [
        (0, LAST, "a"),
        (0x30, 0x60, "0"),
        (0x3A, 0x60, "A"),
        (0x00, 0x2F, " "),
        (0x62, 0x7A, "b"),
        (0xD800, 0xFFFF, "\ue000"),
        (0xDFFF, 0xE000, "\ue000"),
        (0xE001, 0xF000, "\ue001"),
    ],
)
def test_the_readable_character_of_a_range(low: int, high: int, point: str) -> None:
    assert chr(charset.readable(low, high)) == point
