"""Strings that must not occur in an answer, however it is cut into tokens."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]


class TextBan:
    """Says which tokens would complete one of some byte strings. Immutable.

    A token completes a string if it contains the whole of it, or if the text so far ends with a
    beginning of the string and the token begins with the rest.
    """

    def __init__(self, words: Sequence[bytes], texts: tuple[bytes, ...]) -> None:
        """`words`: the strings, none of them empty. `texts`: the vocabulary's tokens."""
        self.words = tuple(words)
        self._texts = texts
        self._longest = max(map(len, words), default=1) - 1
        within = [np.fromiter(_containing(word, texts), np.int64) for word in words]
        self._containing = np.unique(np.concatenate(within)) if within else np.zeros(0, np.int64)

    def tokens(self, output: Sequence[int], begin: int = 0) -> Ids:
        """Return the ids of tokens that may not follow `output`, which counts from `begin` on; an
        id may occur twice."""
        tail = self._tail(output, begin)
        rests = [
            word[length:]
            for word in self.words
            for length in range(1, len(word))
            if tail.endswith(word[:length])
        ]
        begun = [_beginning(rest, self._texts) for rest in rests]
        return np.concatenate((self._containing, *begun))

    def _tail(self, output: Sequence[int], begin: int) -> bytes:
        """Return the end of the text so far, at least as long as the longest beginning."""
        tail, at = b"", len(output)
        while at > begin and len(tail) < self._longest:
            at -= 1
            tail = self._texts[output[at]] + tail
        return tail


def _containing(word: bytes, texts: tuple[bytes, ...]) -> Iterator[int]:
    """Yield the tokens that contain `word`."""
    joined, ends = _joined(texts)
    at = joined.find(word)
    while at >= 0:
        token = int(np.searchsorted(ends, at, side="right"))
        if at + len(word) <= ends[token]:
            yield token
            at = joined.find(word, int(ends[token]))
        else:
            at = joined.find(word, at + 1)


def _beginning(rest: bytes, texts: tuple[bytes, ...]) -> Ids:
    """Return the tokens that begin with `rest`."""
    ordered, ids = _ordered(texts)
    first = bisect_left(ordered, rest)
    after = bisect_left(ordered, True, first, key=lambda text: not text.startswith(rest))
    return ids[first:after]


@lru_cache(maxsize=2)
def _joined(texts: tuple[bytes, ...]) -> tuple[bytes, Ids]:
    """Return all texts, one after the other, and where each one ends."""
    return b"".join(texts), np.cumsum([len(text) for text in texts], dtype=np.int64)


@lru_cache(maxsize=2)
def _ordered(texts: tuple[bytes, ...]) -> tuple[list[bytes], Ids]:
    """Return the texts in order, and their tokens."""
    ids = np.array(sorted(range(len(texts)), key=texts.__getitem__), np.int64)
    return [texts[token] for token in ids.tolist()], ids
