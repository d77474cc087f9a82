"""Finishing in time: masks that keep only tokens after which the text can still be completed.

The tokens that a configuration needs are counted along its shortest completion in bytes, spelled
with the fewest tokens; every configuration on that way is remembered with what is left of it, so
a text that starts within its budget always has a next token that stays within it.
"""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from maskwright.automaton.machine import Configuration
from maskwright.errors import BudgetError, UnspellableError
from maskwright.mask.needs import ENDLESS
from maskwright.mask.position import UNKNOWN

if TYPE_CHECKING:
    from maskwright.automaton.completion import Completion
    from maskwright.mask.grammar import Grammar
    from maskwright.mask.position import Position

MOST_TRIES: Final = 300
"""Configurations looked at in search of a spelling with fewer tokens."""
MOST_DETOURS: Final = 300
"""Configurations looked at in search of any spelling, where the shortest text has none."""


class Budgets:
    """The token budgets of one grammar's configurations, computed when asked for."""

    def __init__(self, grammar: Grammar, completion: Completion) -> None:
        self._grammar = grammar
        self._completion = completion
        self._needed: dict[Configuration, int] = {}
        self._unspellable: set[Configuration] = set()
        """From where no tokens lead to an end."""

    def tokens_needed(self, here: Configuration, before: bytes = b"") -> int:
        """Tokens that certainly complete the text from `here`; 0 if it is complete.

        `before` is the text so far. Raises `UnspellableError` if the vocabulary can't spell any
        completion.
        """
        known = self._needed.get(here)
        if known is not None:
            return known
        grammar = self._grammar
        with grammar.space.lock:
            text = self._text(here, before)
            try:
                tokens = grammar.vocabulary.spelled(text)
            except UnspellableError as error:
                return self._detour(here, before, error)
            self._needed[here] = len(tokens)
            for at, token in enumerate(tokens, start=1):
                data = grammar.vocabulary.spellings[token]
                following = grammar.advance(here, data, before)
                if following is None:
                    raise AssertionError(f"the completion {text!r} is not accepted")
                here, before = following, before + data
                left = len(tokens) - at
                self._needed[here] = min(self._needed.get(here, left), left)
        return len(tokens)

    def is_spellable(self, here: Configuration, before: bytes) -> bool:
        """Whether the vocabulary can spell some way to complete the text from `here`."""
        if self._grammar.space.has_every_byte:
            return True
        try:
            self.tokens_needed(here, before)
        except UnspellableError:
            return False
        return True

    def spelled(self, here: Configuration, row: int, before: bytes) -> int:
        """The row that is left of `row`, the mask at `here`, without the tokens behind which the
        vocabulary can't spell any way to complete the text."""
        grammar = self._grammar
        tokens, places, group = grammar.doubtful(here, 0)
        spellings = grammar.vocabulary.spellings
        firsts = np.zeros(len(places), np.int64)
        firsts[group[::-1]] = tokens[::-1]
        spelled = np.array(
            [
                self.is_spellable(_configuration(place), before + spellings[token])
                for place, token in zip(places.tolist(), firsts.tolist(), strict=True)
            ],
            np.bool_,
        )
        refused = tokens[~spelled[group]]
        left = grammar.space.table[row]
        np.bitwise_and.at(left, refused >> 5, ~(np.int32(1) << (refused & 31)))
        if not left.any():
            self.tokens_needed(here, before)  # says what is missing
        return grammar.space.table.number(left)

    def _detour(self, here: Configuration, before: bytes, error: UnspellableError) -> int:
        """Tokens that complete the text where its shortest completion can't be spelled, the
        shortest ones looked at first; `error` if there are none (or not among `MOST_DETOURS`)."""
        if here in self._unspellable:
            raise error
        grammar = self._grammar
        spellings = grammar.vocabulary.spellings
        tie = count()
        queue: list[tuple[int, int, Configuration, bytes, tuple[int, ...]]]
        queue = [(0, next(tie), here, before, ())]
        seen = {here}
        for _ in range(MOST_DETOURS):
            if not queue:
                self._unspellable |= seen
                raise error
            _, _, place, text, path = heappop(queue)
            for following, token in grammar.successors(place):
                if following in seen or following in self._unspellable:
                    continue
                seen.add(following)
                behind, steps = text + spellings[token], (*path, token)
                rest = self._text(following, behind)
                try:
                    whole = (*steps, *grammar.vocabulary.spelled(rest))
                except UnspellableError:
                    heappush(queue, (len(rest), next(tie), following, behind, steps))
                    continue
                if self._note(here, whole, before):
                    return self._needed[here]
        self._unspellable.add(here)
        raise error

    def least_tokens(self, here: Configuration, enough: int) -> int:
        """As `tokens_needed` from the start of a text, but where that is more than `enough`, other
        ways of spelling a text are tried (`MOST_TRIES` of them), the most promising first."""
        best = self.tokens_needed(here)
        if best <= enough:
            return best
        grammar = self._grammar
        longest = grammar.space.trie.height
        tie = count()
        queue: list[tuple[int, int, int, Configuration, bytes, tuple[int, ...]]]
        queue = [(0, 0, next(tie), here, b"", ())]
        seen: set[Configuration] = set()
        for _ in range(MOST_TRIES):
            if not queue or best <= enough:
                break
            _, _, _, place, before, path = heappop(queue)
            if place in seen or len(path) + 1 >= best:
                continue
            seen.add(place)
            for following, token in grammar.successors(place):
                text = before + grammar.vocabulary.spellings[token]
                left = len(self._text(following, text))
                steps = (*path, token)
                if left == 0 and self._note(here, steps):
                    best = min(best, len(steps))
                bound = len(steps) + -(-left // longest)
                if bound < best:
                    heappush(queue, (bound, left, next(tie), following, text, steps))
        return best

    def _note(self, here: Configuration, tokens: tuple[int, ...], before: bytes = b"") -> bool:
        """Remember a way to complete the text; False if it turns out not to be one."""
        places = [here]
        for token in tokens:
            data = self._grammar.vocabulary.spellings[token]
            following = self._grammar.advance(places[-1], data, before)
            if following is None:
                return False
            places.append(following)
            before += data
        for left, place in enumerate(reversed(places)):
            self._needed[place] = min(self._needed.get(place, left), left)
        return True

    def fill(
        self, position: Position, budget: int, out: npt.NDArray[np.int32], before: bytes
    ) -> None:
        """Write the mask at a position for a text that may go on for `budget` tokens."""
        grammar = self._grammar
        if position.enough == UNKNOWN:
            self._measure(position, before)
        out[:] = grammar.space.table[position.row]
        if budget >= position.enough:
            return
        tokens, places, group = grammar.doubtful(position.configuration, budget - 1)
        firsts = np.zeros(len(places), np.int64)
        firsts[group[::-1]] = tokens[::-1]
        spellings = grammar.vocabulary.spellings
        fits = [
            self._fits(_configuration(place), budget - 1, before + text)
            for place, text in zip(
                places.tolist(), [spellings[token] for token in firsts.tolist()], strict=True
            )
        ]
        if all(fits):
            if all(self._completion.known(_configuration(place)) for place in places.tolist()):
                position.enough = min(position.enough, budget)
            return
        refused = tokens[~np.array(fits, np.bool_)[group]]
        np.bitwise_and.at(out, refused >> 5, ~(np.int32(1) << (refused & 31)))
        if not out.any():
            needed = self.tokens_needed(position.configuration, before)
            raise BudgetError(
                f"{budget} tokens are not enough to complete the text: it needs {needed}",
                needed=needed,
            )

    def _measure(self, position: Position, before: bytes) -> None:
        grammar = self._grammar
        if grammar.space.has_every_byte:
            grammar.measure(position)
        else:  # a byte may take more than a token
            grammar.find(position, lambda: before)
            position.enough = 1 + ENDLESS

    def _fits(self, here: Configuration, budget: int, before: bytes) -> bool:
        if budget < 0:
            return False
        if self._grammar.space.has_every_byte and len(self._text(here, before)) <= budget:
            return True
        try:
            return self.tokens_needed(here, before) <= budget
        except UnspellableError:
            return False

    def _text(self, here: Configuration, before: bytes) -> bytes:
        with self._grammar.space.lock, self._grammar.machine.work:
            text = self._completion.of(here, before)
        if text is None:
            raise AssertionError("a reachable configuration can always be completed")
        return text


def _configuration(place: int) -> Configuration:
    return Configuration(place >> 32, place & 0xFFFFFFFF)
