"""Building the rows of leaf states: where each byte leads from a place.

A state is built when it is first needed. A row that differs from another base row, its *trunk*, in
only a few bytes is stored as these differences.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from maskwright.automaton.leaf.keys import (
    Begun,
    BesideValue,
    End,
    Entry,
    Key,
    LiteralState,
    Padded,
    Skipped,
    Spaced,
    Text,
    TokenId,
    TokenRead,
)
from maskwright.automaton.leaf.rows import Row
from maskwright.automaton.leaf.states import LeafStates
from maskwright.grammar.regular.terms import EMPTY, Parallel, Tagged, Words, tagged

_SPACES: Final = b" \t\n\r"


class LeafBuilder:
    """Fills the rows of states; `keys` says what each stands for."""

    def __init__(self, states: LeafStates, keys: Sequence[Key]) -> None:
        self._states = states
        self._rows = states.rows
        self._keys = keys
        self._state = states.state

    def build(self, state: int, key: Key) -> None:
        """Give `state` its row, that of a structural place."""
        match key:
            case LiteralState():
                self._rows.override(state, 0, {key.data[0]: self._rest(key)})
            case Entry():
                self._build_entry(state, key)
            case _:
                self._rows.fill(state, self._row(key), self._trunk(key))

    def row_of(self, key: Key) -> int:
        """The number of the base row of a key's state."""
        state = self._state(key)
        self._states.build(state)
        return int(self._rows.base[state])

    def next_states(self, state: int) -> Row:
        """Byte → next state."""
        self._states.build(state)
        return self._rows.next_states(state)

    def _row(self, key: Key) -> Row:
        match key:
            case Spaced(left=left) | Padded(left=left):
                follow = {} if isinstance(key, Spaced) else self.next_states(key.target)
                if left:
                    shorter = self._state(replace(key, left=left - 1))
                    self._states.build(shorter)  # a token may run through all of them
                    follow = follow | dict.fromkeys(_SPACES, shorter)
                return follow
            case TokenId():
                return self._token_row(key)
            case BesideValue(text=text, data=data):
                return {
                    byte: self.beside_value(target, data + bytes([byte]))
                    for byte, target in self.next_states(text).items()
                }
            case _:
                return {}  # an end, or nothing at all

    def _rest(self, key: LiteralState) -> int:
        rest = key.data[1:]
        return self._state(LiteralState(rest, key.target)) if rest else key.target

    def _build_entry(self, state: int, key: Entry) -> None:
        """Build the row of the text, overridden by the marks."""
        trunk, overrides = 0, dict(key.marks)
        if key.text is not EMPTY:
            text = self._state(Text(False, key.text))
            self._states.build(text)
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
            case Begun() | Skipped():
                return self._state(BesideValue(text, data))
            case _:
                return text

    def _trunk(self, key: Key) -> int | None:
        """The base row that the row of `key` differs from in few bytes; None if there is none."""
        if isinstance(key, Spaced):
            return 0
        return int(self._rows.base[key.target]) if isinstance(key, Padded) else None

    def trunk_of(self, key: Text | Begun) -> int | None:
        """The base row that the row of a place in a list of words differs from in few bytes: that
        of `key` without the words. None if there is no such row."""
        term = key.term
        if isinstance(term, Words | Parallel):
            return 0
        if not isinstance(term, Tagged) or not term.named or term.parts[0] is EMPTY:
            return None
        rest = tagged((EMPTY, *term.parts[1:]), named=True)
        if rest is EMPTY:
            return 0
        return self.row_of(replace(key, term=rest))
