"""Tries of words as leaf states, a whole list at a time.

Before a name of an object can be read, nearly every place in its names is looked at: a token may
run through most of them. So the states of such a list are made at once, in compiled code, with
numbers side by side; what each of them stands for is found when somebody asks.
"""

# Compiled code: array elements are plain numbers here, which numpy's types don't say.
# pyright: reportUntypedFunctionDecorator=false, reportArgumentType=false
# pyright: reportUnknownParameterType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportMissingParameterType=false, reportReturnType=false
from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from maskwright.automaton.leaf_keys import Escape, Text
from maskwright.automaton.leaf_rows import Overrides
from maskwright.grammar.regular import (
    ANYTHING,
    EMPTY,
    Regular,
    Vector,
    WordList,
    Words,
    vector,
    word_slice,
)

_QUOTE: Final = 0x22
_BACKSLASH: Final = 0x5C

Int32 = npt.NDArray[np.int32]


class Beside(NamedTuple):
    """A list of words, and what else may be read with it."""

    table: WordList
    others: tuple[Regular, ...] | None
    """The other parts of a named vector, each empty or anything; None for the words alone."""

    @property
    def open(self) -> bool:
        """Whether there are other texts than the words."""
        return any(other is not EMPTY for other in self.others or ())


class WordTrie:
    """The places in a list of words, numbered: the root, then those of each word that the words
    before it don't have."""

    def __init__(self, beside: Beside, state: int) -> None:
        """`state`: the first of the states, one for each place and then one behind a backslash at
        each."""
        self.beside: Final = beside
        self.state: Final = state
        strings = beside.table.strings
        self._text = np.frombuffer("".join(strings).encode(), np.uint8)
        self._stop = np.cumsum([len(string) for string in strings], dtype=np.int32)
        self._shared = np.zeros(len(strings), np.int32)
        self.size: Final = int(_number(self._text, self._stop, self._shared))
        self._first = 1 + np.cumsum(np.diff(self._stop, prepend=0) - self._shared, dtype=np.int32)
        self._first = np.concatenate([np.ones(1, np.int32), self._first[:-1]])
        self.low: Final = np.zeros(self.size, np.int32)
        self.high: Final = np.zeros(self.size, np.int32)
        self._depth = np.zeros(self.size, np.int32)
        self._parent = np.zeros(self.size, np.int32)

    def place(self, node: Words) -> int:
        """The number of a place."""
        if node.depth == 0:
            return 0
        return int(self._first[node.low]) + node.depth - int(self._shared[node.low]) - 1

    @property
    def ended(self) -> Int32:
        """[nodes]: 1 where a word ends."""
        lengths = np.diff(self._stop, prepend=0)
        return (lengths[self.low] == self._depth).astype(np.int32)

    def key(self, state: int) -> Text | Escape:
        """What one of the states stands for."""
        at = state - self.state
        place = at % self.size
        low, high, depth = (int(each[place]) for each in (self.low, self.high, self._depth))
        term: Regular = word_slice(self.beside.table, low, high, depth)
        if self.beside.others is not None:
            term = vector((term, *self.beside.others), named=True)
        return Text(True, term) if at < self.size else Escape(term)

    def rows(self, ends: Int32) -> Overrides:
        """The overrides of all places; `ends` [words] are the states behind the words' quotes."""
        most = 3 * self.size
        found = Overrides(
            np.zeros(self.size + 1, np.int32), np.zeros(most, np.uint8), np.zeros(most, np.int32)
        )
        count = _fill(
            self._text,
            self._stop,
            self._shared,
            ends,
            self.state,
            self.beside.open,
            self.low,
            self.high,
            self._depth,
            self._parent,
            found.start,
            found.byte,
            found.target,
        )
        return Overrides(found.start, found.byte[:count], found.target[:count])


def trie_of(term: Regular) -> tuple[Beside, Words] | None:
    """The list of words that `term` is a place in, and the place; None if it is none, or in one
    that isn't made at once."""
    others = None
    if isinstance(term, Vector) and term.named:
        others = term.parts[1:]
        if any(other is not EMPTY and other is not ANYTHING for other in others):
            return None
        term = term.parts[0]
    if not isinstance(term, Words) or not term.table.whole:
        return None
    return Beside(term.table, others), term


@njit(cache=True)
def _number(text, stop, shared):
    """Fill in how many characters each word shares with the one before it; returns the places."""
    size = 1
    for word in range(len(stop)):
        start = stop[word - 1] if word else 0
        length = stop[word] - start
        if word:
            before = stop[word - 2] if word > 1 else 0
            most = min(length, start - before)
            same = 0
            while same < most and text[before + same] == text[start + same]:
                same += 1
            shared[word] = same
        size += length - shared[word]
    return size


@njit(cache=True)
def _fill(text, stop, shared, ends, state, is_open, low, high, depths, parent, first, byte, target):
    """Number the places, and fill in the overrides of each; returns how many there are."""
    size = len(low)
    words = len(stop)
    count = 1
    longest = 0
    for word in range(words):
        longest = max(longest, stop[word] - (stop[word - 1] if word else 0))
    path = np.zeros(longest + 1, np.int32)
    over = np.zeros(size, np.int32)
    high[0] = words
    for word in range(words):
        start = stop[word - 1] if word else 0
        length = stop[word] - start
        for depth in range(1, length + 1):
            if depth > shared[word]:
                path[depth] = count
                parent[count] = path[depth - 1]
                low[count] = word
                depths[count] = depth
                letter = text[start + depth - 1]
                if letter >= 0x20 and letter != _QUOTE and letter != _BACKSLASH:
                    over[path[depth - 1]] += 1
                count += 1
            high[path[depth]] = word + 1
    for node in range(size):
        word = low[node]
        ended = stop[word] - (stop[word - 1] if word else 0) == depths[node]
        over[node] += ended
        over[node] += is_open or high[node] > word + ended
        first[node + 1] = first[node] + over[node]
        over[node] = first[node]
    for node in range(size):
        word = low[node]
        start = stop[word - 1] if word else 0
        ended = stop[word] - start == depths[node]
        if ended:
            byte[over[node]] = _QUOTE
            target[over[node]] = ends[word]
            over[node] += 1
        if is_open or high[node] > word + ended:
            byte[over[node]] = _BACKSLASH
            target[over[node]] = state + size + node
            over[node] += 1
        if node:
            letter = text[start + depths[node] - 1]
            if letter >= 0x20 and letter != _QUOTE and letter != _BACKSLASH:
                at = over[parent[node]]
                byte[at] = letter
                target[at] = state + node
                over[parent[node]] += 1
    return first[size]
