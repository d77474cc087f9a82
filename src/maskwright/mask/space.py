"""What all grammars over one vocabulary share: leaf automata, mask rows, ready rows of strings."""

from __future__ import annotations

from functools import cached_property
from threading import RLock
from typing import Final
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from maskwright.automaton.leaf import DEAD, LeafTable, Text
from maskwright.grammar.regular import (
    ANY_CHAR,
    ANYTHING,
    EMPTY,
    Alt,
    Both,
    Complement,
    Concat,
    Regular,
    Repeat,
    Vector,
    Words,
)
from maskwright.mask.rows import Ready, RowTable
from maskwright.mask.tables import Spelling
from maskwright.mask.walk import classify, walk_inside
from maskwright.vocab import Vocabulary
from maskwright.vocab.trie import Fan, Trie

MOST_LEAVES: Final = 400_000
"""Leaf states after which new grammars start a fresh table; the old one goes with its grammars."""

NOT_READY: Final = Ready(0, 0)


class Space:
    """One vocabulary's tables. `lock` guards them all; holders keep it for short work only."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.lock = RLock()
        self.leaves = LeafTable()
        self.table = RowTable(vocabulary.words)
        self.trie = vocabulary.trie
        self.whole = Fan.of(self.trie)
        self.leaving = Fan.of(Trie.build([]))
        """The tokens that leave a string; empty until the first string is reached."""
        self.spelling = Spelling.of(vocabulary)
        self._strings: StringRows | None = None
        self._ready: dict[int, Ready] = {}

    @cached_property
    def prefixes(self) -> frozenset[bytes]:
        """All proper, non-empty beginnings of tokens."""
        return frozenset(t[:n] for t in self.vocabulary.tokens for n in range(1, len(t)))

    @cached_property
    def has_every_byte(self) -> bool:
        """Whether each byte is a token, so that n bytes never need more than n tokens."""
        return len({token for token in self.vocabulary.tokens if len(token) == 1}) == 256

    @property
    def strings(self) -> StringRows:
        """The ready rows of JSON strings, made when the first string is reached."""
        if self._strings is None:
            self._strings = StringRows(self)
            self.leaving = Fan.of(self._strings.leaving)
        return self._strings

    def ready(self, leaf: int) -> Ready:
        """The row of the tokens that stay inside a string from `leaf` on; NOT_READY if it is no
        place in a string, or one where the context has a say in them."""
        known = self._ready.get(leaf)
        if known is None:
            key = self.leaves.keys[leaf]
            known = NOT_READY
            if isinstance(key, Text) and key.inside and not self.leaves.arrays.gate_high[leaf]:
                known = self.table.ready(self.strings.ready(leaf, key.term))
            self._ready[leaf] = known
        return known


class StringRows:
    """From inside a JSON string nearly every token stays inside it, whatever surrounds it.

    Those that stay are a ready row; the few that pass the closing quote stand in a small trie of
    their own, and only they have to be walked. Where at most n more characters may come, the
    tokens that stay are those of at most n characters.
    """

    def __init__(self, space: Space) -> None:
        vocabulary = space.vocabulary
        self._space = space
        self._known: dict[int, npt.NDArray[np.int32]] = {}
        leaf = space.leaves.state(Text(inside=True, term=ANYTHING))
        stays = np.zeros(vocabulary.size, np.uint8)
        space.leaves.expand(leaf, 64)
        self._characters = np.zeros(vocabulary.size, np.int32)
        while True:
            missing = classify(space.leaves.arrays, space.trie, leaf, stays, self._characters)
            if missing == DEAD:
                break
            space.leaves.build(missing)
        self._stays = stays == 1
        self._most = int(self._characters[self._stays].max(initial=0))
        self._rows: dict[int, npt.NDArray[np.int32]] = {}
        self.leaving = Trie.build(vocabulary.tokens, np.flatnonzero(stays == 2).tolist())

    def ready(self, leaf: int, term: Regular) -> npt.NDArray[np.int32]:
        """The row of the tokens that stay inside from `leaf`, a place between two characters."""
        bound = characters_left(term)
        if bound != NARROW:
            return self._of_length(bound)
        row = self._known.get(leaf)
        if row is None:
            row = self._known[leaf] = self._walked(leaf)
        return row

    def _walked(self, leaf: int) -> npt.NDArray[np.int32]:
        space = self._space
        missing = np.zeros(256, np.int32)
        space.leaves.expand(leaf, 64)
        while True:
            row = np.zeros(space.vocabulary.words, np.int32)
            count = walk_inside(space.leaves.arrays, space.trie, leaf, row, missing)
            if not count:
                return row
            for state in set(missing[:count].tolist()):
                space.leaves.expand(state, 64)

    def _of_length(self, most: int | None) -> npt.NDArray[np.int32]:
        """The tokens that stay inside when at most `most` characters may follow, whichever."""
        bound = self._most if most is None else min(most, self._most)
        row = self._rows.get(bound)
        if row is None:
            row = self._rows[bound] = packed(self._stays & (self._characters <= bound))
        return row


def packed(allowed: npt.NDArray[np.bool_]) -> npt.NDArray[np.int32]:
    """A bool per token as a mask row."""
    bits = np.zeros((len(allowed) + 31) // 32 * 32, np.bool_)
    bits[: len(allowed)] = allowed
    return np.packbits(bits, bitorder="little").view("<i4").astype(np.int32)


NARROW: Final = -1


def characters_left(term: Regular) -> int | None:
    """How many arbitrary characters may still come inside a string of `term`.

    None is any number. NARROW if not every next character is possible, or that can't be told from
    the look of the term.
    """
    if term is ANY_CHAR:
        return 1
    match term:
        case Repeat(body=body, most=most) if body is ANY_CHAR:
            return most
        case Concat(head=head) if head is ANYTHING:
            return None
        case Alt(options=parts) | Vector(parts=parts):
            bounds = [characters_left(part) for part in parts if part is not EMPTY]
            if None in bounds:
                return None
            return max(b for b in bounds if b is not None) if NARROW not in bounds else NARROW
        case Both(parts=parts):
            return _but_for_some(parts)
        case _:
            return NARROW


def _but_for_some(parts: tuple[Regular, ...]) -> int | None:
    """Strings with finitely many exceptions: longer ones can always still be written."""
    free = [part for part in parts if not isinstance(part, Complement)]
    bounds = [characters_left(part) for part in free]
    if len(free) > 1 or NARROW in bounds:
        return NARROW
    bound = bounds[0] if bounds else None
    for part in parts:
        if isinstance(part, Complement):
            if not isinstance(part.body, Words):
                return NARROW
            words = part.body
            strings = words.table.strings[words.low : words.high]
            if bound is not None and bound <= max(map(len, strings)) - words.depth:
                return NARROW
    return bound


_spaces: WeakKeyDictionary[Vocabulary, Space] = WeakKeyDictionary()
_spaces_lock = RLock()


def space_of(vocabulary: Vocabulary) -> Space:
    """The present tables of a vocabulary."""
    with _spaces_lock:
        space = _spaces.get(vocabulary)
        if space is None or space.leaves.count > MOST_LEAVES:
            space = _spaces[vocabulary] = Space(vocabulary)
        return space
