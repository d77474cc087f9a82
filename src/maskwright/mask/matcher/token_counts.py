"""Texts that may have so many tokens: what the machine, which reads bytes, can't count.

A matcher counts the tokens of the text that it is in. As long as they are fewer than the bound,
nothing is different; from there on the text can only be ended, which is another configuration of
the machine. So a bound costs one configuration, however large it is.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from maskwright.automaton.machine.exits import Configuration
from maskwright.automaton.rules.contexts import RuleContexts
from maskwright.mask.position import Position
from maskwright.mask.recognizer import Recognizer
from maskwright.mask.walk.row_table import Row, RowTable, packed


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
    """The bounded texts of one recognizer."""

    def __init__(self, recognizer: Recognizer, contexts: RuleContexts) -> None:
        self._recognizer = recognizer
        self._contexts = contexts
        self._closed: dict[tuple[Configuration, int], Position] = {}
        self._held: dict[tuple[Configuration, bytes], int | None] = {}

    def after(
        self,
        here: Position,
        tokens: int,
        data: bytes,
        following: Position,
        read_prefix: Callable[[], bytes | bytearray],
    ) -> Counted:
        """As `following`, to which a token of the bytes `data` leads from `here`, where `tokens`
        have been read of a bounded text; `read_prefix` gives the text up to `here`."""
        limit = self._limit(following.configuration)
        if limit is None:
            return Counted(following, 0)
        held = self._held_by(here.configuration, data, read_prefix)
        tokens = tokens + 1 if held is None else int(held > 0)
        return Counted(following if tokens < limit else self._close(following, tokens), tokens)

    def _limit(self, here: Configuration) -> int | None:
        context = int(self._recognizer.machine.arrays.node_context[here.node])
        return self._contexts.token_limit(context)

    def _held_by(
        self, here: Configuration, data: bytes, read_prefix: Callable[[], bytes | bytearray]
    ) -> int | None:
        """How many bytes a token holds of the text that it ends in; None if it goes on with the
        text in which it begins."""
        key = (here, data)
        if key in self._held:
            return self._held[key]
        text = bytes(read_prefix())
        place, inside = here, self._limit(here) is not None
        start: int | None = None
        for at in range(len(data)):
            following = self._recognizer.advance(place, data[at : at + 1], text + data[:at])
            assert following is not None, "a token that was accepted"
            place, was_inside = following, inside
            inside = self._limit(place) is not None
            if inside and not was_inside:
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
            with self._recognizer.question:
                known = self._closed[key] = self._closed_at(here, tokens)
        return known

    def _closed_at(self, here: Configuration, tokens: int) -> Position:
        recognizer = self._recognizer
        context = int(recognizer.machine.arrays.node_context[here.node])
        exit = self._contexts.exit_at_token_limit(context, here.leaf, tokens)
        if exit is not None:
            closed = recognizer.take_exit(exit, here.node)
            assert closed is not None, "an exit that ends a text"
            return recognizer.position(closed)
        moves: dict[int, Position] = {}
        for token, size in self._continuing:
            following = self._completed(here, recognizer.vocabulary.spellings[token], size, tokens)
            if following is not None:
                moves[token] = following
        allowed = np.zeros(recognizer.vocabulary.size, np.bool_)
        allowed[list(moves)] = True
        position = Unfinished(here, recognizer.tables.rows, packed(allowed))
        position.moves.update(moves)
        return position

    def _completed(
        self, here: Configuration, data: bytes, size: int, tokens: int
    ) -> Position | None:
        """Behind a token that goes on with the character at `here` with `size` bytes, and then
        ends the text."""
        inside = self._recognizer.advance(here, data[:size])
        if inside is None:
            return None
        closed = self._close(self._recognizer.position(inside), tokens)
        if size == len(data):
            return closed
        if isinstance(closed, Unfinished):
            return None
        after = self._recognizer.advance(closed.configuration, data[size:])
        return None if after is None else self._recognizer.position(after)

    @cached_property
    def _continuing(self) -> list[tuple[int, int]]:
        """Each token that begins within a character, and with how many bytes of it."""
        sizes = enumerate(map(first_inside, self._recognizer.vocabulary.spellings))
        return [(token, size) for token, size in sizes if size]


def first_inside(data: bytes) -> int:
    """How many of the first bytes stand inside of a character."""
    return len(data) - len(data.lstrip(_INNER))


_INNER: Final = bytes(range(0x80, 0xC0))
"""The bytes of characters but for the first."""
