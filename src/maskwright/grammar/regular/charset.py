"""Sets of Unicode code points as sorted, disjoint, non-adjacent inclusive ranges."""

from __future__ import annotations

from collections.abc import Iterable

Ranges = tuple[tuple[int, int], ...]

LAST = 0x10FFFF
EVERY: Ranges = ((0, LAST),)
NONE: Ranges = ()


_READABLE = (0x61, 0x30, 0x41, 0x20)


def normal(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Sort and join `ranges`, which may overlap or touch."""
    joined: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if joined and low <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(joined[-1][1], high))
        else:
            joined.append((low, high))
    return tuple(joined)


def ranges_of(numbers: Iterable[int]) -> Ranges:
    """The ranges of some numbers: code points, or ids of tokens."""
    return normal((number, number) for number in numbers)


def union(*sets: Ranges) -> Ranges:
    return normal(pair for ranges in sets for pair in ranges)


def complement(ranges: Ranges) -> Ranges:
    gaps: list[tuple[int, int]] = []
    start = 0
    for low, high in ranges:
        if start < low:
            gaps.append((start, low - 1))
        start = high + 1
    if start <= LAST:
        gaps.append((start, LAST))
    return tuple(gaps)


def intersection(left: Ranges, right: Ranges) -> Ranges:
    return complement(union(complement(left), complement(right)))


def of(characters: str) -> Ranges:
    """The set of the characters of a string."""
    return ranges_of(map(ord, characters))


def readable(low: int, high: int) -> int:
    """A character of a range that reads well: a letter or digit if there is one."""
    for point in _READABLE:
        if low <= point <= high:
            return point
    return 0xE000 if 0xD800 <= low < 0xE000 <= high else low


def most_readable(ranges: Ranges) -> int:
    """A character of a set that reads well and is short as JSON spells it: a letter or digit if
    there is one, no control character if that can be avoided."""
    for point in _READABLE:
        if any(low <= point <= high for low, high in ranges):
            return point
    for low, high in ranges:
        for point in range(max(low, 0x20), min(high, max(low, 0x20) + 3) + 1):
            if point not in (0x22, 0x5C) and not 0xD800 <= point < 0xE000:
                return point
        if low < 0xE000 <= high:
            return 0xE000
    return readable(*ranges[0])
