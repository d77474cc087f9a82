"""What is remembered about token budgets, for all grammars of one machine.

Most of it belongs to a configuration. Where items must differ, the tokens needed depend on the text
too; then it belongs to a configuration with a digest of the text, and is forgotten in time.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from maskwright.automaton.machine.exits import Configuration
from maskwright.mask.position import Position

MOST_TEXTS: Final = 20_000
"""Places remembered that belong to one text alone."""

MOST_ROW_BYTES: Final = 4 << 20
"""Bytes of the masks that are remembered."""

NO_TOKEN: Final = -1

Place = Configuration | tuple[Configuration, bytes]
"""The key of what is remembered: a configuration, with a digest of the text if items must
differ."""


class MasksByBudget(NamedTuple):
    """The masks of one position under every budget, from the strictest to the one without."""

    needs: list[int]
    """Ascending: the tokens that may be needed after the next one. With more tokens left after it
    than the last of them, nothing is refused."""
    rows: npt.NDArray[np.int32]
    """[1 + len(needs), words]: row n is the mask where `needs[n - 1]` tokens are left after the
    next one, but not `needs[n]`."""

    @classmethod
    def of(
        cls,
        row: npt.NDArray[np.int32],
        tokens: npt.NDArray[np.int32],
        needs: npt.NDArray[np.int64],
    ) -> MasksByBudget:
        """Of a mask `row` (int32 [words]), whose `tokens` [n] need so many more each; tokens that
        are not listed need none."""
        steps, step = np.unique(needs, return_inverse=True)
        rows = np.zeros((1 + len(steps), len(row)), np.int32)
        np.bitwise_or.at(rows, (1 + step, tokens >> 5), np.int32(1) << (tokens & 31))
        rows[0] = row & ~np.bitwise_or.reduce(rows, axis=0)
        return cls(steps.tolist(), np.bitwise_or.accumulate(rows, axis=0))

    def mask(self, budget: int) -> npt.NDArray[np.int32]:
        """The mask of a text that may go on for `budget` tokens, the next one included."""
        return self.rows[bisect_right(self.needs, budget - 1)]


class BudgetCache:
    """Not thread-safe: the lock of the vocabulary's tables guards it."""

    def __init__(self) -> None:
        self.needed: Final[dict[Place, int]] = {}
        """Tokens that complete the text, along the best way that is known."""
        self.first: Final[dict[Place, int]] = {}
        """The first token of that way, NO_TOKEN at its end."""
        self.ways: Final[dict[Place, Sequence[int]]] = {}
        """The tokens of ways that have not been followed beyond a place."""
        self.unspellable: Final[set[Place]] = set()
        """Places from which no tokens lead to the end of a text."""
        self.masks: dict[Position, MasksByBudget | None] = {}
        """None where a position has none: the text makes a difference to its masks, or it has too
        many successors."""
        self.mask_bytes = 0
        """Bytes of all `masks`."""
        self._by_text: dict[Place, None] = {}
        """The places that belong to one text alone, the oldest first."""

    def record(self, place: Place, needed: int, first: int = NO_TOKEN) -> bool:
        """Remember a way from a place to the end of the text; False if one as short is known."""
        known = self.needed.get(place)
        if known is not None:
            if needed >= known:
                return False
            self.forget_masks()  # they may refuse a token that fits along the new way
        self.needed[place] = needed
        self.first[place] = first
        if not isinstance(place, Configuration):
            self._by_text[place] = None
            if len(self._by_text) > MOST_TEXTS:
                self._forget(next(iter(self._by_text)))
        return True

    def _forget(self, place: Place) -> None:
        del self._by_text[place], self.needed[place], self.first[place]
        self.ways.pop(place, None)

    def keep_masks(self, position: Position, masks: MasksByBudget | None) -> None:
        """Remember the masks of a position; the others are forgotten if there are too many."""
        size = 0 if masks is None else masks.rows.nbytes
        if size and self.mask_bytes + size > MOST_ROW_BYTES:
            self.forget_masks()
        self.mask_bytes += size
        self.masks[position] = masks

    def forget_masks(self) -> None:
        """Forget the masks of every position."""
        self.masks = {}
        self.mask_bytes = 0
