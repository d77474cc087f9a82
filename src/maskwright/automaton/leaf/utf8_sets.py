"""UTF-8 of characters beyond ASCII, distinguished by the sets that contain them.

A state depends only on the sets and on their targets, so all terms with equal classes of characters
and equal targets share it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from maskwright.automaton.leaf.keys import Continuation, Key, Within
from maskwright.automaton.leaf.rows import DEAD, Row
from maskwright.automaton.leaf.utf8 import FIRST_LEAD, LAST_LEAD
from maskwright.grammar.regular.character_classes import overlap
from maskwright.grammar.regular.charset import LAST
from maskwright.grammar.regular.terms import Chars

Sets = tuple[tuple[Chars, int], ...]


class SpelledSets:
    def __init__(self, state: Callable[[Key], int]) -> None:
        self._state = state

    def lead_bytes(self, sets: Sets) -> Row:
        """Lead byte → next state. Each of `sets` is given with the target of its characters."""
        row: Row = {}
        for byte in range(FIRST_LEAD, LAST_LEAD + 1):
            left = 1 if byte < 0xE0 else 2 if byte < 0xF0 else 3
            target = self._after(sets, (byte & (0x3F >> left)) << (6 * left), left)
            if target != DEAD:
                row[byte] = target
        return row

    def row(self, key: Within) -> Row:
        row: Row = {}
        step = 1 << (6 * (key.left - 1))
        for at in range(64):
            low = key.base + at * step
            overlong = (key.left == 2 and low < 0x800) or (key.left == 3 and low < 0x10000)
            if low > LAST or 0xD800 <= low < 0xE000 or overlong:
                continue
            if key.left > 1:
                target = self._after(key.sets, low, key.left - 1)
            else:
                target = next((s for some, s in key.sets if overlap(some, low, low)), DEAD)
            if target != DEAD:
                row[0x80 + at] = target
        return row

    def _after(self, sets: Sets, base: int, left: int) -> int:
        """The state after the bytes that leave a block of 64**left code points open."""
        some = [pair for pair in sets if _spelled(pair[0], base, left)]
        if not some:
            return DEAD
        if len(some) == 1 and _spelled(some[0][0], base, left) == 1 << (6 * left):
            return self._state(Continuation(False, left, some[0][1]))
        return self._state(Within(tuple(some), base, left))


@lru_cache(1 << 16)
def _spelled(some: Chars, base: int, left: int) -> int:
    """How many characters of a set are spelled with `left` more bytes, from `base` on."""
    low = max(base, (0x80, 0x800, 0x10000)[left - 1])
    high = base + (1 << (6 * left)) - 1
    return overlap(some, low, min(high, 0xD7FF)) + overlap(some, max(low, 0xE000), high)
