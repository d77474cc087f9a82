"""The draw of one row after another; what it does for many tokens at once is in `kernels.h`."""

from libc.math cimport INFINITY, exp, log, log1p
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

import numpy as np

from maskwright.native cimport BUILT_FROM
from maskwright.instructions import NUMBER
from maskwright.native import require_built

require_built(__name__, BUILT_FROM)

cdef extern from "instructions.h":
    pass

cdef extern from "sampling/kernels.h":
    enum:
        BLOCK
        INFINITE
        NOTHING

    struct kernels:
        int (*find_peaks)(
            const int32_t *bits, Py_ssize_t size, const int32_t *words, int32_t *peaks
        ) noexcept nogil
        void (*philox)(
            uint64_t key, const uint32_t *counter, Py_ssize_t count, uint32_t *out
        ) noexcept nogil
        int (*any_at_most)(const uint32_t *words, uint32_t limit) noexcept nogil

    const kernels *const KERNEL_SETS[]
    float number_of(int32_t key) noexcept nogil

cdef const kernels *chosen = KERNEL_SETS[<Py_ssize_t>NUMBER]

TARGET = 0
EMPTY = -1
NOT_FINITE = -2

# From a bound on u to one on random words, with a margin for rounding in exp(z - s).
cdef double SLACK = 1.001 * 2.0**32


cdef struct Row:
    const float *logits
    const int32_t *mask
    Py_ssize_t size  # tokens that have a logit and a bit
    float highest, temperature
    uint64_t seed
    uint32_t position


cdef struct Best:
    double score
    Py_ssize_t token


def draw_rows(
    const float[:, ::1] logits, const int32_t[:, ::1] words, const float[::1] temperatures,
    const uint64_t[::1] seeds, const uint64_t[::1] positions, int64_t[::1] out,
):
    cdef Py_ssize_t number, first, block, size = min(logits.shape[1], 32 * words.shape[1])
    cdef Py_ssize_t blocks = (size + BLOCK - 1) // BLOCK
    cdef int32_t[::1] peaks = np.empty(blocks, np.int32)
    cdef bint finite
    cdef Row row
    with nogil:
        for number in range(logits.shape[0]):
            if not size:
                out[number] = -1
                continue
            row.logits, row.mask, row.size = &logits[number, 0], &words[number, 0], size
            row.temperature = temperatures[number]
            row.seed, row.position = seeds[number], <uint32_t>positions[number]
            finite = chosen.find_peaks(<const int32_t *>row.logits, size, row.mask, &peaks[0])
            first = 0
            for block in range(1, blocks):
                if peaks[block] > peaks[first]:
                    first = block
            row.highest = number_of(peaks[first])
            if not finite or peaks[first] == INFINITE:
                out[number] = -2
            elif peaks[first] == NOTHING:
                out[number] = -1
            elif row.temperature == 0:
                out[number] = _first_highest(&row, first)
            else:
                out[number] = _draw(&row, &peaks[0], blocks, first)


def philox(uint64_t key, counter, uint32_t[::1] out):
    cdef uint32_t words[4]
    words[0], words[1], words[2], words[3] = counter
    with nogil:
        chosen.philox(key, words, out.shape[0] // 4, &out[0])


cdef Py_ssize_t _draw(
    const Row *row, const int32_t *peaks, Py_ssize_t blocks, Py_ssize_t first
) noexcept nogil:
    """The token with the highest score. Block number `first` has the highest logit."""
    cdef Py_ssize_t block
    cdef double reach
    cdef Best best
    best.score, best.token = -INFINITY, 0
    _improve(row, first, 0xFFFFFFFF, &best)
    for block in range(blocks):
        if block == first or peaks[block] == NOTHING:
            continue
        reach = exp(_scaled(row, number_of(peaks[block])) - best.score) * SLACK
        if reach >= 0.5:
            _improve(row, block, <uint32_t>min(reach, 4294967295.0), &best)
    return best.token


cdef inline float _scaled(const Row *row, float logit) noexcept nogil:
    """A logit divided by the temperature, after the highest was moved to 0, rounded like in the
    chain."""
    return (logit - row.highest) / row.temperature


cdef void _improve(const Row *row, Py_ssize_t block, uint32_t limit, Best *best) noexcept nogil:
    """Look at the tokens of a block whose random words are at most `limit`."""
    cdef uint32_t words[BLOCK]
    cdef uint32_t counter[4]
    cdef Py_ssize_t i, token, begin = block * BLOCK
    cdef uint32_t word
    cdef double score
    counter[0], counter[1], counter[2], counter[3] = <uint32_t>(begin // 4), row.position, 0, 0
    chosen.philox(row.seed, counter, BLOCK // 4, words)
    if not chosen.any_at_most(words, limit):
        return
    for i in range(min(<Py_ssize_t>BLOCK, row.size - begin)):
        word, token = words[(i & 3) * (BLOCK // 4) + (i >> 2)], begin + i
        if word <= limit and _allows(row, token):
            score = _scaled(row, row.logits[token]) - log(-log1p(-(word + 0.5) * 2.0**-32))
            if score > best.score or (score == best.score and token < best.token):
                best.score, best.token = score, token


cdef Py_ssize_t _first_highest(const Row *row, Py_ssize_t first) noexcept nogil:
    """The lowest allowed token with the highest logit, which is in block number `first`. -0.0
    counts as 0.0, although its key differs."""
    cdef Py_ssize_t token = 0 if row.highest == 0 else first * BLOCK
    while row.logits[token] != row.highest or not _allows(row, token):
        token += 1
    return token


cdef inline bint _allows(const Row *row, Py_ssize_t token) noexcept nogil:
    return (<uint32_t>row.mask[token >> 5] >> (token & 31)) & 1
