"""What all grammars over one vocabulary share: leaf automata, mask rows, ready rows of strings."""

from __future__ import annotations

from functools import cached_property
from threading import RLock
from typing import Final
from weakref import WeakKeyDictionary

from maskwright.automaton.leaf import LeafTable
from maskwright.mask.rows import Ready, RowTable
from maskwright.mask.strings import StringRows, is_within
from maskwright.mask.tables import Spelling
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
            self._strings = StringRows(self.vocabulary, self.leaves)
            self.leaving = Fan.of(self._strings.leaving)
        return self._strings

    def ready(self, leaf: int) -> Ready:
        """The row of the tokens that stay inside a string from `leaf` on; NOT_READY if it is no
        place in a string, or one where the context has a say in them."""
        known = self._ready.get(leaf)
        if known is None:
            known = NOT_READY
            keys = self.leaves.keys
            if is_within(leaf, keys) and not self.leaves.arrays.gate_high[leaf]:
                known = self.table.ready(self.strings.ready(leaf, keys))
            self._ready[leaf] = known
        return known


_spaces: WeakKeyDictionary[Vocabulary, Space] = WeakKeyDictionary()
_spaces_lock = RLock()


def space_of(vocabulary: Vocabulary) -> Space:
    """The present tables of a vocabulary."""
    with _spaces_lock:
        space = _spaces.get(vocabulary)
        if space is None or space.leaves.count > MOST_LEAVES:
            space = _spaces[vocabulary] = Space(vocabulary)
        return space
