"""The spelling of characters in bytes: UTF-8, and inside a JSON string also escapes.

Given a language over characters, this module computes the rows of the states within a character.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from typing import Final

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
from maskwright.grammar.regular.derivative import Arc, arcs
from maskwright.grammar.regular.terms import Regular
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
_HEX: Final = [(digit, ord(f"{digit:x}")) for digit in range(16)] + [
    (digit, ord(f"{digit:X}")) for digit in range(10, 16)
]


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
                members = [b for _, b in _HEX] if digits else range(0x80, 0xC0)
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

    def lead_bytes(self, inside: bool, term: Regular) -> Row:
        row: Row = {}
        for byte in range(FIRST_LEAD, LAST_LEAD + 1):
            left = 1 if byte < 0xE0 else 2 if byte < 0xF0 else 3
            base = (byte & (0x3F >> left)) << (6 * left)
            target = self._partial(inside, term, base, left)
            if target != DEAD:
                row[byte] = target
        return row

    def _partial(self, inside: bool, term: Regular, base: int, left: int) -> int:
        """The state after the bytes that leave the code points of a block of 64**left open."""
        size = 1 << (6 * left)
        overlong = base < (0x80, 0x800, 0x10000)[left - 1]
        surrogates = base < 0xE000 and base + size > 0xD800
        key = Partial(inside, term, base, left)
        found = open_arcs(key)
        if not found:
            return DEAD
        if len(found) == 1 and not (overlong or surrogates) and base + size <= 0x110000:
            low, high, target = found[0]
            if low <= base and high >= base + size - 1:
                return self._state(Continuation(False, left, self._state(Text(inside, target))))
        return self._state(key)

    def _partial_row(self, key: Partial) -> Row:
        row: Row = {}
        step = 1 << (6 * (key.left - 1))
        for at in range(64):
            low = key.base + at * step
            high = low + step - 1
            overlong = (key.left == 2 and low < 0x800) or (key.left == 3 and low < 0x10000)
            if low > 0x10FFFF or 0xD800 <= low < 0xE000 or overlong:
                continue
            if key.left > 1:
                target = self._partial(key.inside, key.term, low, key.left - 1)
            else:
                found = _covering(arcs(key.term), low, high)
                target = self._state(Text(key.inside, found[0][2])) if found else DEAD
            if target != DEAD:
                row[0x80 + at] = target
        return row

    def _escape_row(self, term: Regular) -> Row:
        row: Row = {}
        transitions = escapable(term)
        for byte, point in SHORT_ESCAPES.items():
            found = _covering(transitions, point, point)
            if found:
                row[byte] = self._state(Text(True, found[0][2]))
        unit = self._hex(Hex(term, 0, 4))
        if unit != DEAD:
            row[LETTER_U] = unit
        return row

    def _hex(self, key: Hex | LowHex) -> int:
        """The state at which the code units of a block of 16**left are open."""
        blocks = _code_points(key)
        found = open_arcs(key)
        if not found:
            return DEAD
        if isinstance(key, Hex) and key.left == 0 and 0xD800 <= key.base < 0xDC00:
            return self._state(LowSurrogate(key.term, key.base, 0))
        target = found[0][2]
        low, high = blocks[0]
        whole = len(blocks) == 1 and high - low + 1 == 1 << (4 * key.left)
        if whole and found[0][0] <= low and found[0][1] >= high:
            state = self._state(Text(True, target))
            return self._state(Continuation(True, key.left, state)) if key.left else state
        return self._state(key)

    def _hex_row(self, key: Hex | LowHex) -> Row:
        row: Row = {}
        step = 1 << (4 * (key.left - 1))
        for digit, byte in _HEX:
            base = key.base + digit * step
            target = self._hex(key._replace(base=base, left=key.left - 1))
            if target != DEAD:
                row[byte] = target
        return row


def open_arcs(key: Partial | Escape | Hex | LowHex | LowSurrogate) -> list[Arc]:
    """The transitions of a key's term by the code points that a character begun can become."""
    transitions = arcs(key.term) if isinstance(key, Partial) else escapable(key.term)
    return [arc for low, high in _code_points(key) for arc in _covering(transitions, low, high)]


def escapable(term: Regular) -> tuple[Arc, ...]:
    """The transitions of a term by characters that may be escaped: all of them, unless its words
    are bare."""
    if not has_minimal_escapes(term):
        return arcs(term)
    return tuple((low, high, target) for low, high, target in arcs(term) if must_escape(low))


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


def _covering(transitions: tuple[Arc, ...], low: int, high: int) -> list[Arc]:
    """The transitions that overlap low..high."""
    at = bisect_right(transitions, low, key=_start) - 1
    found: list[Arc] = []
    for arc in transitions[max(at, 0) :]:
        if arc[0] > high:
            break
        if arc[1] >= low:
            found.append(arc)
    return found


def _start(arc: Arc) -> int:
    return arc[0]
