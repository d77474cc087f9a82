"""The spelling of characters in bytes: UTF-8, and inside a JSON string also escapes.

Given a language over characters, this module computes the rows of the states within a character.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from struct import iter_unpack
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from maskwright.automaton.leaf.keys import (
    Continuation,
    Escape,
    Hex,
    Key,
    Limited,
    LowHex,
    LowSurrogate,
    Partial,
    Text,
)
from maskwright.automaton.leaf.rows import DEAD, Row
from maskwright.grammar.regular.character_classes import LAST_ASCII, Split, characters_before
from maskwright.grammar.regular.charset import LAST
from maskwright.grammar.regular.derivative import split
from maskwright.grammar.regular.terms import EMPTY, Chars, Regular
from maskwright.grammar.regular.word_lists import has_minimal_escapes

Int32 = npt.NDArray[np.int32]

QUOTE: Final = 0x22
BACKSLASH: Final = 0x5C
LETTER_U: Final = ord("u")
FIRST_LEAD: Final = 0xC2
LAST_LEAD: Final = 0xF4
SHORT_ESCAPES: Final = {0x22: 0x22, 0x5C: 0x5C, 0x2F: 0x2F} | {
    ord(c): p for c, p in zip("bfnrt", (8, 12, 10, 13, 9), strict=True)
}
"""Byte after a backslash → code point."""
WRITTEN: Final = [frozenset(f"{digit:x}{digit:X}".encode()) for digit in range(16)]
"""The bytes that are each hexadecimal digit."""
_DIGITS: Final = sorted(byte for some in WRITTEN for byte in some)


class SpelledCharacters:
    """Rows of the states within a character; `state` returns the state of a key."""

    def __init__(self, state: Callable[[Key], int]) -> None:
        self._state = state
        self._tails: dict[int, Int32] = {}

    def row(
        self, key: Partial | Limited | Escape | Hex | LowHex | LowSurrogate | Continuation
    ) -> Row:
        """Byte → next state at a place within a character."""
        match key:
            case Partial():
                return self._partial_row(key)
            case Limited(low=low, high=high, target=target):
                return dict.fromkeys(range(low, high + 1), target)
            case Escape(term=term):
                return self._escape_row(term)
            case Hex() | LowHex():
                return self._hex_row(key)
            case LowSurrogate(term=term, high=high, seen=seen):
                if seen == 0:
                    return {BACKSLASH: self._state(LowSurrogate(term, high, 1))}
                return {ord("u"): self._state(LowHex(term, high, 0, 4))}
            case Continuation(digits=digits, left=left, target=target):
                follow = self._state(Continuation(digits, left - 1, target)) if left > 1 else target
                members = _DIGITS if digits else range(0x80, 0xC0)
                return dict.fromkeys(members, follow)

    def tail(self, target: int) -> Int32:
        """The states after each lead byte where every character outside ASCII goes to `target`."""
        known = self._tails.get(target)
        if known is None:
            one, two, three = (self._state(Continuation(False, n, target)) for n in (1, 2, 3))
            known = np.full(LAST_LEAD + 1 - FIRST_LEAD, two, np.int32)
            known[: 0xE0 - FIRST_LEAD] = one
            known[0xE0 - FIRST_LEAD] = self._state(Limited(0xA0, 0xBF, one))
            known[0xED - FIRST_LEAD] = self._state(Limited(0x80, 0x9F, one))
            known[0xF0 - FIRST_LEAD :] = three
            known[0xF0 - FIRST_LEAD] = self._state(Limited(0x90, 0xBF, two))
            known[0xF4 - FIRST_LEAD] = self._state(Limited(0x80, 0x8F, two))
            self._tails[target] = known
        return known

    def lead_bytes(self, row: Int32, inside: bool, term: Regular) -> None:
        """Enter into `row` (int32 [256]) the states after the bytes that begin a character outside
        ASCII, at a character boundary of `term`."""
        found = split(term)
        mixed, whole = _lead_bytes(tuple([some for some, _ in found.beyond]))
        for byte, left, base in mixed:
            row[byte] = self._state(Partial(inside, term, base, left))
        for only, left, bytes_ in whole:
            target = self._state(Text(inside, found.beyond[only][1]))
            row[bytes_] = self._state(Continuation(False, left, target))

    def _partial_row(self, key: Partial) -> Row:
        inside, term, base, left = key
        found = split(term)
        states = [self._state(Text(inside, target)) for _, target in found.beyond]
        sets = tuple([some for some, _ in found.beyond])
        row: Row = {}
        step = 1 << (6 * (left - 1))
        for at, fits in _fits(sets, _LOWEST[left], base, left - 1, 64):
            if fits < 0:
                row[0x80 + at] = self._state(Partial(inside, term, base + at * step, left - 1))
            elif left > 1:
                row[0x80 + at] = self._state(Continuation(False, left - 1, states[fits]))
            else:
                row[0x80 + at] = states[fits]
        return row

    def _escape_row(self, term: Regular) -> Row:
        row: Row = {}
        transitions = escapable(term)
        states: dict[Regular, int] = {}
        for byte, point in SHORT_ESCAPES.items():
            target = transitions.after(point)
            if target is not EMPTY:
                if target not in states:
                    states[target] = self._state(Text(True, target))
                row[byte] = states[target]
        # All code units are more than one block of characters, so the digits decide.
        whole = Hex(term, 0, 4)
        unit = self._state(whole) if transitions.ascii else self._hex(whole)
        if unit != DEAD:
            row[LETTER_U] = unit
        return row

    def _hex(self, key: Hex | LowHex) -> int:
        """The state at which the code units of a block of 16**left are open."""
        found = open_targets(key)
        if not found:
            return DEAD
        if isinstance(key, Hex) and key.left == 0 and 0xD800 <= key.base < 0xDC00:
            return self._state(LowSurrogate(key.term, key.base, 0))
        blocks = _code_points(key)
        target, count = found[0]
        low, high = blocks[0]
        if len(blocks) == 1 and high - low + 1 == 1 << (4 * key.left) == count:
            state = self._state(Text(True, target))
            return self._state(Continuation(True, key.left, state)) if key.left else state
        return self._state(key)

    def _hex_row(self, key: Hex | LowHex) -> Row:
        row: Row = {}
        step = 1 << (4 * (key.left - 1))
        last = LAST if escapable(key.term).beyond else LAST_ASCII
        for digit in range(16):
            base = key.base + digit * step
            if base > last:
                break
            target = self._hex(key._replace(base=base, left=key.left - 1))
            if target != DEAD:
                row |= dict.fromkeys(WRITTEN[digit], target)
        return row


def open_targets(
    key: Partial | Escape | Hex | LowHex | LowSurrogate,
) -> list[tuple[Regular, int]]:
    """Where the code points lead that a character begun can become, and how many lead there."""
    found = split(key.term) if isinstance(key, Partial) else escapable(key.term)
    return [pair for low, high in _code_points(key) for pair in found.within(low, high)]


def nearest_ends(
    key: Partial | Escape | Hex | LowSurrogate | LowHex,
) -> Iterator[tuple[Regular, bytes]]:
    """Where the characters lead that one begun can become, each time with the bytes that the first
    such character lacks, the fewest first; a target may occur more than once."""
    found = split(key.term) if isinstance(key, Partial) else escapable(key.term)
    if isinstance(key, Escape):
        for byte in sorted(SHORT_ESCAPES):
            target = found.after(SHORT_ESCAPES[byte])
            if target is not EMPTY:
                yield target, bytes([byte])
    for low, high in _code_points(key):
        for first, last in ((low, min(high, 0xFFFF)), (max(low, 0x10000), high)):
            if first <= last:
                ends = found.first_within(first, last)
                yield from ((target, _missing(key, point)) for target, point in ends)


def _missing(key: Partial | Escape | Hex | LowSurrogate | LowHex, point: int) -> bytes:
    """The bytes that a character lacks after its first part."""
    if isinstance(key, Partial):
        return chr(point).encode()[-key.left :]
    units = chr(point).encode("utf-16-be")
    spelled = b"".join(b"\\u%04X" % unit for (unit,) in iter_unpack(">H", units))
    match key:
        case Escape():
            return spelled[1:]
        case Hex(left=left):
            return spelled[6 - left :]
        case LowSurrogate(seen=seen):
            return spelled[6 + seen :]
        case LowHex(left=left):
            return spelled[12 - left :]


def escapable(term: Regular) -> Split:
    """The transitions of a term by characters that may be escaped: all of them, unless its words
    are bare."""
    found = split(term)
    if not has_minimal_escapes(term):
        return found
    points = [
        (point, point, target)
        for low, high, target in found.ascii
        for point in range(low, high + 1)
        if must_escape(point)
    ]
    return Split(tuple(points), ())


class _LeadBytes(NamedTuple):
    """The bytes that begin a character in one of several sets."""

    mixed: list[tuple[int, int, int]]
    """(byte, bytes that are missing, first code point) where the bytes that follow decide on the
    set."""
    whole: list[tuple[int, int, Int32]]
    """(set, bytes that are missing, bytes) where all characters are in one set."""


@lru_cache(1024)
def _lead_bytes(sets: tuple[Chars, ...]) -> _LeadBytes:
    mixed: list[tuple[int, int, int]] = []
    whole: dict[tuple[int, int], list[int]] = {}
    for left, first, last in ((1, FIRST_LEAD, 0xDF), (2, 0xE0, 0xEF), (3, 0xF0, LAST_LEAD)):
        lead = 0x100 - (0x80 >> left)  # of the lowest code points
        base = (first - lead) << (6 * left)
        for at, fits in _fits(sets, _LOWEST[left], base, left, last + 1 - first):
            if fits < 0:
                mixed.append((first + at, left, base + (at << (6 * left))))
            else:
                whole.setdefault((fits, left), []).append(first + at)
    return _LeadBytes(
        mixed, [(*which, np.array(bytes_, np.int32)) for which, bytes_ in whole.items()]
    )


_SEVERAL: Final = -1
_LOWEST: Final = (0, 0x80, 0x800, 0x10000)
"""By number of continuation bytes: the first code point that needs so many."""


@lru_cache(1 << 12)
def _fits(
    sets: tuple[Chars, ...], lowest: int, base: int, left: int, blocks: int
) -> list[tuple[int, int]]:
    """Which of the `blocks` blocks of 64**left code points from `base` on hold characters of the
    sets, not below `lowest`: each with the index of the set that the whole block is in, `_SEVERAL`
    if only a part of it is in a set or it is in more than one."""
    block = 1 << (6 * left)
    borders = np.clip(base + block * np.arange(blocks + 1), lowest, LAST + 1)
    counts = np.array([np.diff(characters_before(some, borders)) for some in sets])
    if not len(counts):
        return []
    which = np.argmax(counts, axis=0)
    which[counts.max(axis=0) < block] = _SEVERAL
    held = np.flatnonzero(counts.any(axis=0))
    return list(zip(held.tolist(), which[held].tolist(), strict=True))


def must_escape(point: int) -> bool:
    """Whether JSON has no other way to write a character."""
    return point < 0x20 or point in (QUOTE, BACKSLASH)


def _code_points(
    key: Partial | Escape | Hex | LowHex | LowSurrogate,
) -> list[tuple[int, int]]:
    """The ranges of code points that a character begun can still become."""
    match key:
        case Partial(base=base, left=left):
            low = max(base, (0x80, 0x800, 0x10000)[left - 1])
            high = min(base + (1 << (6 * left)) - 1, 0x10FFFF)
            parts = [(low, min(high, 0xD7FF)), (max(low, 0xE000), high)]
        case Escape():
            parts = [(0, 0xD7FF), (0xE000, 0x10FFFF)]
        case LowSurrogate(high=unit):
            plane = 0x10000 + ((unit - 0xD800) << 10)
            parts = [(plane, plane + 0x3FF)]
        case LowHex(high=unit, base=low, left=left):
            plane = 0x10000 + ((unit - 0xD800) << 10)
            high = low + (1 << (4 * left)) - 1
            parts = [(plane + max(low, 0xDC00) - 0xDC00, plane + min(high, 0xDFFF) - 0xDC00)]
        case Hex(base=low, left=left):
            high = low + (1 << (4 * left)) - 1
            first, last = max(low, 0xD800), min(high, 0xDBFF)
            parts = [(low, min(high, 0xD7FF)), (max(low, 0xE000), high)]
            if first <= last:
                pairs = 0x10000 + ((first - 0xD800) << 10)
                parts.append((pairs, 0x10000 + ((last - 0xD800) << 10) + 0x3FF))
    return [part for part in parts if part[0] <= part[1]]
