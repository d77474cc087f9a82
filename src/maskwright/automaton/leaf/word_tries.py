"""Tries of words as leaf states, a whole list at a time.

The first mask before a name of an object visits nearly every place in its names, since a token may
pass through most of them. So all states of such a list are made at once, in compiled code, with
consecutive numbers; the key of each is computed when it is asked for.
"""

# Compiled code: array elements are plain numbers here, which numpy's types don't say.
# pyright: reportUntypedFunctionDecorator=false, reportArgumentType=false
# pyright: reportUnknownParameterType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportMissingParameterType=false, reportReturnType=false
from __future__ import annotations

from itertools import accumulate
from typing import Final, NamedTuple

import numpy as np

from maskwright.automaton.leaf.keys import Escape, Hex, Text
from maskwright.automaton.leaf.rows import Overrides
from maskwright.automaton.leaf.utf8 import BACKSLASH, LETTER_U, QUOTE, SHORT_ESCAPES
from maskwright.compiled import compiled
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

LOW: Final = 0
"""The first of the words that go on from a place, or end there."""
HIGH: Final = 1
"""One more than the last of them."""
ENDED: Final = 2
"""1 where a word ends."""
_DEPTH: Final = 3
_PARENT: Final = 4
_OVER: Final = 5

_STOP: Final = 0
"""By word: where it ends in the text of all."""
_SHARED: Final = 1
"""How many characters it shares with the one before it."""
_FIRST: Final = 2
"""The place after the first character that it does not share."""
_END: Final = 3
"""The state after its closing quote."""


_ESCAPES: Final = tuple(SHORT_ESCAPES.keys())
_ESCAPED: Final = tuple(SHORT_ESCAPES.values())


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
    """The places in a list of words, numbered: the root, then those of each word that the words
    before it don't have."""

    def __init__(self, names: NameLanguage, state: int) -> None:
        """`state`: the first of the states: one for each place, then one after a backslash at
        each, then one after `\\u` at each."""
        self.names: Final = names
        self.state: Final = state
        strings = names.table.strings
        text = "".join(strings).encode()
        self._words = np.zeros((4, len(strings)), np.int32)
        self._words[_STOP] = list(accumulate(map(len, strings)))
        self._text = np.frombuffer(text, np.uint8)
        self.size: Final = int(_number(self._text, self._words))
        self.places: Final = np.zeros((6, self.size), np.int32)
        """By place: see `LOW`, `HIGH` and the others."""

    def place(self, node: Words) -> int:
        """The number of a place."""
        if node.depth == 0:
            return 0
        words = self._words
        return int(words[_FIRST, node.low]) + node.depth - int(words[_SHARED, node.low]) - 1

    @property
    def count(self) -> int:
        """How many states there are."""
        return 3 * self.size

    def key(self, state: int) -> Text | Escape | Hex:
        """What one of the states stands for."""
        place = (state - self.state) % self.size
        low, high, depth = (int(self.places[each, place]) for each in (LOW, HIGH, _DEPTH))
        term: Regular = word_slice(self.names.table, low, high, depth)
        if self.names.others is not None:
            term = tagged((term, *self.names.others), named=True)
        return self._key(state, term)

    def beyond(self, state: int) -> Text | Escape | Hex:
        """What one of the states would stand for without the words, where there are other texts."""
        return self._key(state, self.names.beyond)

    def _key(self, state: int, term: Regular) -> Text | Escape | Hex:
        at = state - self.state
        if at < self.size:
            return Text(True, term)
        return Escape(term) if at < 2 * self.size else Hex(term, 0, 4)

    def rows(self, ends: list[int]) -> Overrides:
        """The overrides of all places, then of those after a backslash; `ends` [words] are the
        states after the words' closing quotes."""
        start = np.zeros(2 * self.size + 1, np.int32)
        byte, target = np.zeros(5 * self.size, np.uint8), np.zeros(5 * self.size, np.int32)
        self._words[_END] = ends
        is_open, bare = self.names.open, self.names.table.bare
        count = _fill(
            self._text, self._words, self.state, is_open, bare, self.places, start, byte, target
        )
        return Overrides(start, byte[:count], target[:count])


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


@compiled
def _number(text, words):
    """Fill in what each word shares with the one before it, and its first place; returns how many
    places there are."""
    size = 1
    before = start = 0
    for word in range(words.shape[1]):
        stop = words[_STOP, word]
        same = 0
        if word:
            most = min(stop - start, start - before)
            while same < most and text[before + same] == text[start + same]:
                same += 1
        words[_SHARED, word] = same
        words[_FIRST, word] = size
        size += stop - start - same
        before, start = start, stop
    return size


@compiled
def _fill(text, words, state, is_open, bare, places, first, byte, target):
    """Number the places, and fill in the overrides of each; returns how many there are."""
    low, high, depths, parent = places[LOW], places[HIGH], places[_DEPTH], places[_PARENT]
    ended, over = places[ENDED], places[_OVER]
    size = len(low)
    path = np.zeros(len(text) + 1, np.int32)
    escapes = np.zeros(size, np.int32)
    count = 1
    start = 0
    high[0] = words.shape[1]
    for word in range(words.shape[1]):
        length = words[_STOP, word] - start
        for depth in range(1, length + 1):
            if depth > words[_SHARED, word]:
                path[depth] = count
                parent[count] = path[depth - 1]
                low[count] = word
                depths[count] = depth
                over[path[depth - 1]] += _is_plain(text[start + depth - 1])
                escapes[path[depth - 1]] += _short_escape(text[start + depth - 1]) != 0
                count += 1
            high[path[depth]] = word + 1
        ended[path[length]] = 1
        start += length
    for node in range(size):
        escaped = is_open or (high[node] > low[node] + ended[node] and not bare)
        over[node] += ended[node] + escaped
        first[node + 1] = first[node] + over[node]
        over[node] = first[node]
    for node in range(size):
        goes_on = high[node] > low[node] + ended[node]
        first[size + node + 1] = first[size + node] + escapes[node] + goes_on
        escapes[node] = first[size + node]
        if goes_on:
            byte[escapes[node]] = LETTER_U
            target[escapes[node]] = state + 2 * size + node
            escapes[node] += 1
    for node in range(size):
        if ended[node]:
            byte[over[node]] = QUOTE
            target[over[node]] = words[_END, low[node]]
            over[node] += 1
        if is_open or (high[node] > low[node] + ended[node] and not bare):
            byte[over[node]] = BACKSLASH
            target[over[node]] = state + size + node
            over[node] += 1
        if node:
            start = words[_STOP, low[node] - 1] if low[node] else 0
            letter = text[start + depths[node] - 1]
            if _is_plain(letter):
                at = over[parent[node]]
                byte[at] = letter
                target[at] = state + node
                over[parent[node]] += 1
            escape = _short_escape(letter)
            if escape:
                at = escapes[parent[node]]
                byte[at] = escape
                target[at] = state + node
                escapes[parent[node]] += 1
    return first[2 * size]


@compiled(inline="always")
def _short_escape(letter):
    """The byte that spells a character after a backslash, 0 if there is none."""
    for at in range(len(_ESCAPED)):
        if _ESCAPED[at] == letter:
            return _ESCAPES[at]
    return 0


@compiled(inline="always")
def _is_plain(letter):
    """Whether a character is spelled as it is."""
    return letter >= 0x20 and letter != QUOTE and letter != BACKSLASH
