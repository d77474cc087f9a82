"""Draws a token for each row under its mask, in compiled code and one pass over the logits.

Gumbel-max trick: adding independent Gumbel noise to the logits and taking the highest sum draws
from the softmax. The noise of a token depends only on the request's seed, the position and the
token id, so a draw does not depend on the batch. By definition, a token with the scaled logit z and
u = (word + 0.5) / 2**32 has the score z - log(-log(1 - u)), computed in float64 with the C
library's logarithms. Other implementations may differ in the last bit of the noise, which matters
only if two scores agree to 15 digits.

Few scores are computed. Since -log(1 - u) >= u, a token can only exceed a score s that another one
has if u < exp(z - s). So one comparison of its random word replaces the logarithms, and the highest
logit of a block of tokens gives one bound for the whole block. No score exceeds z + 22.88, so
blocks far enough below s need no random words at all. The block with the highest logit comes first,
so that s is high from the beginning.
"""

# In compiled code array elements are plain numbers, which numpy's type stubs don't express.
# pyright: reportUntypedFunctionDecorator=false, reportArgumentType=false, reportReturnType=false
# pyright: reportUnknownParameterType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportMissingParameterType=false
from __future__ import annotations

import math
from typing import Final

import numpy as np

from maskwright.compiled import compiled
from maskwright.sampling.philox import TARGET, words_of_counters

EMPTY: Final = -1
"""Result in place of a token: every token that the mask allows has the logit -inf."""

NOT_FINITE: Final = -2
"""Result in place of a token: an allowed logit is +inf or NaN."""

_BLOCK: Final = 64
"""Tokens in a block, which have one upper bound: two words of the mask, 16 counters."""

_SLACK: Final = 1.001 * 2.0**32
"""Factor from a bound on u to one on random words, with a margin for rounding in `exp(z - s)`."""

_WHOLE: Final = np.uint32(0xFFFFFFFF)
_INFINITY: Final = np.int32(0x7F800000)
_MAGNITUDE: Final = np.int32(0x7FFFFFFF)
_NOTHING: Final = np.int32(-0x800000) ^ _MAGNITUDE
"""The key of -inf: of tokens that are not allowed, and of blocks without an allowed token."""


@compiled(nogil=True)
def draw_rows(logits, words, temperatures, seeds, positions, out):
    """Choose a token for each row of `logits` float32 `[rows, vocab]` among those that its mask
    `words` int32 `[rows, words]` allows; the result, or `EMPTY` or `NOT_FINITE`, goes into `out`
    int64 `[rows]`. `temperatures` float32; 0 takes the highest logit. `seeds` and `positions`
    uint64, positions below 2**32. Ties go to the lowest token id."""
    peaks = np.empty((logits.shape[1] + _BLOCK - 1) // _BLOCK, np.int32)
    noise = np.empty(_BLOCK, np.uint32)
    for row in range(len(logits)):
        values, mask = logits[row], words[row]
        fine = _find_peaks(values.view(np.int32), mask, peaks)
        first = np.argmax(peaks)
        if not fine or peaks[first] == _INFINITY:
            out[row] = NOT_FINITE
        elif peaks[first] == _NOTHING:
            out[row] = EMPTY
        elif temperatures[row] == 0:
            out[row] = _first_highest(values, mask, peaks, first)
        else:
            seed, position = seeds[row], positions[row]
            out[row] = _draw(values, mask, temperatures[row], seed, position, peaks, first, noise)


@compiled(nogil=True, inline="always")
def _key(bits):
    """Return an int32 key in the order of the float32 numbers with these bits, except NaN. The
    function is its own inverse."""
    return bits ^ ((bits >> np.int32(31)) & _MAGNITUDE)


@compiled(nogil=True)
def _find_peaks(bits, words, peaks):
    """Write the highest key among the allowed tokens of each block to `peaks` int32 `[blocks]`, and
    return whether no allowed logit is NaN. `bits`: the bits of the logits, int32 `[vocab]`."""
    size = len(bits)
    largest = np.int32(0)
    for block in range(len(peaks)):
        peak = _NOTHING
        for word in range(2 * block, min(2 * block + 2, len(words))):
            allowed = words[word]
            begin = 32 * word
            if allowed == 0:
                continue
            if begin + 32 > size:
                for i in range(size - begin):
                    if (allowed >> np.int32(i)) & np.int32(1):
                        largest = max(largest, bits[begin + i] & _MAGNITUDE)
                        peak = max(peak, _key(bits[begin + i]))
            elif allowed == -1:
                for i in range(32):
                    largest = max(largest, bits[begin + i] & _MAGNITUDE)
                    peak = max(peak, _key(bits[begin + i]))
            else:
                for i in range(32):
                    on = -((allowed >> np.int32(i)) & np.int32(1))
                    largest = max(largest, bits[begin + i] & _MAGNITUDE & on)
                    peak = max(peak, (_key(bits[begin + i]) & on) | (_NOTHING & ~on))
        peaks[block] = peak
    return largest <= _INFINITY


@compiled(nogil=True)
def _draw(values, mask, temperature, seed, position, peaks, first, noise):
    """Return the token with the highest score. Block number `first` has the highest logit. `peaks`
    is overwritten."""
    for block in range(len(peaks)):
        peaks[block] = _key(peaks[block])
    heights = peaks.view(np.float32)
    scale = (heights[first], temperature)
    best = (-np.inf, 0)
    best = _better(values, mask, scale, seed, position, first, _WHOLE, best, noise)
    for block in range(len(heights)):
        if block == first or heights[block] == -np.inf:
            continue
        reach = math.exp(_scaled(heights[block], scale) - best[0]) * _SLACK
        if reach >= 0.5:
            limit = np.uint32(min(reach, 4294967295.0))
            best = _better(values, mask, scale, seed, position, block, limit, best, noise)
    return best[1]


@compiled(nogil=True, inline="always")
def _scaled(value, scale):
    """Return a logit divided by the temperature, after the highest was moved to 0, rounded like in
    the chain."""
    return np.float32(np.float32(value - scale[0]) / scale[1])


@compiled(nogil=True)
def _better(values, mask, scale, seed, position, block, limit, best, noise):
    """Return the best score and its token, after the tokens of a block whose random words are at
    most `limit`."""
    begin = block * _BLOCK
    words_of_counters(seed, position, begin // 4, TARGET, noise)
    below = 0
    for i in range(_BLOCK):
        below += noise[i] <= limit
    if not below:
        return best
    for i in range(min(_BLOCK, len(values) - begin)):
        word, token = noise[(i & 3) * (_BLOCK // 4) + (i >> 2)], begin + i
        if word <= limit and _allows(mask, token):
            score = _scaled(values[token], scale) - math.log(-math.log1p(-(word + 0.5) * 2.0**-32))
            if score > best[0] or (score == best[0] and token < best[1]):
                best = (score, token)
    return best


@compiled(nogil=True)
def _first_highest(values, mask, peaks, first):
    """Return the lowest allowed token with the highest logit, which is in block number `first`.
    -0.0 counts as 0.0, although its key differs."""
    peaks[0] = _key(peaks[first])
    highest = peaks.view(np.float32)[0]
    token = 0 if highest == 0 else first * _BLOCK
    while values[token] != highest or not _allows(mask, token):
        token += 1
    return token


@compiled(nogil=True, inline="always")
def _allows(mask, token):
    return (mask[token >> 5] >> np.int32(token & 31)) & np.int32(1) != 0
