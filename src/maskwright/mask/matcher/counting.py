"""A matcher for grammars that bound the number of tokens of a text."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from maskwright.mask.budget.masks import BudgetMasks
from maskwright.mask.matcher.forced import ForcedText
from maskwright.mask.matcher.matcher import Matcher
from maskwright.mask.matcher.token_counts import (
    Led,
    Narrowed,
    TokenCounts,
    Unfinished,
    first_inside,
)
from maskwright.mask.position import Position
from maskwright.mask.walker import Walker


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
            self._steps[-2:] = [b"".join(map(bytes, self._steps[-2:]))]  # both are bytes
            del self._path[-2], self._tokens[-2]
            del self._ends[len(self._steps) :]
            del self._text[self._ends[-1] :]
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
            position, tokens = self._counts.after(
                here, self._tokens[-1], data, following, lambda: self._read()[: self._ends[-2]]
            )
        except BaseException:
            super().rollback(1)  # a step is taken completely or not at all
            raise
        self._path[-1] = position
        self._tokens.append(tokens)

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
