"""Transitions by classes of characters, the form in which derivatives are computed.

A class of Unicode has hundreds of ranges, and they move together: `\\w` in a dozen terminals side
by side is one set with a dozen targets. So beyond ASCII, transitions are pairs of a set and a
target, and where terms are combined it is their sets that are overlaid, each combination once.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from maskwright.grammar.regular import charset
from maskwright.grammar.regular.overlay import Arc, Join, joined, spread
from maskwright.grammar.regular.terms import EMPTY, Chars, Regular, chars
from maskwright.limits import spend

LAST_ASCII: Final = 0x7F
BEYOND_ASCII: Final = charset.LAST - LAST_ASCII - 0x800
"""How many characters there are outside ASCII; surrogates are none."""

_FEW: Final = 8
"""Ranges that are looked at one by one: that takes less time than to halve them."""
_BITS: Final = 8
"""Sets that are looked at together."""
_CHARACTERS: Final = ((0, 0xD7FF), (0xE000, charset.LAST))
"""All characters: no halves of surrogate pairs."""

Pair = tuple[Chars, Regular]


class Split(NamedTuple):
    """The transitions of a term: disjoint and ascending ranges of ASCII, and disjoint sets of
    characters beyond."""

    ascii: tuple[Arc, ...]
    beyond: tuple[Pair, ...]

    @property
    def targets(self) -> list[Regular]:
        return list(dict.fromkeys([*(t for _, _, t in self.ascii), *(t for _, t in self.beyond)]))

    def mapped(self, change: Callable[[Regular], Regular]) -> Split:
        """With other targets; `EMPTY` is none."""
        if len(self.ascii) == 1 and not self.beyond:  # as within a word
            ((low, high, target),) = self.ascii
            target = change(target)
            return Split(((low, high, target),), ()) if target is not EMPTY else NOWHERE
        known: dict[Regular, Regular] = {}
        arcs: list[Arc] = []
        for low, high, target in self.ascii:
            if target not in known:
                known[target] = change(target)
            if known[target] is not EMPTY:
                arcs.append((low, high, known[target]))
        beyond: list[Pair] = []
        for some, target in self.beyond:
            if target not in known:
                known[target] = change(target)
            if known[target] is not EMPTY:
                beyond.append((some, known[target]))
        return Split(tuple(arcs), tuple(beyond))

    def arcs(self) -> list[Arc]:
        """The transitions by ranges, ascending; neighbours with one target are one range."""
        ranges = list(self.ascii)
        if len(self.beyond) == 1:
            ((some, target),) = self.beyond
            ranges += [(low, high, target) for low, high in some.ranges]
        elif self.beyond:
            beyond = [(low, high, t) for some, t in self.beyond for low, high in some.ranges]
            ranges += sorted(beyond, key=_low)
        spend(len(ranges) // 16)
        return _joined(ranges)

    def after(self, point: int) -> Regular:
        """The target of one character."""
        if point <= LAST_ASCII:
            if len(self.ascii) <= _FEW:
                for low, high, target in self.ascii:
                    if point <= high:
                        return target if low <= point else EMPTY
                return EMPTY
            at = bisect_right(self.ascii, point, key=_low) - 1
            return self.ascii[at][2] if at >= 0 and self.ascii[at][1] >= point else EMPTY
        return next((t for some, t in self.beyond if overlap(some, point, point)), EMPTY)

    def within(self, low: int, high: int) -> list[tuple[Regular, int, int]]:
        """The targets of the characters from `low` to `high`, each with the first character that
        leads there and how many do; a target may occur more than once."""
        found: list[tuple[Regular, int, int]] = []
        if low <= LAST_ASCII:
            for at in range(bisect_left(self.ascii, low, key=_high), len(self.ascii)):
                first, last, target = self.ascii[at]
                if first > high:
                    break
                first = max(first, low)
                found.append((target, first, min(last, high) - first + 1))
        if high > LAST_ASCII:
            for some, target in self.beyond:
                count = overlap(some, low, high)
                if count:
                    found.append((target, _first_from(some, low), count))
        return found


NOWHERE: Final = Split((), ())


def parted(arcs: Sequence[Arc]) -> Split:
    """Transitions that are listed by ranges."""
    ascii_arcs: list[Arc] = []
    beyond: dict[Regular, list[tuple[int, int]]] = {}
    for low, high, target in arcs:
        if low <= LAST_ASCII:
            ascii_arcs.append((low, min(high, LAST_ASCII), target))
        if high > LAST_ASCII:
            beyond.setdefault(target, []).append((max(low, LAST_ASCII + 1), high))
    pairs = [(chars(tuple(ranges)), target) for target, ranges in beyond.items()]
    return Split(
        tuple(_joined(ascii_arcs)), tuple((s, t) for s, t in pairs if isinstance(s, Chars))
    )


def overlaid(columns: Sequence[Split], join: Join) -> Split:
    """Several at once: `join` gets the columns that have a target for a character."""
    members: dict[Chars, list[tuple[int, Regular]]] = {}
    for column, each in enumerate(columns):
        for some, target in each.beyond:
            members.setdefault(some, []).append((column, target))
    known: dict[bytes, Regular] = {}
    together: dict[Regular, list[Chars]] = {}
    for part, within in _partition(tuple(members)):
        target = joined({c: t for at in within for c, t in members[at]}, join, known)
        if target is not EMPTY:
            together.setdefault(target, []).append(part)
    return Split(
        tuple(spread([column.ascii for column in columns], join, known)),
        tuple([(_union(tuple(some)), target) for target, some in together.items()]),
    )


def overlap(some: Chars, low: int, high: int) -> int:
    """How many code points from `low` to `high` are in a set."""
    return _up_to(some, high) - _up_to(some, low - 1) if low <= high else 0


def _first_from(some: Chars, point: int) -> int:
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
def _partition(sets: tuple[Chars, ...]) -> tuple[tuple[Chars, tuple[Chars, ...]], ...]:
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
def _union(sets: tuple[Chars, ...]) -> Chars:
    if len(sets) == 1:
        return sets[0]
    some = chars(charset.union(*(each.ranges for each in sets)))
    assert isinstance(some, Chars)
    return some


def _joined(found: Sequence[Arc]) -> list[Arc]:
    """Join neighbouring ranges with one target."""
    joined: list[Arc] = []
    for low, high, target in found:
        if joined and joined[-1][2] is target and joined[-1][1] + 1 == low:
            joined[-1] = (joined[-1][0], high, target)
        else:
            joined.append((low, high, target))
    return joined


def _end(one: tuple[int, int]) -> int:
    return one[1]


def _low(arc: Arc) -> int:
    return arc[0]


def _high(arc: Arc) -> int:
    return arc[1]
