"""Texts that may have so many tokens: what the machine, which reads bytes, can't count.

A matcher counts the tokens of the text that it is in. As long as they are fewer than the bound,
nothing is different; from there on the text can only be ended, which is another configuration of
the machine. So a bound costs one configuration, however large it is.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from maskwright.automaton.machine.exits import Configuration
from maskwright.mask.position import Position
from maskwright.mask.walk.row_table import Row, RowTable, packed

if TYPE_CHECKING:
    from collections.abc import Callable

    from maskwright.automaton.rules.contexts import RuleContexts
    from maskwright.mask.grammar import Grammar


class Unfinished(Position):
    """Within a character with which a text reaches its bound: only what completes it may follow."""

    __slots__ = ()

    def __init__(self, configuration: Configuration, table: RowTable, row: Row) -> None:
        super().__init__(configuration)
        self.row = table.number(row)
        self.record = table.address(self.row)


class Counted(NamedTuple):
    """Where a token leads, and the tokens read of the text that is bounded there."""

    position: Position
    tokens: int


class TokenCounts:
    """The bounded texts of one grammar."""

    def __init__(self, grammar: Grammar, contexts: RuleContexts) -> None:
        self._grammar = grammar
        self._contexts = contexts
        self._closed: dict[tuple[Configuration, int], Position] = {}
        self._held: dict[tuple[Configuration, bytes], int | None] = {}

    def behind(
        self,
        here: Position,
        tokens: int,
        data: bytes,
        following: Position,
        before: Callable[[], bytes | bytearray],
    ) -> Counted:
        """As `following`, to which a token of the bytes `data` leads from `here`, where `tokens`
        have been read of a bounded text; `before` gives the text up to `here`."""
        limit = self._limit(following.configuration)
        if limit is None:
            return Counted(following, 0)
        held = self._held_by(here.configuration, data, before)
        tokens = tokens + 1 if held is None else int(held > 0)
        return Counted(following if tokens < limit else self._close(following, tokens), tokens)

    def _limit(self, here: Configuration) -> int | None:
        context = int(self._grammar.machine.arrays.node_context[here.node])
        return self._contexts.token_limit(context)

    def _held_by(
        self, here: Configuration, data: bytes, before: Callable[[], bytes | bytearray]
    ) -> int | None:
        """How many bytes a token holds of the text that it ends in; None if it goes on with the
        text in which it begins."""
        key = (here, data)
        if key in self._held:
            return self._held[key]
        text = bytes(before())
        place, within = here, self._limit(here) is not None
        start: int | None = None
        for at in range(len(data)):
            following = self._grammar.advance(place, data[at : at + 1], text + data[:at])
            assert following is not None, "a token that was accepted"
            place, before_it = following, within
            within = self._limit(place) is not None
            if within and not before_it:
                start = at + 1
        held = None if start is None else len(data) - start
        self._held[key] = held
        return held

    def _close(self, position: Position, tokens: int) -> Position:
        """Where a text can only be ended once it has had `tokens` tokens."""
        here = position.configuration
        key = (here, tokens)
        known = self._closed.get(key)
        if known is None:
            with self._grammar.space.lock:
                known = self._closed[key] = self._closed_at(here, tokens)
        return known

    def _closed_at(self, here: Configuration, tokens: int) -> Position:
        grammar = self._grammar
        context = int(grammar.machine.arrays.node_context[here.node])
        found = self._contexts.exit_at_token_limit(context, here.leaf, tokens)
        if found is not None:
            return grammar.position(grammar.entered(found, here.node))
        moves: dict[int, Position] = {}
        for token, size in self._continuing:
            following = self._completed(here, grammar.vocabulary.spellings[token], size, tokens)
            if following is not None:
                moves[token] = following
        allowed = np.zeros(grammar.vocabulary.size, np.bool_)
        allowed[list(moves)] = True
        position = Unfinished(here, grammar.space.table, packed(allowed))
        position.moves.update(moves)
        return position

    def _completed(
        self, here: Configuration, data: bytes, size: int, tokens: int
    ) -> Position | None:
        """Behind a token that goes on with the character at `here` with `size` bytes, and then
        ends the text."""
        inside = self._grammar.advance(here, data[:size])
        if inside is None:
            return None
        closed = self._close(self._grammar.position(inside), tokens)
        if size == len(data):
            return closed
        if isinstance(closed, Unfinished):
            return None
        behind = self._grammar.advance(closed.configuration, data[size:])
        return None if behind is None else self._grammar.position(behind)

    @cached_property
    def _continuing(self) -> list[tuple[int, int]]:
        """Each token that begins within a character, and with how many bytes of it."""
        sizes = enumerate(map(first_inside, self._grammar.vocabulary.spellings))
        return [(token, size) for token, size in sizes if size]


def first_inside(data: bytes) -> int:
    """How many of the first bytes stand inside of a character."""
    return len(data) - len(data.lstrip(_INNER))


_INNER: Final = bytes(range(0x80, 0xC0))
"""The bytes of characters but for the first."""
