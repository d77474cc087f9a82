"""Sets of characters as terms: how many characters they have, and which parts of them overlap."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import lru_cache
from itertools import accumulate
from typing import Final

import numpy as np
import numpy.typing as npt

from maskwright.grammar.regular import charset
from maskwright.grammar.regular.terms import Chars, chars
from maskwright.limits import spend

LAST_ASCII: Final = 0x7F
BEYOND_ASCII: Final = charset.LAST - LAST_ASCII - 0x800
"""How many characters there are outside ASCII; surrogates are none."""

_BITS: Final = 8
"""Sets that are looked at together."""
_CHARACTERS: Final = ((0, 0xD7FF), (0xE000, charset.LAST))
"""All characters: no halves of surrogate pairs."""


def overlap(some: Chars, low: int, high: int) -> int:
    """How many code points from `low` to `high` are in a set."""
    return _up_to(some, high) - _up_to(some, low - 1) if low <= high else 0


def first_from(some: Chars, point: int) -> int:
    """The first code point of a set that is at least `point`; beyond all characters if none is."""
    at = bisect_left(some.ranges, point, key=_end)
    return max(some.ranges[at][0], point) if at < len(some.ranges) else charset.LAST + 1


def _up_to(some: Chars, point: int) -> int:
    """How many code points of a set are at most `point`."""
    ranges = some.ranges
    at = bisect_right(ranges, (point, charset.LAST)) - 1
    return _before(some)[at] + min(point, ranges[at][1]) - ranges[at][0] + 1 if at >= 0 else 0


def characters_before(some: Chars, points: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """[n]: how many characters of a set come before each of `points` (int64 [n]); halves of
    surrogate pairs are none."""
    low, size, before = _sizes(some)
    at = np.searchsorted(low, points) - 1
    return np.where(at < 0, 0, before[at] + np.minimum(points - low[at], size[at]))


@lru_cache(256)
def _sizes(some: Chars) -> tuple[npt.NDArray[np.int64], ...]:
    """By range of a set without halves of surrogate pairs: its first character, how many it has,
    and how many come before it."""
    kept = charset.intersection(some.ranges, _CHARACTERS)
    low, high = np.array(kept, np.int64).T
    size = high + 1 - low
    return low, size, np.cumsum(size) - size


@lru_cache(4096)
def _before(some: Chars) -> tuple[int, ...]:
    """By range of a set: how many code points of the set come before it."""
    return tuple(accumulate((high - low + 1 for low, high in some.ranges), initial=0))


@lru_cache(4096)
def size(some: Chars) -> int:
    """How many characters are in a set."""
    return sum(h - low + 1 for low, h in some.ranges) - overlap(some, 0xD800, 0xDFFF)


@lru_cache(4096)
def sample(some: Chars) -> int:
    """A character of a set that reads well."""
    return charset.most_readable(some.ranges)


@lru_cache(4096)
def partition(sets: tuple[Chars, ...]) -> tuple[tuple[Chars, tuple[Chars, ...]], ...]:
    """The coarsest parts that are within or outside each of the sets, with those they are in."""
    if len(sets) == 1:
        return ((sets[0], sets),)
    if len(sets) == 0:
        return ()
    cuts = np.unique(np.concatenate([np.ravel(_edges(some)) for some in sets]))
    spend(len(cuts))
    number = np.zeros(len(cuts) - 1, np.int64)
    """Of each interval between cuts: that of the part it belongs to."""
    within: list[tuple[Chars, ...]] = [()]
    for first in range(0, len(sets), _BITS):
        some = sets[first : first + _BITS]
        bits = np.zeros(len(cuts) - 1, np.int64)
        """Of each interval: in which of these sets it is."""
        for at, each in enumerate(some):
            low, end = np.searchsorted(cuts, _edges(each))
            inside = np.zeros(len(cuts), np.int64)
            inside[low] += 1
            inside[end] -= 1
            bits |= np.cumsum(inside[:-1]) << at
        keys = number << _BITS | bits
        used = np.zeros(len(within) << _BITS, np.bool_)
        used[keys] = True
        parts, number = np.flatnonzero(used), (np.cumsum(used) - 1)[keys]
        within = [
            (*within[part >> _BITS], *(each for at, each in enumerate(some) if part >> at & 1))
            for part in parts.tolist()
        ]
    found: list[tuple[Chars, tuple[Chars, ...]]] = []
    for part, holding in enumerate(within):
        if holding:
            at = np.flatnonzero(number == part)
            apart = np.diff(at, prepend=-2) > 1  # from the interval before
            low, end = cuts[at[apart]], cuts[at[np.append(apart[1:], True)] + 1]
            some = chars(tuple(zip(low.tolist(), (end - 1).tolist(), strict=True)))
            if isinstance(some, Chars):  # halves of surrogate pairs are no characters
                found.append((some, holding))
    return tuple(found)


@lru_cache(256)
def _edges(some: Chars) -> npt.NDArray[np.int64]:
    """[2, ranges]: where the ranges of a set begin, and before which code points they end."""
    edges = np.array(some.ranges, np.int64).T
    edges[1] += 1
    return edges


@lru_cache(4096)
def union_of(sets: tuple[Chars, ...]) -> Chars:
    """The characters of any of the sets."""
    if len(sets) == 1:
        return sets[0]
    some = chars(charset.union(*(each.ranges for each in sets)))
    assert isinstance(some, Chars)
    return some


def _end(one: tuple[int, int]) -> int:
    return one[1]
