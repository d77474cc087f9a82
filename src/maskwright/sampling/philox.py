"""Philox4x32-10: random 32-bit words as a pure function of a key and a counter.

Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC'11. The key is a
request's 64-bit seed; the counter is (token >> 2, position, stream, 0), and token & 3 picks one of
the four words. No state is stored between draws, so that replay, preemption, batching and
speculative decoding can't change them.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from maskwright.compiled import compiled

TARGET: Literal[0] = 0
"""The stream of the draws that choose tokens."""

_MULTIPLIER_0, _MULTIPLIER_1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_BUMP_0, _BUMP_1 = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)
_ROUNDS = 10


@compiled(nogil=True, inline="always")  # else the loops that call it are not vectorised
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
        word_0 = (product_1 >> HALF) ^ word_1 ^ key_0
        word_1 = product_1 & LOW
        word_2 = (product_0 >> HALF) ^ word_3 ^ key_1
        word_3 = product_0 & LOW
        key_0 = (key_0 + _BUMP_0) & LOW
        key_1 = (key_1 + _BUMP_1) & LOW
    return word_0, word_1, word_2, word_3


@compiled(nogil=True)
def words_of_counters(
    seed: np.uint64, position: np.uint64, first: int, stream: int, out: NDArray[np.uint32]
) -> None:
    """The random words of the tokens from `4 * first` on: `out` uint32 `[4 * counters]` gets word
    `j` of counter `first + i` at `j * counters + i`, so that the compiler can make vectors of the
    loop over counters."""
    counters = len(out) // 4
    low, high = np.uint64(seed) & LOW, np.uint64(seed) >> HALF
    for i in range(counters):
        a, b, c, d = philox(
            low,
            high,
            np.uint64(first + i),
            np.uint64(position),
            np.uint64(stream),
            np.uint64(0),
        )
        out[i] = np.uint32(a)
        out[counters + i] = np.uint32(b)
        out[2 * counters + i] = np.uint32(c)
        out[3 * counters + i] = np.uint32(d)
