"""The positions of a grammar as a table of states is made of them: of a grammar in this process,
which is expanded by trying tokens, and of one in a grammar process, as far as it has been learned.
"""

from __future__ import annotations

from collections.abc import Hashable
from contextlib import suppress
from typing import Final

import numpy as np
import numpy.typing as npt

from maskwright.engine.on_device.automaton import Moves
from maskwright.errors import MaskwrightError
from maskwright.mask import Matcher
from maskwright.mask.matcher.forced import ForcedRun
from maskwright.mask.position import Position
from maskwright.processes.ahead import AMPLE
from maskwright.processes.follower import FollowedGrammar
from maskwright.processes.learned import LearnedPosition
from maskwright.processes.messages import ENDLESS
from maskwright.sampling import Mask

MOST_TRIED: Final = 4_096
"""Tokens of a mask up to which each is tried: that takes some milliseconds. Wider masks are mostly
those inside of free strings, where a text stops in the table."""


class MatcherSite:
    """A position of a grammar in this process. Its matcher belongs to it alone. What takes too much
    is not known: its error is the matter of the text that gets there."""

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher
        self._mask: tuple[Mask, int] | None = None

    @property
    def key(self) -> Hashable:
        return self._matcher.position

    @property
    def complete(self) -> bool:
        return self._matcher.complete

    def run(self) -> ForcedRun | None:
        with suppress(MaskwrightError):
            run = self._matcher.forced_run()
            return run if run.shared else None
        return None

    def mask(self) -> tuple[Mask, int] | None:
        if self._mask is None and self._matcher.by_position:
            mask = np.zeros(self._matcher.recognizer.vocabulary.words, np.int32)
            with suppress(MaskwrightError):
                self._matcher.fill_mask(mask, AMPLE)
                low, high, shared = self._matcher.mask_scope(AMPLE)
                if high >= ENDLESS and shared:
                    self._mask = mask, low
        return self._mask

    def after(self, token: int) -> MatcherSite | None:
        if not self._step(token):
            return None
        following = MatcherSite(self._matcher.copy())
        self._matcher.rollback(1)
        return following

    def moves(self) -> Moves:
        found = self.mask()
        tokens = _NO_TOKENS if found is None else _allowed(found[0])
        if len(tokens) > MOST_TRIED:
            tokens = _NO_TOKENS
        eos = self._matcher.recognizer.vocabulary.eos
        numbers: dict[Position, int] = {}
        targets: list[MatcherSite | None] = [None]
        known: list[int] = []
        groups: list[int] = []
        for token in tokens.tolist():
            if token in eos:
                known.append(token)
                groups.append(0)
            elif self._step(token):
                position = self._matcher.position
                if position not in numbers:
                    numbers[position] = len(targets)
                    targets.append(MatcherSite(self._matcher.copy()))
                known.append(token)
                groups.append(numbers[position])
                self._matcher.rollback(1)
        return Moves(np.array(known, np.int32), np.array(groups, np.intp), targets)

    def _step(self, token: int) -> bool:
        """Accept a token; False, and nothing changes, where it leads depends on the text."""
        before, taken = self._matcher.position, False
        with suppress(MaskwrightError):
            taken = self._matcher.accept(token)
        if not taken:
            return False
        if before.moves.get(token) is self._matcher.position and self._matcher.by_position:
            return True
        self._matcher.rollback(1)
        return False


class LearnedSite:
    """A position of a grammar in a grammar process."""

    def __init__(self, grammar: FollowedGrammar, position: LearnedPosition) -> None:
        self._grammar = grammar
        self._position = position

    @property
    def key(self) -> Hashable:
        return self._position

    @property
    def complete(self) -> bool:
        return self._position.complete

    def run(self) -> ForcedRun | None:
        return self._position.run

    def mask(self) -> tuple[Mask, int] | None:
        row = self._position.row
        return None if row is None else (row, self._position.sufficient_budget)

    def after(self, token: int) -> LearnedSite | None:
        following = self._position.after(token)
        return None if following is None else LearnedSite(self._grammar, following)

    def moves(self) -> Moves:
        tokens, groups, positions = self._position.known_moves()
        targets = [
            None if position is None else LearnedSite(self._grammar, position)
            for position in (None, *positions)
        ]
        ends = np.array(sorted(self._grammar.vocabulary.eos), np.int32)
        inside = ~np.isin(tokens, ends)
        return Moves(
            np.concatenate((ends, tokens[inside])),
            np.concatenate((np.zeros(len(ends), np.intp), 1 + groups[inside])),
            targets,
        )


_NO_TOKENS: Final = np.empty(0, np.int32)


def _allowed(mask: Mask) -> npt.NDArray[np.int32]:
    """The tokens that a mask allows, ascending."""
    return np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little")).astype(np.int32)
