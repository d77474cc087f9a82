"""The draw of one row after another; what it does for many tokens at once is in `kernels.h`, and
what top-k, top-p and min-p leave is found here."""

from libc.math cimport INFINITY, exp, log, log1p
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, qsort
from libc.string cimport memset

import numpy as np

from maskwright.native cimport BUILT_FROM
from maskwright.instructions import NUMBER
from maskwright.native import require_built
from maskwright.sampling.kernels cimport BLOCK, INFINITE, KERNEL_SETS, NOTHING, kernels, number_of

require_built(__name__, BUILT_FROM)

cdef const kernels *chosen = KERNEL_SETS[<Py_ssize_t>NUMBER]

cdef enum:
    NO_TOKEN = -1
    NO_NUMBER = -2

TARGET = 0
EMPTY = NO_TOKEN
NOT_FINITE = NO_NUMBER

# What is further below the highest logit has no mass that a sum would show.
cdef float LEAST = -700

# From a bound on u to one on random words, with a margin for rounding in exp(z - s).
cdef double SLACK = 1.001 * 2.0**32

# Scaled logits are counted by how far they are below the highest one: so many buckets for each unit,
# and what is further away than all of them is in the last.
cdef enum:
    A_UNIT = 128
    BUCKETS = 64 * A_UNIT
    AT_ONCE = 512  # tokens whose exponentials are computed together


cdef struct Row:
    const float *logits
    const int32_t *mask
    Py_ssize_t size  # tokens that have a logit and a bit
    float highest, temperature
    double lowest  # the least scaled logit that top-k, top-p and min-p leave
    uint64_t seed
    uint32_t position


cdef struct Scratch:
    Py_ssize_t counts[BUCKETS]  # tokens of each bucket
    double masses[BUCKETS]  # of these tokens together
    float *scaled  # the scaled logits of all tokens, -inf for those that aren't allowed
    float *gathered  # those of one bucket


cdef struct Best:
    double score
    Py_ssize_t token


def draw_rows(
    const float[:, ::1] logits, const int32_t[:, ::1] words, const float[::1] temperatures,
    const int64_t[::1] top_k, const double[::1] top_p, const double[::1] min_p,
    const uint64_t[::1] seeds, const uint64_t[::1] positions, int64_t[::1] out,
    const int32_t[:, ::1] fallback=None, double[::1] processed=None, int64_t[::1] support=None,
):
    cdef Py_ssize_t number, count = logits.shape[0]
    cdef Draws draws = Draws(count)
    cdef Draw *draw
    for number in range(count if words.shape[1] else 0):
        draw = &draws.each[number]
        draw.row, draw.mask, draw.scored = number, &words[number, 0], processed is not None
        draw.fallback = NULL
        if fallback is not None:
            draw.fallback = &fallback[number, 0]
        draw.temperature, draw.seed = temperatures[number], seeds[number]
        draw.position = <uint32_t>positions[number]
        draw.top_k, draw.top_p, draw.min_p = top_k[number], top_p[number], min_p[number]
    draws.draw(logits, count, words.shape[1])
    for number in range(count):
        out[number] = draws.each[number].token
        if processed is not None:
            processed[number] = draws.each[number].processed
            support[number] = draws.each[number].support


cdef class Draws:
    def __cinit__(self, Py_ssize_t room):
        self.room = room
        self.each = <Draw *>calloc(room + 1, sizeof(Draw))
        if self.each == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.each)

    cdef int draw(
        self, const float[:, ::1] logits, Py_ssize_t count, Py_ssize_t words
    ) except -1:
        cdef Py_ssize_t number, size = min(logits.shape[1], 32 * words)
        cdef int32_t[::1] peaks
        cdef float[::1] room
        cdef const float *row
        cdef Draw *one
        if not size or not count:
            for number in range(count):
                self.each[number].token = NO_TOKEN
            return 0
        for number in range(count):
            if not 0 <= self.each[number].row < logits.shape[0]:
                raise IndexError("a draw from a row of logits that isn't there")
        peaks = np.empty((size + BLOCK - 1) // BLOCK, np.int32)
        room = np.empty(2 * size, np.float32)  # takes no memory before it is written
        with nogil:
            for number in range(count):
                one = &self.each[number]
                row = &logits[one.row, 0]
                _draw_one(one, row, size, one.mask, &peaks[0], &room[0])
                if one.token == NO_TOKEN and one.fallback != NULL:
                    _draw_one(one, row, size, one.fallback, &peaks[0], &room[0])
        return 0


    cdef tuple columns(self, Py_ssize_t count):
        cdef float[::1] temperature = np.empty(count, np.float32)
        cdef int32_t[::1] top_k = np.empty(count, np.int32), position = np.empty(count, np.int32)
        cdef double[::1] top_p = np.empty(count), min_p = np.empty(count)
        cdef uint64_t[::1] seed = np.empty(count, np.uint64)
        cdef Py_ssize_t number
        cdef const Draw *draw
        for number in range(count):
            draw = &self.each[number]
            temperature[number], seed[number] = draw.temperature, draw.seed
            top_k[number] = <int32_t>min(draw.top_k, <int64_t>0x7FFFFFFF)
            top_p[number], min_p[number] = draw.top_p, draw.min_p
            position[number] = <int32_t>draw.position
        return (
            temperature.base, top_k.base, top_p.base, min_p.base, seed.base, position.base,
        )


cdef void _draw_one(
    Draw *draw, const float *logits, Py_ssize_t size, const int32_t *mask, int32_t *peaks,
    float *room,
) noexcept nogil:
    cdef Py_ssize_t first = 0, block, blocks = (size + BLOCK - 1) // BLOCK
    cdef bint finite
    cdef Row row
    cdef Scratch scratch
    scratch.scaled, scratch.gathered = room, room + size
    row.logits, row.mask, row.size = logits, mask, size
    row.temperature, row.seed, row.position = draw.temperature, draw.seed, draw.position
    finite = chosen.find_peaks(<const int32_t *>logits, size, mask, peaks)
    for block in range(1, blocks):
        if peaks[block] > peaks[first]:
            first = block
    row.highest = number_of(peaks[first])
    if not finite or peaks[first] == INFINITE:
        draw.token = NO_NUMBER
    elif peaks[first] == NOTHING:
        draw.token = NO_TOKEN
    elif row.temperature == 0:
        draw.token = _first_highest(&row, first)
        draw.processed, draw.support = 0, 1
    else:
        row.lowest = -INFINITY
        if draw.top_k > 0 or draw.top_p < 1 or draw.scored:
            chosen.scale(logits, size, mask, row.highest, row.temperature, scratch.scaled)
        if draw.top_k > 0:
            row.lowest = _least_of_count(&row, &scratch, draw.top_k)
        if draw.top_p < 1:
            row.lowest = max(row.lowest, _least_of_mass(&row, &scratch, draw.top_p))
        if draw.min_p > 0:
            row.lowest = max(row.lowest, log(draw.min_p))
        draw.token = _draw(&row, peaks, blocks, first)
        if draw.scored:
            _score(draw, &row, &scratch)


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
        if _scaled(row, number_of(peaks[block])) < row.lowest:
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
    cdef float scaled
    cdef double score
    counter[0], counter[1], counter[2], counter[3] = <uint32_t>(begin // 4), row.position, 0, 0
    chosen.philox(row.seed, counter, BLOCK // 4, words)
    if not chosen.any_at_most(words, limit):
        return
    for i in range(min(<Py_ssize_t>BLOCK, row.size - begin)):
        word, token = words[(i & 3) * (BLOCK // 4) + (i >> 2)], begin + i
        if word <= limit and _allows(row, token):
            scaled = _scaled(row, row.logits[token])
            if scaled < row.lowest:
                continue
            score = scaled - log(-log1p(-(word + 0.5) * 2.0**-32))
            if score > best.score or (score == best.score and token < best.token):
                best.score, best.token = score, token


cdef void _score(Draw *draw, const Row *row, Scratch *scratch) noexcept nogil:
    """Find how likely the drawn token was, and among how many."""
    cdef double exponentials[AT_ONCE]
    cdef double mass = 0
    cdef Py_ssize_t begin = 0, at, some
    cdef const float *scaled
    draw.support = 0
    while begin < row.size:
        some = min(<Py_ssize_t>AT_ONCE, row.size - begin)
        scaled = scratch.scaled + begin
        chosen.exponentials(scaled, some, 0, exponentials)
        for at in range(some):
            if scaled[at] > -INFINITY and scaled[at] >= row.lowest:
                mass += exponentials[at]
                draw.support += 1
        begin += some
    draw.processed = scratch.scaled[draw.token] - log(mass)


cdef double _least_of_count(const Row *row, Scratch *scratch, Py_ssize_t count) noexcept nogil:
    """The scaled logit of the token that is number `count` from the highest on; -inf if there are
    fewer."""
    cdef Py_ssize_t bucket = 0, token
    cdef float scaled
    memset(scratch.counts, 0, sizeof(scratch.counts))
    for token in range(row.size):
        scaled = scratch.scaled[token]
        if scaled > -INFINITY:
            scratch.counts[_bucket(scaled)] += 1
    while bucket < BUCKETS and scratch.counts[bucket] < count:
        count -= scratch.counts[bucket]
        bucket += 1
    if bucket == BUCKETS:
        return -INFINITY
    _gather(row, scratch, bucket)
    return scratch.gathered[count - 1]


cdef double _least_of_mass(const Row *row, Scratch *scratch, double share) noexcept nogil:
    """The least scaled logit of the fewest tokens, the highest ones, that have a share of the mass
    of all that are at least `row.lowest`."""
    cdef double exponentials[AT_ONCE]
    cdef double wanted = 0, mass = 0
    cdef Py_ssize_t begin = 0, bucket, at, some
    cdef const float *scaled
    memset(scratch.masses, 0, sizeof(scratch.masses))
    while begin < row.size:
        some = min(<Py_ssize_t>AT_ONCE, row.size - begin)
        scaled = scratch.scaled + begin
        chosen.exponentials(scaled, some, 0, exponentials)
        for at in range(some):
            if scaled[at] >= LEAST and scaled[at] >= row.lowest:
                scratch.masses[_bucket(scaled[at])] += exponentials[at]
        begin += some
    for bucket in range(BUCKETS):
        wanted += scratch.masses[bucket]
    wanted *= share
    bucket = 0
    while bucket < BUCKETS - 1 and mass + scratch.masses[bucket] < wanted:
        mass += scratch.masses[bucket]
        bucket += 1
    some = _gather(row, scratch, bucket)
    for at in range(1, some):
        mass += exp(scratch.gathered[at - 1])
        if mass >= wanted:
            return scratch.gathered[at - 1]
    return scratch.gathered[some - 1]


cdef inline Py_ssize_t _bucket(float scaled) noexcept nogil:
    cdef float at = scaled * -A_UNIT
    return <Py_ssize_t>at if at < BUCKETS else BUCKETS - 1


cdef Py_ssize_t _gather(const Row *row, Scratch *scratch, Py_ssize_t bucket) noexcept nogil:
    """Collect the scaled logits of a bucket that are at least `row.lowest`, the highest first;
    returns their number."""
    cdef Py_ssize_t token, found = 0
    cdef float scaled
    # A product with a power of two is exact, so these bounds are those of `_bucket`.
    cdef float most = -<float>bucket / A_UNIT
    cdef float above = -(<float>bucket + 1) / A_UNIT if bucket < BUCKETS - 1 else -INFINITY
    for token in range(row.size):
        scaled = scratch.scaled[token]
        if above < scaled <= most and scaled >= row.lowest:
            scratch.gathered[found] = scaled
            found += 1
    qsort(scratch.gathered, found, sizeof(float), _descending)
    return found


cdef int _descending(const void *one, const void *other) noexcept nogil:
    cdef float a = (<const float *>one)[0], b = (<const float *>other)[0]
    return (a < b) - (a > b)


cdef Py_ssize_t _first_highest(const Row *row, Py_ssize_t first) noexcept nogil:
    """The lowest allowed token with the highest logit, which is in block number `first`. -0.0
    counts as 0.0, although its key differs."""
    cdef Py_ssize_t token = 0 if row.highest == 0 else first * BLOCK
    while row.logits[token] != row.highest or not _allows(row, token):
        token += 1
    return token


cdef inline bint _allows(const Row *row, Py_ssize_t token) noexcept nogil:
    return (<uint32_t>row.mask[token >> 5] >> (token & 31)) & 1
