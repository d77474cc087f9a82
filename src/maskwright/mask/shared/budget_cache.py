"""A cache of completions and masks within token budgets, for all grammars of one machine.

Most keys are configurations. Where items must differ, the tokens needed depend on the text too;
then the key is a configuration with a digest of the text, and the oldest of these entries are
dropped.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from maskwright.automaton.machine.exits import Configuration
from maskwright.immutable import Acyclic
from maskwright.mask.position import Position

MOST_TEXTS: Final = 20_000
"""Most entries that depend on the text."""

MOST_ROW_BYTES: Final = 8 << 20
"""Most bytes of stored masks."""

NO_TOKEN: Final = -1

_TOKEN_BYTES: Final = 8
"""What a token takes in a list."""

MOST_BUDGET: Final = 1 << 60
"""A budget that nobody has."""

Place = Configuration | tuple[Configuration, bytes]
"""The key of an entry: a configuration without the names that make no difference (see
`mask.budget.places`), with a digest of the text if that does."""


class MasksByBudget(Acyclic):
    """The masks of one position for every budget, from the smallest to none."""

    needs: list[int]
    """Ascending: the tokens that may be needed after the next one. With more tokens left after it
    than the last of them, nothing is refused."""
    rows: npt.NDArray[np.int32]
    """[1 + len(needs), words]: row n is the mask where `needs[n - 1]` tokens are left after the
    next one, but not `needs[n]`."""
    has_all: bool = True
    """Whether the mask for a budget that is large enough has every token."""
    names_matter: bool = False
    """Whether they may be others where further names have been read."""

    @classmethod
    def of(
        cls,
        row: npt.NDArray[np.int32],
        tokens: npt.NDArray[np.int32],
        needs: npt.NDArray[np.int64],
        never: int = MOST_BUDGET,
        *,
        names_matter: bool = False,
    ) -> MasksByBudget:
        """Of a mask `row` (int32 [words]), whose `tokens` [n] need so many more each; tokens that
        are not listed need none, and those that need `never` are in no mask."""
        kept = needs < never
        has_all = bool(kept.all())
        if not has_all:
            row = _without(row, tokens[~kept])
            tokens, needs = tokens[kept], needs[kept]
        steps = np.flatnonzero(np.bincount(needs))
        step = np.searchsorted(steps, needs)
        rows = np.zeros((1 + len(steps), len(row)), np.int32)
        np.bitwise_or.at(rows, (1 + step, tokens >> 5), np.int32(1) << (tokens & 31))
        rows[0] = row & ~np.bitwise_or.reduce(rows, axis=0)
        rows = np.bitwise_or.accumulate(rows, axis=0)
        return cls(steps.tolist(), rows, has_all, names_matter)

    def mask(self, budget: int) -> npt.NDArray[np.int32]:
        """The mask of a text that may go on for `budget` tokens, the next one included."""
        return self.rows[bisect_right(self.needs, budget - 1)]

    def fill(self, budget: int, out: npt.NDArray[np.int32]) -> bool:
        """Write the mask under a budget to `out` (int32 [words]); False if it has no token."""
        out[:] = self.mask(budget)
        return bool(out.any())

    def scope(self, budget: int) -> tuple[int, int]:
        """The lowest and the highest budget that has the mask of `budget`."""
        step = bisect_right(self.needs, budget - 1)
        low = self.needs[step - 1] + 1 if step else 0
        return low, self.needs[step] if step < len(self.needs) else MOST_BUDGET


def _without(row: npt.NDArray[np.int32], tokens: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """A mask without some tokens."""
    left = row.copy()
    np.bitwise_and.at(left, tokens >> 5, ~(np.int32(1) << (tokens & 31)))
    return left


class BudgetCache:
    """The cache. Not thread-safe: the lock of the vocabulary's tables guards it."""

    def __init__(self) -> None:
        self.needed: Final[dict[Place, int]] = {}
        """The number of tokens of the shortest known completion."""
        self.first: Final[dict[Place, int]] = {}
        """The first token of that completion, NO_TOKEN if it has none."""
        self.ways: Final[dict[Place, Sequence[int]]] = {}
        """The tokens of completions that have not been followed beyond a place."""
        self.onward: Final[dict[Place, Sequence[int]]] = {}
        """The tokens after the first one of a completion, where the text decides after that one,
        but not at the place itself: what is found after it for one text holds for all texts at the
        place, and later ones may find more tokens."""
        self.onward_bytes = 0
        """Bytes of all of these."""
        self.unspellable: Final[set[Place]] = set()
        """Places from which no tokens complete the text."""
        self.masks: dict[Position, MasksByBudget | None] = {}
        """The masks of positions; None if a position has none, because its masks depend on the text
        or it has too many successors."""
        self.mask_bytes = 0
        """Bytes of all `masks`."""
        self._by_text: dict[Place, None] = {}
        """The places that depend on the text, the oldest first."""

    def record(self, place: Place, needed: int, first: int = NO_TOKEN) -> bool:
        """Store a completion from a place. Returns False if one that is as short is known."""
        known = self.needed.get(place)
        if known is not None:
            if needed >= known:
                return False
            self.forget_masks()  # they may refuse a token that the new completion allows
            self.onward_bytes -= _TOKEN_BYTES * len(self.onward.pop(place, ()))
        self.needed[place] = needed
        self.first[place] = first
        if not isinstance(place, Configuration):
            self._by_text[place] = None
            if len(self._by_text) > MOST_TEXTS:
                self.forget(next(iter(self._by_text)))
        return True

    def record_onward(self, place: Place, first: int, rest: Sequence[int]) -> None:
        """Store the tokens after `first`, after which the text decides, if the shortest known
        completion from a place consists of these."""
        is_known = self.first.get(place) == first and self.needed[place] == 1 + len(rest)
        if is_known and isinstance(place, Configuration) and place not in self.onward:
            self.onward[place] = rest
            self.onward_bytes += _TOKEN_BYTES * len(rest)

    def forget(self, place: Place) -> None:
        """Drop what is known of a place, if it depends on the text."""
        if place in self._by_text:
            del self._by_text[place], self.needed[place], self.first[place]
            self.ways.pop(place, None)

    def keep_masks(self, position: Position, masks: MasksByBudget | None) -> None:
        """Store the masks of a position. The oldest are dropped if there are too many."""
        size = 0 if masks is None else masks.rows.nbytes
        while size and self.masks and self.mask_bytes + size > MOST_ROW_BYTES:
            oldest = self.masks.pop(next(iter(self.masks)))
            self.mask_bytes -= 0 if oldest is None else oldest.rows.nbytes
        self.mask_bytes += size
        self.masks[position] = masks

    def forget_masks(self) -> None:
        """Drop the masks of all positions."""
        self.masks = {}
        self.mask_bytes = 0
