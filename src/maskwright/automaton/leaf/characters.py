"""Characters of a term that have been begun: UTF-8, and inside a JSON string also escapes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from struct import iter_unpack
from typing import Final

import numpy as np

from maskwright.automaton.leaf.keys import Begun
from maskwright.automaton.leaf.spelling import (
    ANY_BYTES,
    BACKSLASH,
    BETWEEN,
    DIGITS,
    PAIR,
    PAIR_DIGITS,
    PAIR_U,
    following,
    points,
)
from maskwright.grammar.regular.character_classes import LAST_ASCII, characters_before
from maskwright.grammar.regular.charset import LAST
from maskwright.grammar.regular.derivative import split
from maskwright.grammar.regular.overlay import Split
from maskwright.grammar.regular.terms import EMPTY, Chars, Regular
from maskwright.grammar.regular.word_lists import has_minimal_escapes
from maskwright.immutable import Acyclic

QUOTE: Final = 0x22


def transitions(key: Begun) -> Split:
    """The transitions by the characters that one begun can become, among others."""
    return split(key.term) if key.part < BACKSLASH else escapable(key.term)


def open_targets(key: Begun) -> list[tuple[Regular, int]]:
    """Where the code points lead that a character begun can become, and how many lead there."""
    found = transitions(key)
    ranges = points(key.part, key.value)
    return [(to, count) for low, high in ranges for to, _, count in found.within(low, high)]


def nearest_ends(key: Begun) -> Iterator[tuple[Regular, bytes]]:
    """Where the characters lead that one begun can become, each time with the bytes that the first
    such character lacks, the fewest first; a target may occur more than once."""
    found = transitions(key)
    if key.is_escape:
        for byte, after, point in following(key.part, key.value):
            if after == BETWEEN and found.after(point) is not EMPTY:
                yield found.after(point), bytes([byte])
    for low, high in points(key.part, key.value):
        for first, last in ((low, min(high, 0xFFFF)), (max(low, 0x10000), high)):
            if first <= last:
                for target, point, _ in found.within(first, last):
                    yield target, _missing(key.part, point)


def _missing(part: int, point: int) -> bytes:
    """The bytes that a character lacks after its first part."""
    if part < BACKSLASH:
        return chr(point).encode()[-part:]
    units = chr(point).encode("utf-16-be")
    spelled = b"".join(b"\\u%04X" % unit for (unit,) in iter_unpack(">H", units))
    match part:
        case _ if part == BACKSLASH:
            return spelled[1:]
        case _ if part <= DIGITS + 4:
            return spelled[6 - (part - DIGITS) :]
        case _ if part <= PAIR_U:
            return spelled[6 + (part - PAIR) :]
        case _:
            return spelled[12 - (part - PAIR_DIGITS) :]


def escapable(term: Regular) -> Split:
    """The transitions of a term by characters that may be escaped: all of them, unless its words
    are bare."""
    found = split(term)
    if not has_minimal_escapes(term):
        return found
    listed = [
        (point, point, target)
        for low, high, target in found.ascii
        for point in range(low, high + 1)
        if must_escape(point)
    ]
    return Split(tuple(listed), ())


def must_escape(point: int) -> bool:
    """Whether JSON has no other way to write a character."""
    return point < 0x20 or point in (QUOTE, ord("\\"))


class BeyondAscii(Acyclic):
    """The bytes that go on towards a character of one of several sets."""

    mixed: list[tuple[int, int, int]]
    """(byte, part, value) where the bytes that follow decide on the set."""
    whole: list[tuple[int, int, list[tuple[int, int]]]]
    """(set, part skipped, runs of bytes) where all characters are in one set."""


_LOWEST: Final = np.array((0, 0x80, 0x800, 0x10000))
"""By number of continuation bytes: the first code point that needs so many."""


@lru_cache(1 << 12)
def beyond_ascii(sets: tuple[Chars, ...], part: int, value: int) -> BeyondAscii:
    """Where the bytes beyond ASCII lead that may follow `part` and `value` of a character."""
    steps = [step for step in following(part, value) if step[0] > LAST_ASCII]
    _, left, read = np.array(steps, np.int64).T
    low = np.maximum(read << 6 * left, _LOWEST[left])
    end = np.minimum((read + 1) << 6 * left, LAST + 1)
    counts = np.array([characters_before(s, end) - characters_before(s, low) for s in sets])
    which = np.where(counts.max(0) == 1 << 6 * left, counts.argmax(0), -1)
    mixed: list[tuple[int, int, int]] = []
    whole: dict[tuple[int, int], list[int]] = {}
    for at in np.flatnonzero(counts.any(0)).tolist():
        byte, after, _ = steps[at]
        if which[at] < 0:
            mixed.append(steps[at])
        else:
            skipped = ANY_BYTES + after if after else BETWEEN
            whole.setdefault((int(which[at]), skipped), []).append(byte)
    return BeyondAscii(mixed, [(*target, _runs(bytes_)) for target, bytes_ in whole.items()])


def _runs(numbers: list[int]) -> list[tuple[int, int]]:
    """The first and the last of each run of consecutive numbers, given in ascending order."""
    found: list[tuple[int, int]] = []
    for number in numbers:
        if found and number == found[-1][1] + 1:
            found[-1] = found[-1][0], number
        else:
            found.append((number, number))
    return found
