"""Masks over a vocabulary that lacks bytes: only tokens from which the vocabulary can go on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from maskwright.automaton.machine.exits import Configuration
from maskwright.mask.budget.token_costs import TokenCosts
from maskwright.mask.budget.verdicts import verdicts
from maskwright.mask.position import Position
from maskwright.mask.shared.leaf_bounds import ENDLESS
from maskwright.mask.walk.walk import PrecomputedMask
from maskwright.mask.walker import Walker


class SpellableWalker(Walker):
    """Computes masks without the tokens after which no tokens lead to the end of a text, and
    refuses to move there."""

    def __init__(self, costs: TokenCosts) -> None:
        super().__init__(costs.walker.recognizer)
        self._costs: Final = costs
        self.positions = None  # whether a token is allowed depends on the text

    def find_lacking(
        self,
        read_prefix: Callable[[], bytes | bytearray],
        position: Position,
        stopped: PrecomputedMask | None,
    ) -> None:
        del stopped
        with self.recognizer:
            if position.row < 0:
                here = position.configuration
                row = self._spellable_row(here, self._walk(here), bytes(read_prefix()))
                self._set_row(position, row)

    def measure(self, position: Position, read_prefix: Callable[[], bytes | bytearray]) -> None:
        self.find(position, read_prefix)
        position.sufficient_budget = 1 + ENDLESS  # one byte may take several tokens

    def after(
        self, position: Position, token: int, read_prefix: Callable[[], bytes | bytearray]
    ) -> Position | None:
        recognizer = self.recognizer
        here, by_text = recognizer.take_token(position.configuration, token, read_prefix)
        if here is None:
            return None
        text = bytes(read_prefix()) + self.tables.vocabulary.spellings[token]
        if not self._costs.is_spellable(here, text):
            return None
        following = recognizer.position(here)
        if not by_text:
            position.keep(token, following)
        return following

    def _spellable_row(self, here: Configuration, row: int, prefix: bytes) -> int:
        """The number of the row that is left of `row`. Raises `UnspellableError` if none is."""
        costs, rows = self._costs, self.tables.rows

        def is_spellable(target: Configuration, text: bytes, _: int) -> bool:
            return costs.is_spellable(target, text)

        groups = self.tokens_needing_more_than(here, 0)
        refused = groups.tokens[~verdicts(costs, here, prefix, groups, is_spellable)]
        left = rows[row]
        np.bitwise_and.at(left, refused >> 5, ~(np.int32(1) << (refused & 31)))
        if not left.any():
            costs.tokens_needed(here, prefix)  # raises the error that names what is missing
        return rows.number(left)
