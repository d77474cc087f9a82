"""Bounds on the number of tokens of a text, which the machine cannot count since it reads bytes.

The matcher counts the tokens of the current text. As long as there are fewer than the bound, the
configuration of the machine does not change. At the bound, the text can only end, which is another
configuration. So a bound costs one configuration, however large it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from maskwright.automaton.machine.exits import Configuration
from maskwright.automaton.rules.contexts import RuleContexts
from maskwright.errors import UnspellableError
from maskwright.immutable import Immutable
from maskwright.mask.budget.masks import BudgetMasks
from maskwright.mask.matcher.matcher import ForcedText, Matcher
from maskwright.mask.position import Position
from maskwright.mask.recognizer import Recognizer
from maskwright.mask.walk.row_table import RowTable, packed
from maskwright.mask.walker import Walker


class Narrowed(Position):
    """A position whose mask allows the tokens of `moves` alone, and no others that its
    configuration has."""

    __slots__ = ()

    def __init__(
        self, configuration: Configuration, moves: Mapping[int, Position], table: RowTable
    ) -> None:
        super().__init__(configuration)
        for token, following in moves.items():
            self.keep(token, following)
        allowed = np.zeros(32 * table.words, np.bool_)
        allowed[list(moves)] = True
        self.row = table.number(packed(allowed))


class Unfinished(Narrowed):
    """A position within a character at which a text reaches its bound. Only the rest of this
    character may follow."""

    __slots__ = ()


class Led(Narrowed):
    """A position in a text that has had all its tokens, in which `rest` has to be said before it
    ends. The configuration allows the end at once as well, for a budget of tokens that doesn't
    suffice for more."""

    __slots__ = ("rest",)

    def __init__(
        self,
        configuration: Configuration,
        rest: bytes,
        moves: Mapping[int, Position],
        table: RowTable,
    ) -> None:
        super().__init__(configuration, moves, table)
        self.rest: Final = rest
        self.variant = len(rest)


class Counted(Immutable):
    """The position after a token, and the number of tokens of the bounded text there."""

    position: Position
    tokens: int


class TokenCounts:
    """Counts the tokens of bounded texts for one recognizer."""

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
        """Return the position and count after a token with the bytes `data`, accepted at `here`.

        `tokens`: the tokens of the bounded text before it. `following`: the position after the
        token without a bound. `read_prefix` returns the text up to `here`."""
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
        """Return how many bytes of a token belong to the text in which it ends; None if this is the
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
        """Return the position in which a text can only end, if `tokens` tokens reach its bound."""
        here = position.configuration
        key = (here, tokens)
        known = self._closed.get(key)
        if known is None:
            with self._recognizer:
                known = self._closed[key] = self._closed_at(here, tokens)
        return known

    def _closed_at(self, here: Configuration, tokens: int) -> Position:
        recognizer = self._recognizer
        context = int(recognizer.machine.arrays.node_context[here.node])
        exit = self._contexts.exit_at_token_limit(context, here.leaf, tokens)
        if exit is not None:
            closed = recognizer.take_exit(exit, here.node)
            assert closed is not None, "an exit that ends a text"
            last = self._contexts.last_at_token_limit(context, here.leaf, tokens)
            return self._led(closed, last.encode())
        moves: dict[int, Position] = {}
        for token, size in self._continuing:
            following = self._completed(here, recognizer.vocabulary.spellings[token], size, tokens)
            if following is not None:
                moves[token] = following
        return Unfinished(here, moves, recognizer.tables.rows)

    def _completed(
        self, here: Configuration, data: bytes, size: int, tokens: int
    ) -> Position | None:
        """Return the position after a token that completes the character at `here` with `size`
        bytes and then ends the text; None if it is not allowed."""
        inside = self._recognizer.advance(here, data[:size])
        if inside is None:
            return None
        closed = self._close(self._recognizer.position(inside), tokens)
        if size == len(data):
            return closed
        if isinstance(closed, Unfinished):
            return None
        if isinstance(closed, Led):
            said = self._recognizer.advance(closed.configuration, data[size:])
            if said is None or not closed.rest.startswith(data[size:]):
                return None
            return self._led(said, closed.rest[len(data) - size :])
        after = self._recognizer.advance(closed.configuration, data[size:])
        return None if after is None else self._recognizer.position(after)

    def _led(self, here: Configuration, rest: bytes) -> Position:
        """Return the position at which `rest` has to be said, in the tokenizer's own tokens."""
        recognizer = self._recognizer
        try:
            tokens = recognizer.vocabulary.encode(rest)
        except UnspellableError:
            return recognizer.position(here)
        passed: list[tuple[Configuration, bytes, int]] = []
        for token in tokens:
            data = recognizer.vocabulary.tokens[token]
            after = recognizer.advance(here, data)
            assert after is not None, "what is said is part of the language"
            passed.append((here, rest, token))
            here, rest = after, rest[len(data) :]
        following = recognizer.position(here)
        for here, rest, token in reversed(passed):
            following = Led(here, rest, {token: following}, recognizer.tables.rows)
        return following

    @cached_property
    def _continuing(self) -> list[tuple[int, int]]:
        """The tokens that begin within a character, each with the number of its bytes there."""
        sizes = enumerate(map(first_inside, self._recognizer.vocabulary.spellings))
        return [(token, size) for token, size in sizes if size]


def first_inside(data: bytes) -> int:
    """Return how many of the first bytes continue a character."""
    return len(data) - len(data.lstrip(_INNER))


_INNER: Final = bytes(range(0x80, 0xC0))
"""The continuation bytes of UTF-8."""


class CountingMatcher(Matcher):
    """A matcher that stores with each position the number of tokens of the bounded text read so
    far. The bytes of one call of `accept_bytes` count as one token."""

    __slots__ = ("_counts", "_tokens")

    def __init__(self, walker: Walker, budgets: BudgetMasks, counts: TokenCounts) -> None:
        super().__init__(walker, budgets)
        self._counts = counts
        self._tokens = [0]

    @property
    def by_position(self) -> bool:
        return False

    def fill_mask(self, out: npt.NDArray[np.int32], budget: int | None = None) -> None:
        here = self._path[-1]
        if budget is None or not isinstance(here, Narrowed):
            super().fill_mask(out, budget)
            return
        plain = self.recognizer.position(here.configuration)
        self._budgets.fill(plain, budget, out, bytes(self._read()), self._steps)
        narrowed = out & self._walker.tables.rows[here.row]
        if isinstance(here, Unfinished) or narrowed.any():
            out[:] = narrowed

    def accept(self, token: int) -> bool:
        if not super().accept(token):
            return False
        self._count(self.recognizer.vocabulary.spellings[token])
        return True

    def _accept_bytes(self, data: bytes) -> int:
        if not isinstance(self._path[-1], Unfinished):
            taken = super()._accept_bytes(data)
            if taken:
                self._count(data[:taken])
            return taken
        size = first_inside(data)
        taken = super()._accept_bytes(data[:size])
        if taken:
            self._count(data[:taken])
        if taken == size < len(data) and size:
            try:
                taken += self._join(self._accept_bytes(data[size:]))
            except BaseException:
                self.rollback(1)
                raise
        return taken

    def _join(self, taken: int) -> int:
        """Make one step of the last two, if there was one with the last `taken` bytes."""
        if taken:
            self._unread(len(self._steps) - 2)
            self._steps[-2:] = [b"".join(map(bytes, self._steps[-2:]))]  # both are bytes
            del self._path[-2], self._tokens[-2]
        return taken

    def _after(self, token: int) -> Position | None:
        here = self._path[-1]
        if isinstance(here, Unfinished):
            return None
        if isinstance(here, Led):  # the end, for want of tokens
            plain = self.recognizer.position(here.configuration)
            return plain.moved(token) or self._found_after(plain, token)
        return super()._after(token)

    def _count(self, data: bytes) -> None:
        """Replace the position after the last step by the one that its token count allows."""
        here, following = self._path[-2:]
        if following is self.recognizer.ended:
            self._tokens.append(0)
            return
        try:
            counted = self._counts.after(
                here, self._tokens[-1], data, following, lambda: self._read()[: -len(data)]
            )
        except BaseException:
            super().rollback(1)  # a step is taken completely or not at all
            raise
        self._path[-1] = counted.position
        self._tokens.append(counted.tokens)

    def _forced_text(self) -> ForcedText | None:
        here = self._path[-1]
        if isinstance(here, Led):
            end = self.recognizer.advance(here.configuration, here.rest)
            assert end is not None, "what has to be said is part of the language"
            return ForcedText(here.rest, end)
        return None if isinstance(here, Unfinished) else super()._forced_text()

    def next_bytes(self) -> bytes:
        here = self._path[-1]
        return here.rest[:1] if isinstance(here, Led) else super().next_bytes()

    def rollback(self, count: int) -> None:
        super().rollback(count)
        del self._tokens[len(self._path) :]

    def copy(self) -> Matcher:
        twin = CountingMatcher(self._walker, self._budgets, self._counts)
        twin._adopt(self)
        twin._tokens = self._tokens.copy()
        return twin

    def reset(self) -> None:
        self.__init__(self._walker, self._budgets, self._counts)
