"""Tries of words as leaf states, a whole list at a time.

The first mask before a name of an object visits nearly every place in its names, since a token may
pass through most of them. So all states of such a list are made at once, with
consecutive numbers; the key of each is computed when it is asked for.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from maskwright.automaton.leaf.keys import Escape, Hex, Text
from maskwright.automaton.leaf.rows import WordPlaces
from maskwright.grammar.regular.terms import (
    ANYTHING,
    EMPTY,
    Regular,
    Tagged,
    WordList,
    Words,
    tagged,
    word_slice,
)


class NameLanguage(NamedTuple):
    """A list of words, and what else may be read with it."""

    table: WordList
    others: tuple[Regular, ...] | None
    """The other parts of a named tagged term, each empty or anything; None for the words alone."""

    @property
    def open(self) -> bool:
        """Whether there are other texts than the words."""
        return any(other is not EMPTY for other in self.others or ())

    @property
    def beyond(self) -> Regular:
        """These other texts."""
        return tagged((EMPTY, *(self.others or ())), named=True)


class WordTrie:
    """The places in a list of words as leaf states."""

    def __init__(self, names: NameLanguage, state: int) -> None:
        """`state`: the first of the states: one for each place, then one after a backslash at
        each, then one after `\\u` at each."""
        self.names: Final = names
        self.state: Final = state
        self.places: Final = WordPlaces(names.table.strings)
        self.size: Final = self.places.size

    def place(self, node: Words) -> int:
        """The number of a place."""
        return self.places.place(node.low, node.depth)

    @property
    def count(self) -> int:
        """How many states there are."""
        return 3 * self.size

    def key(self, state: int) -> Text | Escape | Hex:
        """What one of the states stands for."""
        place = (state - self.state) % self.size
        term: Regular = word_slice(self.names.table, *self.places.words_at(place))
        if self.names.others is not None:
            term = tagged((term, *self.names.others), named=True)
        return self._key(state, term)

    def _key(self, state: int, term: Regular) -> Text | Escape | Hex:
        at = state - self.state
        if at < self.size:
            return Text(True, term)
        return Escape(term) if at < 2 * self.size else Hex(term, 0, 4)


def trie_of(term: Regular) -> tuple[NameLanguage, Words] | None:
    """The list of words that `term` is a place in, and the place; None if it is none, or in one
    that isn't made at once."""
    others = None
    if isinstance(term, Tagged) and term.named:
        others = term.parts[1:]
        if any(other is not EMPTY and other is not ANYTHING for other in others):
            return None
        term = term.parts[0]
    if not isinstance(term, Words) or not term.table.whole:
        return None
    return NameLanguage(term.table, others), term
