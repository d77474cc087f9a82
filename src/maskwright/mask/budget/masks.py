"""Finishing in time: masks that keep only tokens after which the text can still be completed.

The tokens that a configuration needs are counted along its shortest completion in bytes, spelled
with the fewest tokens; every configuration on that way is remembered with what is left of it, so
a text that starts within its budget always has a next token that stays within it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from maskwright.automaton.machine.exits import Configuration
from maskwright.errors import BudgetError, UnspellableError
from maskwright.mask.position import UNKNOWN
from maskwright.mask.shared.leaf_bounds import ENDLESS
from maskwright.mask.walk.ends import pieces

if TYPE_CHECKING:
    from maskwright.automaton.finish.completion import CompletionSearch
    from maskwright.automaton.value.level import Level
    from maskwright.mask.grammar import Grammar
    from maskwright.mask.position import Position

MOST_ALONE: Final = 16
"""Tokens behind which the text makes a difference that are looked at one by one."""
NO_TOKEN: Final = -1
MARGIN: Final = 8
"""Tokens that may be needed beyond what one such token needs behind another one like it."""
MOST_TRIES: Final = 300
"""Configurations looked at in search of a spelling with fewer tokens."""
MOST_DETOURS: Final = 300
"""Configurations looked at in search of any spelling, where the shortest text has none."""


MOST_TEXTS: Final = 20_000
"""Places remembered that belong to one text alone."""

MOST_PLACES: Final = 256
"""Configurations behind a position for which the masks under any budget are found at once."""

MOST_ROW_BYTES: Final = 4 << 20
"""Of such masks that are remembered."""

Place = Configuration | tuple[Configuration, bytes]
"""Where reading stands; with a digest of the text so far, where that makes a difference."""


class Stairs(NamedTuple):
    """The masks of a position under any budget. Row `n` of `rows` int32 `[rows, words]` is that of
    texts that may go on for `needs[n - 1]` tokens behind the next one, but not for `needs[n]`;
    `needs` ascend."""

    needs: list[int]
    rows: npt.NDArray[np.int32]


@dataclass(slots=True)
class Found:
    """What has been found out about budgets."""

    needed: dict[Place, int] = field(default_factory=dict[Place, int])
    first: dict[Place, int] = field(default_factory=dict[Place, int])
    """The token that leads on where that many are enough."""
    ways: dict[Place, Sequence[int]] = field(default_factory=dict[Place, Sequence[int]])
    """The tokens of ways that have been followed up to a place."""
    recent: dict[Place, None] = field(default_factory=dict[Place, None])
    """The places of one text alone, which are forgotten in time."""
    unspellable: set[Place] = field(default_factory=set[Place])
    """From where no tokens lead to an end."""
    stairs: dict[Position, Stairs | None] = field(default_factory=dict["Position", "Stairs | None"])
    """The last positions for which they were looked for; None where there are none: the text makes
    a difference, or there are too many places."""
    size: int = 0
    """Bytes of these."""


class Budgets:
    """The token budgets of one grammar's configurations, computed when asked for."""

    def __init__(self, grammar: Grammar, completion: CompletionSearch, found: Found) -> None:
        """`found`: what is known so far, of grammars with the same configurations."""
        self._grammar = grammar
        self._completion = completion
        self._found = found
        self._brought = 0

    @property
    def size(self) -> int:
        """Bytes of the masks that are remembered since this grammar asked for them."""
        return min(self._brought, self._found.size)

    def tokens_needed(self, here: Configuration, before: bytes = b"") -> int:
        """Tokens that certainly complete the text from `here`; 0 if it is complete.

        `before` is the text so far. Raises `UnspellableError` if the vocabulary can't spell any
        completion.
        """
        place = self._place(here, before)
        known = self._found.needed.get(place)
        if known is None:
            with self._grammar.space.lock:
                try:
                    tokens = self._grammar.vocabulary.spelled(self._text(here, before))
                    return self._follow(here, before, tokens)
                except UnspellableError as error:
                    return self._detour(here, before, error)
        way = self._found.ways.pop(place, None)
        if way is not None:
            with self._grammar.space.lock:
                self._follow(here, before, way)
        return known

    def _follow(self, here: Configuration, before: bytes, tokens: Sequence[int]) -> int:
        """Remember each place on a way to the end of the text; returns how many tokens it takes,
        more than are given where some would not be offered (see `ends`).

        Where the text makes a difference to a place, all that follows stands for one text alone,
        and most ways are never gone: there it is the next place only, and what leads on from it.
        """
        spellings = self._grammar.vocabulary.spellings
        steps: list[tuple[Place, int]] = []
        rest = list(reversed(tokens))
        place = self._place(here, before)
        if place != here:
            rest = self._cut(here, before, rest)
        while rest and not (steps and place != here):
            data = spellings[rest[-1]]
            following = self._grammar.advance(here, data, before)
            if following is None:
                cut = self._cut(here, before, rest[-1:])
                if len(cut) == 1:
                    raise AssertionError(f"the completion {bytes(data)!r} is not accepted")
                rest[-1:] = cut
                continue
            steps.append((place, rest.pop()))
            here, before = following, before + data
            place = self._place(here, before)
        if steps and place != here:
            rest = self._cut(here, before, rest)
        total = len(steps) + len(rest)
        for at, (passed, token) in enumerate(steps):
            self._know(passed, total - at, token)
        if not rest:
            self._know(place, 0)
        elif self._know(place, len(rest), rest[-1]):
            self._found.ways[place] = rest[::-1]
        return total

    def _cut(self, here: Configuration, before: bytes, tokens: list[int]) -> list[int]:
        """Tokens, the last first, without those that would not be offered; the same way round."""
        vocabulary = self._grammar.vocabulary
        repeats = any(level.wants_repeat for level in self._levels(here))
        found: list[int] = []
        for token in reversed(tokens):
            data = vocabulary.spellings[token]
            parts = pieces(data, before, repeats=repeats)
            if len(parts) == 1:
                found.append(token)
            else:
                found += [each for part in parts for each in vocabulary.spelled(part)]
            before += data
        return found[::-1]

    def _levels(self, here: Configuration) -> Iterator[Level]:
        """Those of JSON around a place, the innermost first."""
        machine = self._grammar.machine
        node = here.node
        while node >= 0:
            level = machine.contexts.level(int(machine.arrays.node_context[node]))
            if level is not None:
                yield level
            node = int(machine.arrays.node_parent[node])

    def _know(self, place: Place, left: int, first: int = NO_TOKEN) -> bool:
        """Remember a way from a place; whether it is better than one already known."""
        before = self._found.needed.get(place)
        if before is not None:
            if left >= before:
                return False
            self._forget_stairs()  # which may be too strict now
        self._found.needed[place] = left
        self._found.first[place] = first
        if not isinstance(place, Configuration):
            self._found.recent[place] = None
            if len(self._found.recent) > MOST_TEXTS:
                oldest = next(iter(self._found.recent))
                del (
                    self._found.recent[oldest],
                    self._found.needed[oldest],
                    self._found.first[oldest],
                )
                self._found.ways.pop(oldest, None)
        return True

    def _place(self, here: Configuration, before: bytes) -> Place:
        """What tells how many tokens are needed: the text too within items that must differ."""
        if any(level.remembers_items for level in self._levels(here)):
            return here, blake2b(before, digest_size=16).digest()
        return here

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

        def is_spellable(there: Configuration, text: bytes, _: int) -> bool:
            return self.is_spellable(there, text)

        spelled = self._judged(here, tokens, places, group, before, is_spellable)
        refused = tokens[~spelled]
        left = grammar.space.table[row]
        np.bitwise_and.at(left, refused >> 5, ~(np.int32(1) << (refused & 31)))
        if not left.any():
            self.tokens_needed(here, before)  # says what is missing
        return grammar.space.table.number(left)

    def _detour(self, here: Configuration, before: bytes, error: UnspellableError) -> int:
        """Tokens that complete the text where its shortest completion can't be spelled, the
        shortest ones looked at first; `error` if there are none (or not among `MOST_DETOURS`)."""
        start = self._place(here, before)
        if start in self._found.unspellable:
            raise error
        grammar = self._grammar
        spellings = grammar.vocabulary.spellings
        tie = count()
        queue: list[tuple[int, int, Configuration, bytes, tuple[int, ...]]]
        queue = [(0, next(tie), here, before, ())]
        seen = {start}
        for _ in range(MOST_DETOURS):
            if not queue:
                self._found.unspellable |= seen
                raise error
            _, _, place, text, path = heappop(queue)
            for following, token in self._successors(place, text):
                behind, steps = text + spellings[token], (*path, token)
                reached = self._place(following, behind)
                if reached in seen or reached in self._found.unspellable:
                    continue
                seen.add(reached)
                rest = self._text(following, behind)
                try:
                    whole = (*steps, *grammar.vocabulary.spelled(rest))
                except UnspellableError:
                    heappush(queue, (len(rest), next(tie), following, behind, steps))
                    continue
                if self._note(here, whole, before):
                    return self._found.needed[start]
        self._found.unspellable.add(start)
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
            for following, token in self._successors(place, before):
                text = before + grammar.vocabulary.spellings[token]
                left = len(self._text(following, text))
                steps = (*path, token)
                if left == 0 and self._note(here, steps):
                    best = min(best, len(steps))
                bound = len(steps) + -(-left // longest)
                if bound < best:
                    heappush(queue, (bound, left, next(tie), following, text, steps))
        return best

    def _successors(
        self, here: Configuration, before: bytes
    ) -> Iterator[tuple[Configuration, int]]:
        """As `Grammar.successors`, where the text so far is known."""
        for _, token in self._grammar.successors(here):
            data = self._grammar.vocabulary.spellings[token]
            following = self._grammar.advance(here, data, before)
            if following is not None:
                yield following, token

    def _note(self, here: Configuration, tokens: tuple[int, ...], before: bytes = b"") -> bool:
        """Remember a way to complete the text; False if it turns out not to be one."""
        places = [self._place(here, before)]
        for token in tokens:
            data = self._grammar.vocabulary.spellings[token]
            following = self._grammar.advance(here, data, before)
            if following is None:
                return False
            here, before = following, before + data
            places.append(self._place(here, before))
        for at, place in enumerate(places):
            self._know(place, len(tokens) - at, (*tokens, NO_TOKEN)[at])
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
        with grammar.space.lock:
            grammar.begin()
            with grammar.machine.work:
                stairs = self._climbed(position, before)
                if stairs is None:
                    self._keep_fitting(position, budget, out, before)
                else:
                    out[:] = stairs.rows[bisect_right(stairs.needs, budget - 1)]
                if not out.any():
                    needed = self.tokens_needed(position.configuration, before)
                    raise BudgetError(
                        f"{budget} tokens are not enough to complete the text: it needs {needed}",
                        needed=needed,
                    )

    def _climbed(self, position: Position, before: bytes) -> Stairs | None:
        """The masks under any budget at a position, remembered."""
        if position in self._found.stairs:
            return self._found.stairs[position]
        stairs = self._climb(position, before)
        if stairs is not None:
            position.enough = min(position.enough, 1 + stairs.needs[-1])
            if self._found.size + stairs.rows.nbytes > MOST_ROW_BYTES:
                self._forget_stairs()
            self._found.size += stairs.rows.nbytes
            self._brought += stairs.rows.nbytes
        self._found.stairs[position] = stairs
        return stairs

    def _forget_stairs(self) -> None:
        self._found.stairs = {}
        self._found.size = 0

    def _climb(self, position: Position, before: bytes) -> Stairs | None:
        """Find them, where a position has them."""
        grammar, here = self._grammar, position.configuration
        if self._place(here, before) != here or not grammar.space.has_every_byte:
            return None
        tokens, places, group = grammar.doubtful(here, -1)
        if not 0 < len(places) <= MOST_PLACES:
            return None
        spellings = grammar.vocabulary.spellings
        firsts = np.zeros(len(places), np.int64)
        firsts[group[::-1]] = tokens[::-1]
        needs: list[int] = []
        for place, token in zip(places.tolist(), firsts.tolist(), strict=True):
            text = before + spellings[token]
            reached = _configuration(place)
            if grammar.advance(here, spellings[token], before) != reached:
                return None  # the end of a name that must be new, which the walk passes
            if self._place(reached, text) != reached:
                return None
            needs.append(self.tokens_needed(reached, text))
            self._text(reached, text)
            if not self._completion.is_known(reached):  # the text makes a difference to it
                return None
        return _stairs(grammar.space.table[position.row], tokens, np.array(needs)[group])

    def _keep_fitting(
        self, position: Position, budget: int, out: npt.NDArray[np.int32], before: bytes
    ) -> None:
        """Take the tokens out of a mask behind which the text can't be completed in time."""
        grammar = self._grammar
        tokens, places, group = grammar.doubtful(position.configuration, budget - 1)
        fits = self._which_fit(position.configuration, tokens, places, group, budget, before)
        if fits.all():
            by_text = self._place(position.configuration, before) != position.configuration
            known = (self._completion.is_known(_configuration(place)) for place in places.tolist())
            if not by_text and all(known):
                position.enough = min(position.enough, budget)
            return
        refused = tokens[~fits]
        np.bitwise_and.at(out, refused >> 5, ~(np.int32(1) << (refused & 31)))

    def _which_fit(
        self,
        here: Configuration,
        tokens: npt.NDArray[np.int32],
        places: npt.NDArray[np.int64],
        group: npt.NDArray[np.int32],
        budget: int,
        before: bytes,
    ) -> npt.NDArray[np.bool_]:
        """Behind which of `tokens`, as `Grammar.doubtful` gives them, the text can be completed."""

        def fits(there: Configuration, text: bytes, margin: int) -> bool:
            return self._fits(there, budget - 1 - margin, text)

        found = self._judged(here, tokens, places, group, before, fits)
        known = self._place(here, before)
        if known != here and self.tokens_needed(here, before) <= budget:
            found |= tokens == self._found.first[known]
        return found

    def _judged(
        self,
        here: Configuration,
        tokens: npt.NDArray[np.int32],
        places: npt.NDArray[np.int64],
        group: npt.NDArray[np.int32],
        before: bytes,
        verdict: Callable[[Configuration, bytes, int], bool],
    ) -> npt.NDArray[np.bool_]:
        """The verdict on each of `tokens`, as `Grammar.doubtful` gives them: on where it leads, the
        text up to there, and a margin.

        Those of one group lead to one configuration, and the first speaks for all. Where items must
        differ, the text makes a difference: small groups are looked at one by one, and in others
        the first speaks for all where there is a margin; else the first `MOST_ALONE` are looked at,
        and the shortest completion goes on. A token that ends such an item (or a name) belongs to
        none: the walk passed the end without looking at the text.
        """
        spellings = self._grammar.vocabulary.spellings
        found = np.zeros(len(tokens), np.bool_)
        order = np.argsort(group, kind="stable")
        stops = np.searchsorted(group[order], np.arange(len(places)), side="right").tolist()
        for start, stop, place in zip([0, *stops], stops, places.tolist(), strict=False):
            reached = _configuration(place)
            alone = 0
            for at in order[start:stop].tolist():
                text = before + spellings[int(tokens[at])]
                really = self._grammar.advance(here, spellings[int(tokens[at])], before)
                found[at] = really is not None and verdict(really, text, 0)
                if really is None or really != reached:
                    continue
                if self._place(really, text) == really:
                    found[order[start:stop]] = found[at]
                    break
                alone += 1
                if stop - start > MOST_ALONE:
                    if alone == 1 and verdict(really, text, MARGIN):
                        found[order[start:stop]] = True
                        break
                    if alone == MOST_ALONE:
                        break
        return found

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
            text = self._completion.find(here, before)
        if text is None:
            raise AssertionError("a reachable configuration can always be completed")
        return text


def _stairs(
    row: npt.NDArray[np.int32], tokens: npt.NDArray[np.int32], needs: npt.NDArray[np.int64]
) -> Stairs:
    """Those of a mask `row`, of which `tokens` need so many more."""
    steps, step = np.unique(needs, return_inverse=True)
    rows = np.zeros((1 + len(steps), len(row)), np.int32)
    np.bitwise_or.at(rows, (1 + step, tokens >> 5), np.int32(1) << (tokens & 31))
    rows[0] = row & ~np.bitwise_or.reduce(rows, axis=0)
    return Stairs(steps.tolist(), np.bitwise_or.accumulate(rows, axis=0))


def _configuration(place: int) -> Configuration:
    return Configuration(place >> 32, place & 0xFFFFFFFF)
