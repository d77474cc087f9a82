"""How many tokens certainly complete a text, counted along its shortest completion in bytes.

That completion is spelled with the fewest tokens. Every configuration on the way is remembered with
what is left of it, so that a text that starts within its budget always has a next token that stays
within it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from heapq import heappop, heappush
from itertools import count, pairwise
from math import inf
from typing import Final

import numpy as np
import numpy.typing as npt

from maskwright.automaton.machine.exits import Configuration
from maskwright.automaton.value.level import Level
from maskwright.errors import TooLongError, UnspellableError
from maskwright.mask.budget.places import Places
from maskwright.mask.shared.budget_cache import NO_TOKEN, Place
from maskwright.mask.walk.ends import pieces, repeating_arrays
from maskwright.mask.walker import Walker

MOST_FOLLOWED: Final = 512
"""Bytes of a long completion that are followed at once. Each new state takes some 40 microseconds,
and a text seldom goes far along the completions of its places."""
MOST_COUNTED: Final = 128
"""Bytes of a completion from which on its tokens are counted before it is followed."""
_ODD: Final = re.compile(rb'["\\\\]')
"""What a token holds that spells a character of a name by an escape, or ends the name."""
_SIGN: Final = re.compile(rb'[ \t\n\r,:\[\]{}"\\]')
"""What may end a name or an item, or begin one."""
_LONGEST_ENDING: Final = 16
"""Bytes of the longest ending of which every part is tried."""
MOST_DETOURS: Final = 300
"""Configurations expanded in search of any spelling, where the shortest completion has none."""


class TokenCosts:
    """Tokens that complete a text from any configuration of one grammar, computed when asked
    for."""

    def __init__(self, walker: Walker) -> None:
        self.walker: Final = walker
        self._recognizer = walker.recognizer
        self._tables = walker.tables
        self._spellings = walker.tables.vocabulary.spellings
        self._completion = walker.recognizer.shared.completion
        self.cache: Final = walker.recognizer.shared.budget_cache

    def tokens_needed(self, here: Configuration, prefix: bytes = b"") -> int:
        """Tokens that certainly complete the text from `here`; 0 if it is complete.

        `prefix` is the text so far. Raises `UnspellableError` if the vocabulary can't spell any
        completion.
        """
        place = self.place(here, prefix)
        known = self.cache.needed.get(place)
        if known is None:
            with self._recognizer:
                try:
                    return self._count(here, prefix)
                except UnspellableError as error:
                    return self._detour(here, prefix, error)
        way = self.cache.ways.pop(place, None)
        if way is not None:
            with self._recognizer:
                taken = self._follow(here, prefix, way, certain=True)
                assert taken is not None, "a known way can be taken"
        return known

    @cached_property
    def places(self) -> Places:
        """What of a text decides how it is completed."""
        return Places(self._recognizer)

    def is_spellable(self, here: Configuration, prefix: bytes) -> bool:
        """Whether the vocabulary can spell some way to complete the text from `here`."""
        if self._tables.parts.has_every_byte:
            return True
        try:
            self.tokens_needed(here, prefix)
        except UnspellableError:
            return False
        return True

    def fits(self, here: Configuration, prefix: bytes, budget: int) -> bool:
        """Whether `budget` tokens are enough to complete the text from `here`; False also where the
        shortest completion is too long to be written out."""
        if budget < 0:
            return False
        try:
            return self._fits(here, prefix, budget)
        except (UnspellableError, TooLongError):
            return False

    def _fits(self, here: Configuration, prefix: bytes, budget: int) -> bool:
        if self._tables.parts.has_every_byte:
            rest = self.shortest(here, prefix)
            if len(rest) <= budget:
                return True  # without counting tokens: each holds a byte at least
            if len(rest) > MOST_COUNTED and self.place(here, prefix) not in self.cache.needed:
                if len(rest) > budget * self._tables.trie.height:  # the longest token
                    return False
                if self._tables.vocabulary.fewest_count(rest) > budget:
                    return False
                if self._is_uncut(here, rest):
                    return True
        return self.tokens_needed(here, prefix) <= budget

    def counted(self, here: Configuration, prefix: bytes) -> int:
        """Like `tokens_needed`, but a completion of more than `MOST_COUNTED` bytes is not followed
        where that can make no difference, nor remembered."""
        if self._tables.parts.has_every_byte and self.place(here, prefix) not in self.cache.needed:
            rest = self.shortest(here, prefix)
            if len(rest) > MOST_COUNTED and self._is_uncut(here, rest):
                return self._tables.vocabulary.fewest_count(rest)
        return self.tokens_needed(here, prefix)

    def shortest(self, here: Configuration, prefix: bytes) -> bytes:
        """The shortest completion from `here`, in bytes."""
        with self._recognizer:
            text = self._completion.find(self.places.plain(here), prefix)
        if text is None:
            raise AssertionError("a reachable configuration can always be completed")
        return text

    def is_fixed(self, here: Configuration) -> bool:
        """Whether the shortest completion from `here` is known, and is one whatever the text."""
        return self._completion.is_known(self.places.plain(here))

    def place(self, here: Configuration, prefix: bytes) -> Place:
        """The key under which costs are remembered; see `Places`."""
        return self.places.of(here, prefix)

    def repeating(
        self,
        here: Configuration,
        prefix: bytes,
        target: Configuration,
        tokens: npt.NDArray[np.int32],
    ) -> list[int]:
        """The places in `tokens` (int32 [n]), which lead from `here` to `target`, of those after
        which the usual completion may repeat a name."""
        if not self.places.may_repeat_names(target):
            return []
        spellings, plain = self._spellings, self.places.plain(target)
        names = self.walker.names
        places: Sequence[int] = range(len(tokens))
        with self._recognizer:
            first = prefix + spellings[tokens[0]]
            if not self._completion.depends_on_names(plain, first):
                return []
            if names.stays_within(here, target):
                if not names.may_repeat(prefix):
                    # a token with a quote may begin another name
                    places = np.flatnonzero(self._tables.parts.holds_quote[tokens]).tolist()
                else:
                    ending = self._completion.name_rest(plain, first)
                    wanted = names.spellings_before(here, prefix, ending)
                    if wanted is not None:
                        read = (spellings[token] for token in tokens.tolist())
                        places = [
                            at
                            for at, data in enumerate(read)
                            if data in wanted or _ODD.search(data)
                        ]
        return [
            at for at in places if self.places.repeats_name(target, prefix + spellings[tokens[at]])
        ]

    def successors(self, here: Configuration, prefix: bytes) -> Iterator[tuple[Configuration, int]]:
        """The configurations that one token leads to after the text `prefix`, each with a token."""
        for _, token in self.walker.successors(here):
            following = self._recognizer.advance(here, self._spellings[token], prefix)
            if following is not None:
                yield following, token

    def record_way(self, here: Configuration, prefix: bytes, tokens: Sequence[int]) -> bool:
        """Remember a way to complete the text; False if the tokens turn out not to be one, or use
        names that another text at one of these places may have used up."""
        places = [self.place(here, prefix)]
        for token in tokens:
            data = self._spellings[token]
            following = self._recognizer.advance(here, data, prefix)
            if following is None or self.places.depends_on_names(following):
                return False
            here, prefix = following, prefix + data
            places.append(self.place(here, prefix))
        for at, place in enumerate(places):
            self.cache.record(place, len(tokens) - at, (*tokens, NO_TOKEN)[at])
        for at, (place, after) in enumerate(pairwise(places)):
            if not isinstance(after, Configuration):
                self.cache.record_onward(place, tokens[at], tokens[at + 1 :])
        return True

    def count_anew(self, here: Configuration, prefix: bytes) -> None:
        """Count the shortest completion in bytes, though another one is known. That may be what is
        left of one from an earlier place, and take more tokens."""
        with self._recognizer:
            try:
                self._count(here, prefix)
            except UnspellableError:
                return

    def _count(self, here: Configuration, prefix: bytes) -> int:
        """Count the tokens of the shortest completion in bytes, and remember each place on the way;
        returns how many it takes. Raises `UnspellableError` if it can't be spelled."""
        rest = self.shortest(here, prefix)
        fewest = self._tables.vocabulary.spelled(rest)
        total = self._follow(here, prefix, fewest)
        if total is None and any(level.wants_repeat for level in self._levels(here)):
            total = self._follow(here, prefix, self._cut(prefix, fewest))
        if total is None:
            # Bounds on parts are counted with these tokens too. The fewest with some of them cut
            # into pieces may be more than the parts take.
            certain = self._tables.certain.texts
            total = self._follow(here, prefix, self._tables.vocabulary.spelled(rest, certain))
        if total is None:
            total = self._follow(here, prefix, self._spelled_apart(rest))
        if total is None:
            raise UnspellableError(f"no tokens that are offered there spell {rest!r}", param="data")
        return total

    def _follow(
        self, here: Configuration, prefix: bytes, tokens: Sequence[int], *, certain: bool = False
    ) -> int | None:
        """Remember each place on a way to the end of the text; returns how many tokens it takes,
        None if some of them would not be offered (see `walk.ends`).

        Where items must differ, a place belongs to one text alone, and few of these texts are ever
        written: only the next place is remembered there, with the rest of the way. A way of more
        than `MOST_FOLLOWED` bytes is remembered so too from there on, if each of its tokens would
        certainly be offered.
        """
        steps: list[tuple[Place, int]] = []
        stop: float = len(prefix) + MOST_FOLLOWED
        rest = list(reversed(tokens))
        place = self.place(here, prefix)
        checked = not isinstance(place, Configuration)
        if checked and not self._are_offered(here, prefix, rest):
            return None
        while rest and (isinstance(place, Configuration) or not steps):
            if len(prefix) >= stop:
                if certain or self._are_certain(here, prefix, rest) or self._reads(here, rest):
                    break
                stop = inf
            known = self.cache.needed.get(place)
            if steps and known is not None and known <= len(rest):
                total = len(steps) + known
                for at, (passed, token) in enumerate(steps):
                    self.cache.record(passed, total - at, token)
                return total
            data = self._spellings[rest[-1]]
            following = self._recognizer.advance(here, data, prefix)
            if following is None:
                return None
            steps.append((place, rest.pop()))
            here, prefix = following, prefix + data
            place = self.place(here, prefix)
        if not checked and not isinstance(place, Configuration):
            checked = self._are_offered(here, prefix, rest)
            if not checked:
                return None
        total = len(steps) + len(rest)
        for at, (passed, token) in enumerate(steps):
            self.cache.record(passed, total - at, token)
        left = rest[::-1]
        if steps and not isinstance(place, Configuration):
            self.cache.record_onward(*steps[-1], left)
        self._record_rest(place, left)
        return total

    def _reads(self, here: Configuration, tokens: list[int]) -> bool:
        """Whether the grammar allows these tokens, the last one first, whatever the text so far is.
        Such tokens are offered, however much they end."""
        data = b"".join([self._spellings[token] for token in reversed(tokens)])
        return self._recognizer.reads_without_text(here, data)

    def _record_rest(self, place: Place, tokens: Sequence[int]) -> None:
        """Remember a way that has been followed as far as a place, and no further."""
        if not tokens:
            self.cache.record(place, 0)
        elif self.cache.record(place, len(tokens), tokens[0]):
            self.cache.ways[place] = tokens

    def first_on_way(self, here: Configuration, prefix: bytes, budget: int) -> int:
        """The first token of the known way to complete the text from `here`; NO_TOKEN if there is
        none within the budget. Where the text decides after that token, what is left of the way is
        remembered for this text: the one that is found for it alone may be longer."""
        place = self.place(here, prefix)
        try:
            if self.tokens_needed(here, prefix) > budget:
                return NO_TOKEN
        except UnspellableError:
            return NO_TOKEN
        first, onward = self.cache.first.get(place, NO_TOKEN), self.cache.onward.get(place)
        if onward is not None:
            data = self._spellings[first]
            following = self._recognizer.advance(here, data, prefix)
            assert following is not None, "a known way can be taken"
            self._record_rest(self.place(following, prefix + data), onward)
        return first

    def _spelled_apart(self, rest: bytes) -> list[int]:
        """The tokens of a completion in which some item may have to be repeated within an array
        that it opens: bytes in such arrays."""
        tokens: list[int] = []
        at, vocabulary, certain = 0, self._tables.vocabulary, self._tables.certain.texts
        for start, stop in sorted(repeating_arrays(rest)):
            if start >= at:
                tokens += vocabulary.spelled(rest[at:start], certain)
                tokens += [vocabulary.spelled(rest[n : n + 1])[0] for n in range(start, stop)]
                at = stop
        return tokens + vocabulary.spelled(rest[at:], certain)

    def _cut(self, prefix: bytes, tokens: Sequence[int]) -> list[int]:
        """`tokens`, but a token that ends an item and begins the next one is replaced by the tokens
        of its pieces."""
        cut: list[int] = []
        for token in tokens:
            data = self._spellings[token]
            parts = pieces(data, prefix, repeats=True)
            if len(parts) == 1:
                cut.append(token)
            else:
                cut += [each for part in parts for each in self._tables.vocabulary.spelled(part)]
            prefix = data
        return cut

    def _are_offered(self, here: Configuration, prefix: bytes, tokens: list[int]) -> bool:
        """Whether masks would offer each of these tokens, the last one first."""
        if self._are_certain(here, prefix, tokens):
            return True
        for token in reversed(tokens):
            data = self._spellings[token]
            following = self._recognizer.advance(here, data, prefix)
            if following is None:
                return False
            here, prefix = following, prefix + data
        return True

    def _are_certain(self, here: Configuration, prefix: bytes, tokens: list[int]) -> bool:
        """Whether it takes no look at what follows to know that masks would offer each of these
        tokens, the last one first."""
        texts = [self._spellings[token] for token in reversed(tokens)]
        if any(level.wants_repeat for level in self._levels(here)):
            repeats = True
        else:
            if not self._tables.certain.uncertain.isdisjoint(texts):
                return False
            repeats = bool(repeating_arrays(b"".join(texts)))
        before = (data[-1:] for data in (prefix, *texts))  # `pieces` reads no more than this byte
        return not repeats or all(
            len(pieces(data, last, repeats=True)) == 1
            for last, data in set(zip(before, texts, strict=False))
        )

    def _is_uncut(self, here: Configuration, rest: bytes) -> bool:
        """Whether masks would certainly offer each token that spells a part of `rest`: nothing but
        its end can end a name or an item, and no more than one."""
        sign = _SIGN.search(rest)
        if sign is None:
            return True
        ending = rest[max(sign.start() - 1, 0) :]
        if len(ending) > _LONGEST_ENDING:
            return False
        return _is_uncut(ending, any(level.wants_repeat for level in self._levels(here)))

    def _levels(self, here: Configuration) -> Iterator[Level]:
        """The levels of JSON around a configuration, the innermost first."""
        machine = self._recognizer.machine
        node = here.node
        while node >= 0:
            level = machine.contexts.level(int(machine.arrays.node_context[node]))
            if level is not None:
                yield level
            node = int(machine.arrays.node_parent[node])

    def _detour(self, here: Configuration, prefix: bytes, error: UnspellableError) -> int:
        """Tokens that complete the text where its shortest completion can't be spelled.

        A best-first search by the length of the shortest completion. Raises `error` if nothing is
        found, or not among `MOST_DETOURS` configurations.
        """
        start = self.place(here, prefix)
        if start in self.cache.unspellable:
            raise error
        tie = count()
        queue: list[tuple[int, int, Configuration, bytes, tuple[int, ...]]]
        queue = [(0, next(tie), here, prefix, ())]
        seen = {start}
        for _ in range(MOST_DETOURS):
            if not queue:
                self.cache.unspellable.update(seen)
                raise error
            _, _, origin, text, path = heappop(queue)
            for following, token in self.successors(origin, text):
                longer, steps = text + self._spellings[token], (*path, token)
                reached = self.place(following, longer)
                if reached in seen or reached in self.cache.unspellable:
                    continue
                seen.add(reached)
                rest = self.shortest(following, longer)
                try:
                    way = (*steps, *self._tables.vocabulary.spelled(rest))
                except UnspellableError:
                    heappush(queue, (len(rest), next(tie), following, longer, steps))
                    continue
                if self.record_way(here, prefix, way):
                    return self.cache.needed[start]
        self.cache.unspellable.add(start)
        raise error


@lru_cache(maxsize=256)
def _is_uncut(ending: bytes, repeats: bool) -> bool:
    """Whether no part of an ending would be cut into pieces."""
    return b"[" not in ending and all(
        len(pieces(ending[start:stop], ending[:start], repeats=repeats)) == 1
        for start in range(len(ending))
        for stop in range(start + 1, len(ending) + 1)
    )
