"""Building the rows of leaf states: where each byte leads from a place.

A state is built when it is first needed. A row that differs from another base row, its *trunk*, in
only a few bytes is stored as these differences.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final

import numpy as np

from maskwright.automaton.leaf.keys import (
    BesideValue,
    ChoiceState,
    Continuation,
    Dead,
    End,
    Entry,
    Escape,
    Hex,
    Key,
    Limited,
    LiteralState,
    LowHex,
    LowSurrogate,
    Padded,
    Partial,
    Spaced,
    Text,
    TokenId,
    TokenRead,
    Within,
)
from maskwright.automaton.leaf.rows import DEAD, LeafRows, Row
from maskwright.automaton.leaf.utf8 import (
    BACKSLASH,
    FIRST_LEAD,
    LAST_LEAD,
    QUOTE,
    WRITTEN,
    SpelledCharacters,
    escapable,
    must_escape,
)
from maskwright.grammar.regular.character_classes import BEYOND_ASCII, overlap, size
from maskwright.grammar.regular.charset import LAST
from maskwright.grammar.regular.derivative import label, split
from maskwright.grammar.regular.length_bounds import counted
from maskwright.grammar.regular.terms import (
    ANYTHING,
    EMPTY,
    Chars,
    Parallel,
    Regular,
    Tagged,
    Words,
    tagged,
)
from maskwright.grammar.regular.word_lists import word_arcs
from maskwright.limits import spend

Sets = tuple[tuple[Chars, int], ...]


class SpelledSets:
    """UTF-8 of characters beyond ASCII, distinguished by the sets that contain them.

    A state depends only on the sets and on their targets, so all terms with equal classes of
    characters and equal targets share it.
    """

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


_ROW: Final = 4
"""Steps that a row counts as: it takes some 20 microseconds."""

_SPACES: Final = b" \t\n\r"


class LeafBuilder:
    """Fills `rows` for the states of `keys`.

    `state` returns the state of a key. `named` returns the state of a key within a list of words,
    given the words low..high-1 that can be reached from it and whether no other name can be.
    """

    def __init__(
        self,
        rows: LeafRows,
        keys: Sequence[Key],
        state: Callable[[Key], int],
        named: Callable[[Text | Escape | Hex, int, int, bool], int],
    ) -> None:
        self._rows = rows
        self._keys = keys
        self._state = state
        self._named = named
        self._spelled = SpelledCharacters(state)
        self._sets = SpelledSets(state)

    def build(self, state: int) -> None:
        """Give `state` its row."""
        if self._rows.is_built(state):
            return
        spend(_ROW)
        key = self._keys[state]
        match key:
            case Text(inside=True, term=term) if self._build_names(state, term):
                return
            case Hex() if self._build_digits_of_words(state, key):
                return
            case Text(term=Parallel() as term):
                self._build_parallel(state, term)
            case Text():
                self._build_text(state, key)
            case LiteralState():
                self._rows.override(state, 0, {key.data[0]: self._rest(key)})
            case Entry():
                self._build_entry(state, key)
            case _:
                self._rows.fill(state, self._row(key), self._trunk(key))

    def row_of(self, key: Key) -> int:
        """The number of the base row of a key's state."""
        state = self._state(key)
        self.build(state)
        return int(self._rows.base[state])

    def next_states(self, state: int) -> Row:
        """Byte → next state."""
        self.build(state)
        return self._rows.next_states(state)

    def _row(self, key: Key) -> Row:
        match key:
            case (
                Partial()
                | Limited()
                | Escape()
                | Hex()
                | LowHex()
                | LowSurrogate()
                | Continuation()
            ):
                return self._spelled.row(key)
            case ChoiceState(inside=inside, text=text, marks=marks):
                row = {} if text is EMPTY else self.next_states(self._state(Text(False, text)))
                if inside is not EMPTY:
                    row[QUOTE] = self._state(Text(inside=True, term=counted(inside)))
                return row | dict(marks)
            case Spaced(left=left) | Padded(left=left):
                follow = {} if isinstance(key, Spaced) else self.next_states(key.target)
                if left:
                    shorter = self._state(key._replace(left=left - 1))
                    self.build(shorter)  # a token may run through all of them
                    follow = follow | dict.fromkeys(_SPACES, shorter)
                return follow
            case TokenId():
                return self._token_row(key)
            case BesideValue(text=text, data=data):
                return {
                    byte: self.beside_value(target, data + bytes([byte]))
                    for byte, target in self.next_states(text).items()
                }
            case Within():
                return self._sets.row(key)
            case Text() | Entry() | LiteralState() | End() | Dead():
                return {}  # built elsewhere

    def _rest(self, key: LiteralState) -> int:
        rest = key.data[1:]
        return self._state(LiteralState(rest, key.target)) if rest else key.target

    def _build_entry(self, state: int, key: Entry) -> None:
        """Build the row of the text, overridden by the marks."""
        trunk, overrides = 0, dict(key.marks)
        if key.text is not EMPTY:
            text = self._state(Text(False, key.text))
            self.build(text)
            arrays = self._rows
            trunk = int(arrays.base[text])
            start, stop = int(arrays.override_start[text]), int(arrays.override_stop[text])
            own = arrays.override_byte[start:stop].tolist()
            overrides = dict(zip(own, arrays.override_next[start:stop].tolist(), strict=True))
            overrides |= dict(key.marks)
        self._rows.override(state, trunk, overrides)

    def _token_row(self, key: TokenId) -> Row:
        row: Row = {}
        size = 1 << (7 * (key.left - 1))
        for byte in range(128):
            low = key.base + byte * size
            open_sets = tuple(
                at
                for at, ranges in enumerate(key.sets)
                if any(first < low + size and last >= low for first, last in ranges)
            )
            if open_sets:
                after = TokenId(key.sets, low, key.left - 1)
                row[byte] = self._state(after if after.left else End(TokenRead(open_sets)))
        return row

    def beside_value(self, text: int, data: bytes) -> int:
        """See `LeafTable.beside_value`."""
        match self._keys[text]:
            case Text(inside=False, term=Parallel(parts=parts)) if not any(
                part.nullable for part in parts
            ):
                return self._state(BesideValue(text, data))
            case Within() | Partial() | Continuation() | Limited():
                return self._state(BesideValue(text, data))
            case _:
                return text

    # Text

    def _build_parallel(self, state: int, term: Parallel) -> None:
        found = split(term)
        states = {target: self._state(Text(False, target)) for target in found.targets}
        if not found.beyond and sum(high - low + 1 for low, high, _ in found.ascii) <= 8:
            points = [
                (point, states[target])
                for low, high, target in found.ascii
                for point in range(low, high + 1)
            ]
            self._rows.override(state, 0, dict(points))
            return
        row = np.full(256, DEAD, np.int32)
        for low, high, target in found.ascii:
            row[low : high + 1] = states[target]
        sets = tuple((some, states[target]) for some, target in found.beyond)
        if len(sets) == 1 and sets[0][0].ranges == ((0x80, LAST),):
            row[FIRST_LEAD : LAST_LEAD + 1] = self._spelled.tail(sets[0][1])
        elif sets:
            for byte, follow in self._sets.lead_bytes(sets).items():
                row[byte] = follow
        self._rows.store(state, row, None)

    def _build_text(self, state: int, key: Text) -> None:
        inside, term = key
        found = split(term)
        row = np.full(256, DEAD, np.int32)
        states = {target: self._state(Text(inside, target)) for target in found.targets}
        for low, high, target in found.ascii:
            first = max(low, 0x20) if inside else low
            if first <= high:
                row[first : high + 1] = states[target]
        if len(found.beyond) == 1 and size(found.beyond[0][0]) == BEYOND_ASCII:
            row[FIRST_LEAD : LAST_LEAD + 1] = self._spelled.tail(states[found.beyond[0][1]])
        elif found.beyond:
            self._spelled.lead_bytes(row, inside, term)
        if inside:
            row[QUOTE] = row[BACKSLASH] = DEAD
            if any(escapable(term)):
                row[BACKSLASH] = self._state(Escape(term))
            name = label(term)
            if name:
                row[QUOTE] = self._state(End(name))
        self._rows.store(state, row, self._trunk(key))

    # Words

    def _build_names(self, state: int, term: Regular) -> bool:
        """Build a node of a trie of names; False if the names are not ASCII or lie beside others
        that are neither none nor all.

        Besides the listed names, either no name or any other name is allowed. So the row is that of
        the other names, except for the few bytes that continue a listed one.
        """
        if not isinstance(term, Tagged) or not term.named or not isinstance(term.parts[0], Words):
            return False
        node, others = term.parts[0], term.parts[1:]
        if any(p is not EMPTY and p is not ANYTHING for p in others) or not node.table.ascii:
            return False
        rest = tagged((EMPTY, *others), named=True)
        trunk = 0 if rest is EMPTY else self.row_of(Text(True, rest))
        first = node.low + node.nullable
        overrides: dict[int, int] = {}
        alone = rest is EMPTY
        escaped = not alone
        for point, _, child in word_arcs(node):
            escaped |= not node.table.bare or must_escape(point)
            if not must_escape(point):
                following = Text(True, tagged((child, *others), named=True))
                overrides[point] = self._named(following, child.low, child.high, alone)
        if escaped:
            overrides[BACKSLASH] = self._named(Escape(term), first, node.high, alone)
        if node.nullable:
            overrides[QUOTE] = self._state(End(label(term)))
        self._rows.override(state, trunk, overrides)
        return True

    def _build_digits_of_words(self, state: int, key: Hex) -> bool:
        """Build a place in the digits of an escape that begins a character of some ASCII words, and
        of nothing else; False elsewhere."""
        node, others = key.term, None
        if isinstance(node, Tagged) and node.named:
            node, *others = node.parts
        if not isinstance(node, Words) or any(p is not EMPTY for p in others or ()):
            return False
        if not node.table.ascii or key.left == 0:
            return False
        _, base, left = key
        step = 1 << (4 * (left - 1))
        blocks: dict[int, list[Words]] = {}
        for point, _, child in word_arcs(node):
            if base <= point < base + 16 * step and (not node.table.bare or must_escape(point)):
                blocks.setdefault((point - base) // step, []).append(child)
        overrides: dict[int, int] = {}
        for digit, children in blocks.items():
            low, high = children[0].low, children[-1].high
            if left > 1:
                after: Text | Hex = key._replace(base=base + digit * step, left=left - 1)
            elif others is None:
                after = Text(True, children[0])
            else:
                after = Text(True, tagged((children[0], *others), named=True))
            if others is None or left == 1:
                target = self._state(after)
            else:
                target = self._named(after, low, high, True)
            overrides |= dict.fromkeys(WRITTEN[digit], target)
        self._rows.override(state, 0, overrides)
        return True

    def _trunk(self, key: Key) -> int | None:
        """The base row that the row of `key` differs from in few bytes: that of `key` without its
        words. None if there is no such row."""
        if isinstance(key, Spaced | ChoiceState):
            return 0
        if isinstance(key, Padded):
            return int(self._rows.base[key.target])
        if not isinstance(key, Text | Escape | Hex):
            return None
        term = key.term
        if isinstance(term, Words):
            return 0
        if not isinstance(term, Tagged) or not term.named or term.parts[0] is EMPTY:
            return None
        rest = tagged((EMPTY, *term.parts[1:]), named=True)
        if rest is EMPTY:
            return 0
        return self.row_of(key._replace(term=rest))
