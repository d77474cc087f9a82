"""Philox4x32-10: random words as a pure function of a key and a counter.

Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC'11. The key is a
request's 64-bit seed; the counter is (token >> 2, position, stream, 0), and token & 3 picks one of
the four words. Nothing is stored between draws: replay, preemption, batching and speculation
can't change them.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]

TARGET: Literal[0] = 0
"""The stream of the draws that choose tokens."""

_MULTIPLIER_0, _MULTIPLIER_1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_BUMP_0, _BUMP_1 = 0x9E3779B9, 0xBB67AE85
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_ROUNDS = 10


def philox(
    key: tuple[Words, Words], counter: tuple[Words, Words, Words, Words]
) -> tuple[Words, Words, Words, Words]:
    """Four 32-bit words (in uint64) for each broadcast element of the key and counter words."""
    key_0, key_1 = key
    word_0, word_1, word_2, word_3 = counter
    for turn in range(_ROUNDS):
        bump_0, bump_1 = np.uint64(turn * _BUMP_0 % 2**32), np.uint64(turn * _BUMP_1 % 2**32)
        product_0, product_1 = word_0 * _MULTIPLIER_0, word_2 * _MULTIPLIER_1
        word_0, word_1, word_2, word_3 = (
            (product_1 >> _HALF) ^ word_1 ^ ((key_0 + bump_0) & _LOW),
            product_1 & _LOW,
            (product_0 >> _HALF) ^ word_3 ^ ((key_1 + bump_1) & _LOW),
            product_0 & _LOW,
        )
    return word_0, word_1, word_2, word_3


def token_words(seeds: Words, positions: Words, groups: Words, stream: int) -> Words:
    """The random words of four neighbouring tokens.

    `seeds`, `positions` and `groups` (token >> 2) uint64, broadcast against each other to a shape
    `[...]`; the result is `[..., 4]`, word i for token 4 * group + i.
    """
    key = (seeds & _LOW, seeds >> _HALF)
    zero = np.zeros_like(groups)
    counter = (groups, positions & _LOW, zero + np.uint64(stream), zero)
    return np.stack(philox(key, counter), axis=-1)
