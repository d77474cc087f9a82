"""Philox4x32-10: random words as a pure function of a key and a counter.

Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC'11. The key is a
request's 64-bit seed; the counter is (token >> 2, position, stream, 0), and token & 3 picks one of
the four words. Nothing is stored between draws: replay, preemption, batching and speculation
can't change them.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numba import njit
from numpy.typing import NDArray

Words = NDArray[np.uint64]

TARGET: Literal[0] = 0
"""The stream of the draws that choose tokens."""

_MULTIPLIER_0, _MULTIPLIER_1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_BUMP_0, _BUMP_1 = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_ROUNDS = 10


@njit(cache=True, nogil=True)
def philox(
    key_0: np.uint64,
    key_1: np.uint64,
    word_0: np.uint64,
    word_1: np.uint64,
    word_2: np.uint64,
    word_3: np.uint64,
) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64]:
    """Four 32-bit words of a key and a counter; all are held in uint64."""
    for _ in range(_ROUNDS):
        product_0 = word_0 * _MULTIPLIER_0
        product_1 = word_2 * _MULTIPLIER_1
        word_0 = (product_1 >> _HALF) ^ word_1 ^ key_0
        word_1 = product_1 & _LOW
        word_2 = (product_0 >> _HALF) ^ word_3 ^ key_1
        word_3 = product_0 & _LOW
        key_0 = (key_0 + _BUMP_0) & _LOW
        key_1 = (key_1 + _BUMP_1) & _LOW
    return word_0, word_1, word_2, word_3


@njit(cache=True, nogil=True)
def words_of_tokens(
    seeds: Words,
    positions: Words,
    owners: NDArray[np.int64],
    tokens: NDArray[np.int64],
    stream: int,
) -> Words:
    """The random word, below 2**32, of each (owner, token) pair; `seeds` and `positions` uint64
    are those of the owners."""
    out = np.empty(len(tokens), np.uint64)
    zero = np.uint64(0)
    for i in range(len(tokens)):
        seed, position = np.uint64(seeds[owners[i]]), np.uint64(positions[owners[i]])
        token = np.uint64(tokens[i])
        four = philox(
            seed & _LOW, seed >> _HALF, token >> np.uint64(2), position, np.uint64(stream), zero
        )
        out[i] = four[token & np.uint64(3)]
    return out


@njit(cache=True, nogil=True)
def words_of_rows(seeds: Words, positions: Words, vocab_size: int, stream: int) -> Words:
    """The random words of all tokens, `[rows, vocab_size]`, below 2**32."""
    groups = (vocab_size + 3) // 4
    out = np.empty((len(seeds), groups * 4), np.uint64)
    zero = np.uint64(0)
    for row in range(len(seeds)):
        seed, position = np.uint64(seeds[row]), np.uint64(positions[row])
        for group in range(groups):
            a, b, c, d = philox(
                seed & _LOW, seed >> _HALF, np.uint64(group), position, np.uint64(stream), zero
            )
            at = group * 4
            out[row, at], out[row, at + 1], out[row, at + 2], out[row, at + 3] = a, b, c, d
    return out[:, :vocab_size]
