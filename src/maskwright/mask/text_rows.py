"""Ready rows of plain text in which one set of characters may come any number of times.

Identifiers, words, the inside of a quoted string: a token all of whose characters are in the set
only goes on with the text, whatever surrounds it. Which tokens those are is told by the characters
alone; what else begins with one of the characters stands in a trie of its own, and only that is
walked.
"""

# Compiled code: array elements are plain numbers here, which numpy's types don't say.
# pyright: reportUntypedFunctionDecorator=false, reportArgumentType=false
from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from maskwright.grammar.charset import LAST
from maskwright.grammar.regular import Regular
from maskwright.grammar.split import Split, split
from maskwright.mask.rows import RowTable, packed
from maskwright.mask.tables import Begun, FanTable, Spelling
from maskwright.vocab import Vocabulary
from maskwright.vocab.trie import Fan, Trie

FEWEST: Final = 12
"""Characters of a set that is worth a row."""


class Letters(NamedTuple):
    """A set of characters: bit n of `low` for n < 64, of `high` for 64 <= n < 128; `beyond` are all
    characters outside ASCII, none of them otherwise."""

    low: int
    high: int
    beyond: bool

    @property
    def size(self) -> int:
        return self.low.bit_count() + self.high.bit_count() + 128 * self.beyond

    def within(self, other: Letters) -> bool:
        return (
            self.low & ~other.low == 0
            and self.high & ~other.high == 0
            and other.beyond >= self.beyond
        )


class Run(NamedTuple):
    """A text that goes on with one of `first`, then with any of `later` again and again."""

    first: Letters
    later: Letters


class Texts(NamedTuple):
    """What texts are made of, by token."""

    low: npt.NDArray[np.uint64]
    high: npt.NDArray[np.uint64]
    """Their ASCII characters, as in `Letters`."""
    kind: npt.NDArray[np.uint8]
    first: npt.NDArray[np.uint8]
    """The first byte."""

    @classmethod
    def of(cls, texts: Sequence[bytes]) -> Texts:
        count = len(texts)
        data = np.frombuffer(b"".join(texts), np.uint8)
        start = np.cumsum([0, *map(len, texts)], dtype=np.int64)
        found = cls(
            np.zeros(count, np.uint64),
            np.zeros(count, np.uint64),
            np.zeros(count, np.uint8),
            np.zeros(count, np.uint8),
        )
        _describe(data, start, *found)
        return found

    def among(
        self, run: Run, first: npt.NDArray[np.uint8]
    ) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """[V] each: the texts that stay within a run, and the others that begin with one of the
        bytes in `first`, those with which a run begins."""
        begun = first[self.first].astype(np.bool_) & (self.kind != NONE)
        stays = (self.low & np.uint64(~run.later.low & _ALL)) == 0
        stays &= (self.high & np.uint64(~run.later.high & _ALL)) == 0
        stays &= begun & (self.kind <= (BEYOND if run.later.beyond else ASCII))
        return stays, begun & ~stays


class TextRows:
    """Of one vocabulary, each made when first needed."""

    def __init__(self, vocabulary: Vocabulary, spelling: Spelling, table: RowTable) -> None:
        self._texts = vocabulary.spellings
        self._table = table
        self._data, self._start = spelling.data, spelling.start
        self._runs: dict[Regular, Run | None] = {}
        self._known: dict[tuple[Run | None, Run | None], _Kept] = {}

    @cached_property
    def _whole(self) -> Texts:
        return Texts.of(self._texts)

    @cached_property
    def _behind_space(self) -> Texts:
        return Texts.of([text[1:] if text[:1] == b" " else b"" for text in self._texts])

    @cached_property
    def _order(self) -> npt.NDArray[np.int32]:
        """The tokens by their texts."""
        return np.array(sorted(range(len(self._texts)), key=self._texts.__getitem__), np.int32)

    def run(self, parts: tuple[Regular, ...]) -> Run | None:
        """The widest run with which one of `parts` may go on."""
        best: Run | None = None
        for part in parts:
            if part not in self._runs:
                self._runs[part] = _widest_run(part)
            run = self._runs[part]
            if run is not None and (best is None or run.first.size > best.first.size):
                best = run
        return best

    def begun(self, run: Run | None, spaced: Run | None) -> Begun:
        """What of a mask is known where the text may go on with `run`, or with a space and then
        `spaced`."""
        if run is not None and run.first.low >> 32 & 1:
            spaced = None
        known = self._known.get((run, spaced))
        if known is None:
            known = self._known[run, spaced] = self._make(run, spaced)
        return known.begun

    def _make(self, run: Run | None, spaced: Run | None) -> _Kept:
        allowed = np.zeros(len(self._texts), np.bool_)
        rest = np.zeros(len(self._texts), np.bool_)
        skipped = np.zeros(768, np.uint8)
        for texts, each, at in ((self._whole, run, 0), (self._behind_space, spaced, 256)):
            if each is not None:
                first = _first_bytes(each.first)
                stays, others = texts.among(each, first)
                allowed |= stays
                rest |= others
                skipped[at : at + 256] = first
        chosen = self._order[rest[self._order]]
        table = FanTable(Fan.of(Trie.of_ordered(self._data, self._start, chosen)))
        begun = Begun(*self._table.ready(packed(allowed)), table.address, int(skipped.ctypes.data))
        return _Kept(begun, table, skipped)


class _Kept(NamedTuple):
    """What is at hand, and what its addresses point to."""

    begun: Begun
    table: FanTable
    skipped: npt.NDArray[np.uint8]


_ALL: Final = (1 << 64) - 1

# What a token's text is.
ASCII: Final = 1
BEYOND: Final = 2
"""Whole characters, some of them outside ASCII."""
BROKEN: Final = 3
"""It begins or ends within a character, or is no text."""
NONE: Final = 0


def _widest_run(term: Regular) -> Run | None:
    """The run with the largest set of characters with which a text may go on."""
    found = split(term)
    best: Run | None = None
    for target in found.targets:
        first = _letters(found, target)
        if first.size < (FEWEST if best is None else best.first.size + 1):
            continue
        later = _letters(split(target), target)
        if first.within(later):
            best = Run(first, later)
    return best


def _letters(found: Split, target: Regular) -> Letters:
    """The characters that lead to `target`."""
    bits = 0
    for low, high, after in found.ascii:
        if after is target:
            bits |= (1 << (high + 1)) - (1 << low)
    every = any(after is target and some.ranges in _BEYOND for some, after in found.beyond)
    return Letters(bits & _ALL, bits >> 64, every)


_BEYOND: Final = (((0x80, LAST),), ((0x80, 0xD7FF), (0xE000, LAST)))
"""All characters outside ASCII; surrogates are in no text."""


def _first_bytes(letters: Letters) -> npt.NDArray[np.uint8]:
    """uint8 [256]: 1 for the bytes with which one of the characters begins."""
    found = np.zeros(256, np.uint8)
    bits = letters.high << 64 | letters.low
    found[[point for point in range(128) if bits >> point & 1]] = 1
    if letters.beyond:
        found[0xC2:0xF5] = 1
    return found


@njit(cache=True, nogil=True)
def _describe(
    data: np.ndarray,
    start: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    kind: np.ndarray,
    first: np.ndarray,
) -> None:
    """By token: its ASCII characters (as in `Letters`), what it is, and its first byte."""
    one = np.uint64(1)
    for token in range(len(kind)):
        at, stop = start[token], start[token + 1]
        if at == stop:
            continue
        first[token] = data[at]
        kind[token] = ASCII
        while at < stop:
            byte = data[at]
            at += 1
            if byte < 64:
                low[token] |= one << np.uint64(byte)
            elif byte < 128:
                high[token] |= one << np.uint64(byte - 64)
            else:
                kind[token] = max(kind[token], BEYOND)
                left = 1 if byte < 0xE0 else 2 if byte < 0xF0 else 3
                if byte < 0xC2 or byte > 0xF4 or at + left > stop:
                    kind[token] = BROKEN
                    break
                least = 0xA0 if byte == 0xE0 else 0x90 if byte == 0xF0 else 0x80
                most = 0x9F if byte == 0xED else 0x8F if byte == 0xF4 else 0xBF
                for _ in range(left):
                    if data[at] < least or data[at] > most:
                        kind[token] = BROKEN
                    least, most = 0x80, 0xBF
                    at += 1
