"""A verdict on each token of a mask, by the text that it would lead to; and masks over a vocabulary
that lacks bytes: only tokens from which the vocabulary can go on.

Tokens that lead to one configuration mostly share a verdict, so the first speaks for its group.
Where items must differ, the text makes a difference too: the tokens of small groups are checked
one by one, and in others the first speaks for all if it passes with a margin. Tokens after which
the usual completion would repeat a name of the text are always checked one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
import numpy.typing as npt

from maskwright.automaton.machine.exits import Configuration
from maskwright.mask.budget.token_costs import TokenCosts
from maskwright.mask.position import Position
from maskwright.mask.shared.leaf_bounds import ENDLESS
from maskwright.mask.walk.walk import PrecomputedMask
from maskwright.mask.walker import TokenGroups, Walker

MOST_CHECKED: Final = 16
"""Most tokens of one group checked individually when the verdict depends on the text."""
MARGIN: Final = 8
"""Tokens to spare with which one token of a large group passes for all of it. That no other one
needs so many more is not proven: it has other values or names to differ from, for which a character
more mostly suffices."""

Verdict = Callable[[Configuration, bytes, int], bool]
"""Asked for a configuration, the text up to there, and a margin in tokens."""


def verdicts(
    costs: TokenCosts, here: Configuration, prefix: bytes, groups: TokenGroups, verdict: Verdict
) -> npt.NDArray[np.bool_]:
    """The verdict on each of `groups.tokens` (bool [n]) at `here`, after the text `prefix`.

    A large group whose first token fails with the margin has its first `MOST_CHECKED` tokens
    checked, and the others fail.
    """
    spellings = costs.walker.tables.vocabulary.spellings
    advance = costs.walker.recognizer.advance
    tokens, targets, group = groups.tokens, groups.targets, groups.group
    passed = np.zeros(len(tokens), np.bool_)
    # Numbers of 16 bits are sorted in one pass, and there are seldom more groups.
    group = group.astype(np.uint16) if len(targets) < 1 << 16 else group
    order = np.argsort(group, kind="stable")
    stops = np.searchsorted(group[order], np.arange(len(targets)), side="right").tolist()
    for start, stop, target in zip([0, *stops], stops, targets, strict=False):
        members = order[start:stop]
        apart = costs.repeating(here, prefix, target, tokens[members])
        for at in members[apart].tolist():
            data = spellings[int(tokens[at])]
            reached = advance(here, data, prefix)
            passed[at] = reached is not None and verdict(reached, prefix + data, 0)
        members = np.delete(members, apart)
        if not len(members):
            continue
        if costs.places.shares_costs(here, target):
            passed[members] = verdict(target, prefix + spellings[int(tokens[members[0]])], 0)
            continue
        checked = 0
        for at in members.tolist():
            data = spellings[int(tokens[at])]
            text = prefix + data
            reached = advance(here, data, prefix)
            passed[at] = reached is not None and verdict(reached, text, 0)
            if reached is None or reached != target:
                continue  # ends a value that must differ: the walk passed that without the text
            if not costs.places.depends_on_text(reached):
                passed[members] = passed[at]
                break
            checked += 1
            if len(members) > MOST_CHECKED:
                if checked == 1 and verdict(reached, text, MARGIN):
                    passed[members] = True
                    break
                if checked == MOST_CHECKED:
                    break
    return passed


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
