"""The draw of one row after another; what it does for many tokens at once is in `kernels.h`, and
what top-k, top-p and min-p leave is found here."""

from libc.float cimport FLT_MAX
from libc.math cimport INFINITY, exp, log, log1p
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, qsort
from libc.string cimport memcpy, memset

import numpy as np

from maskwright.native cimport BUILT_FROM
from maskwright.instructions import NUMBER
from maskwright.native import require_built
from maskwright.sampling.kernels cimport BLOCK, COUNTERS, KERNEL_SETS, ROUNDS, kernels, keys_of
from maskwright.vocab.bits cimport lowest

require_built(__name__, BUILT_FROM)

cdef const kernels *chosen = KERNEL_SETS[<Py_ssize_t>NUMBER]

cdef enum:
    NO_TOKEN = -1
    NO_NUMBER = -2

TARGET = 0
EMPTY = NO_TOKEN
NOT_FINITE = NO_NUMBER

# From a bound on u to one on random words, with a margin for rounding in exp(z - s).
cdef double SLACK = 1.001 * 2.0**32

# The masses of scaled logits are added up by how far they are below the highest one: so many buckets
# for each unit, and what is further away than all of them is in the last.
cdef enum:
    A_UNIT = 128
    BUCKETS = 64 * A_UNIT
    AT_ONCE = 512  # tokens whose exponentials are computed together
    GROUP = 16  # blocks whose bounds are


cdef struct Row:
    const float *logits
    const int32_t *mask
    float *peaks  # the highest logits of its blocks, then scaled
    Py_ssize_t size, blocks  # tokens that have a logit and a bit, and blocks of them
    float highest, temperature
    double lowest  # the least scaled logit that top-k, top-p and min-p leave
    uint64_t keys[2 * ROUNDS]  # of its random words
    uint32_t position


cdef struct Best:
    double score, reciprocal  # e to the power of the negative score
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
        self.peaks, self.scaled = np.empty(0, np.float32), np.empty(0, np.float32)

    def __dealloc__(self):
        free(self.each)

    cdef int draw(
        self, const float[:, ::1] logits, Py_ssize_t count, Py_ssize_t words
    ) except -1:
        cdef Py_ssize_t number, size = min(logits.shape[1], 32 * words)
        cdef Draw *one
        cdef Row row
        if not size or not count:
            for number in range(count):
                self.each[number].token = NO_TOKEN
            return 0
        for number in range(count):
            if not 0 <= self.each[number].row < logits.shape[0]:
                raise IndexError("a draw from a row of logits that isn't there")
        if self.scaled.shape[0] < size:
            self.peaks = np.empty((size + BLOCK - 1) // BLOCK, np.float32)
            self.scaled = np.empty(size, np.float32)
        row.size, row.blocks = size, (size + BLOCK - 1) // BLOCK
        row.peaks = &self.peaks[0]
        with nogil:
            for number in range(count):
                one = &self.each[number]
                row.logits, row.mask = &logits[one.row, 0], one.mask
                _draw_one(one, &row, &self.scaled[0])
                if one.token == NO_TOKEN and one.fallback != NULL:
                    row.mask = one.fallback
                    _draw_one(one, &row, &self.scaled[0])
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


cdef void _draw_one(Draw *draw, Row *row, float *room) noexcept nogil:
    """Draw a token. There is room for the scaled logits of all tokens."""
    cdef Py_ssize_t first = 0, block
    cdef double floor
    cdef bint finite = chosen.find_peaks(row.logits, row.size, row.mask, row.peaks)
    for block in range(1, row.blocks):
        if row.peaks[block] > row.peaks[first]:
            first = block
    row.highest, row.temperature = row.peaks[first], draw.temperature
    if not finite or row.highest == INFINITY:
        draw.token = NO_NUMBER
    elif row.highest == -INFINITY:
        draw.token = NO_TOKEN
    elif row.temperature == 0:
        draw.token = _first_highest(row, first)
        draw.processed, draw.support = 0, 1
    else:
        for block in range(row.blocks):
            row.peaks[block] = _scaled(row, row.peaks[block])
        keys_of(draw.seed, row.keys)
        row.position, floor = draw.position, -FLT_MAX
        if draw.top_k > 0:
            floor = _least_of_count(row, draw.top_k, room)
        row.lowest = max(floor, log(draw.min_p)) if draw.min_p > 0 else floor
        draw.token = NO_TOKEN
        # A draw with a score needs to know which tokens are kept in any case.
        if draw.top_p == 1 or not draw.scored:
            draw.token = _draw(row, first)
        if draw.top_p < 1 and not (draw.token >= 0 and _surely_kept(row, draw, floor)):
            row.lowest = max(row.lowest, _least_of_share(row, floor, draw.top_p, room))
            draw.token = _draw(row, first)
        if draw.scored:
            draw.support = _gather(row, row.lowest, room)
            draw.processed = _scaled(row, row.logits[draw.token]) - log(_mass(room, draw.support))


def philox(uint64_t key, counter, uint32_t[::1] out):
    cdef uint32_t words[4]
    cdef uint64_t keys[2 * ROUNDS]
    words[0], words[1], words[2], words[3] = counter
    if out.shape[0] != BLOCK:
        raise ValueError(f"there are {BLOCK} random words, and room for {out.shape[0]}")
    keys_of(key, keys)
    with nogil:
        chosen.philox(keys, words, &out[0])


cdef Py_ssize_t _draw(const Row *row, Py_ssize_t first) noexcept nogil:
    """The token with the highest score. Block number `first` has the highest logit."""
    cdef double weights[GROUP]
    cdef Py_ssize_t group, begin, at, size
    cdef Best best
    best.score, best.reciprocal, best.token = -INFINITY, INFINITY, 0
    _improve(row, first, 1, &best)
    for group in range((row.blocks + GROUP - 1) // GROUP):
        begin = group * GROUP
        size = min(<Py_ssize_t>GROUP, row.blocks - begin)
        if not _any_can_win(row, begin, size, &best):
            continue
        chosen.exponentials(row.peaks + begin, size, 0, weights)
        for at in range(size):
            if begin + at != first and row.peaks[begin + at] >= row.lowest:
                _improve(row, begin + at, weights[at], &best)
    return best.token


cdef inline bint _any_can_win(
    const Row *row, Py_ssize_t begin, Py_ssize_t size, const Best *best
) noexcept nogil:
    """Whether any of so many blocks may have a token with a higher score: no random word moves one
    by more than log(2**33)."""
    cdef double bound = max(row.lowest, best.score - 23)
    cdef Py_ssize_t block
    for block in range(begin, begin + size):
        if row.peaks[block] >= bound:
            return True
    return False


cdef inline double _most(double weight, const Best *best) noexcept nogil:
    """The bound on random words with which a scaled logit of at most log(`weight`) can still win.
    Below 0.5, none can."""
    return weight * best.reciprocal * SLACK


cdef inline float _scaled(const Row *row, float logit) noexcept nogil:
    """A logit divided by the temperature, after the highest was moved to 0, rounded like in the
    chain."""
    return (logit - row.highest) / row.temperature


cdef void _improve(
    const Row *row, Py_ssize_t block, double weight, Best *best
) noexcept nogil:
    """Look at the tokens of a block for one with a higher score. `weight` is e to the power of the
    block's peak."""
    cdef uint32_t words[BLOCK]
    cdef uint32_t counter[4]
    cdef Py_ssize_t at, token, begin = block * BLOCK
    cdef double score, below, most = _most(weight, best)
    cdef uint64_t left
    cdef float scaled
    if most < 0.5:
        return
    counter[0], counter[1], counter[2], counter[3] = <uint32_t>(begin // 4), row.position, 0, 0
    chosen.philox(row.keys, counter, words)
    left = chosen.at_most(words, <uint32_t>min(most, 4294967295.0))
    while left:
        at = lowest(left)
        left &= left - 1
        token = begin + 4 * (at % COUNTERS) + at // COUNTERS
        if token >= row.size or not _allows(row, token):
            continue
        scaled = _scaled(row, row.logits[token])
        if scaled < row.lowest:
            continue
        # Its bound is that of the block divided by e to the power of `below`, which is more.
        below = row.peaks[block] - scaled
        if words[at] * (1 + below + below * below / 2) > most:
            continue
        score = scaled - log(-log1p(-(words[at] + 0.5) * 2.0**-32))
        if score > best.score or (score == best.score and token < best.token):
            best.score, best.reciprocal, best.token = score, exp(-score), token
            most = _most(weight, best)


cdef bint _surely_kept(const Row *row, const Draw *draw, double floor) noexcept nogil:
    """Whether top-p is certain to keep the token that was drawn: the tokens above it have less than
    their share of what top-k leaves, from `floor` on, with a margin for rounding.

    Most tokens that are drawn are among those that top-p keeps, and few are above them. So this
    takes a fraction of the time in which the least of those tokens is found.
    """
    cdef double above = 0, mass = 0
    cdef float own = _scaled(row, row.logits[draw.token])
    cdef Py_ssize_t block
    cdef bint higher
    if own >= 0:
        return True
    for higher in (True, False):  # blocks that have tokens above it, and then the others
        for block in range(row.blocks):
            if (row.peaks[block] > own) == higher and row.peaks[block] >= floor:
                _add_masses(row, block, own, floor, &above, &mass)
                if not higher and above < draw.top_p * mass * (1 - 1e-9):
                    return True
        if above < draw.top_p * mass * (1 - 1e-9):
            return True
    return False


cdef void _add_masses(
    const Row *row, Py_ssize_t block, float own, double floor, double *above, double *mass
) noexcept nogil:
    """Add the masses of the tokens of a block from `floor` on: of those above `own`, which is less
    than 0, and of all."""
    cdef float scaled[BLOCK]
    cdef double sums[2]
    cdef Py_ssize_t at, size = _scale_block(row, block, scaled)
    cdef uint32_t bits
    cdef uint64_t higher
    if floor > -FLT_MAX:
        for at in range(size):
            if scaled[at] < floor:
                scaled[at] = -INFINITY
    memcpy(&bits, &own, sizeof(bits))
    # The higher of two numbers that aren't positive has the bits of a lower integer.
    higher = chosen.at_most(<const uint32_t *>scaled, bits - 1)
    chosen.masses(scaled, size, <const int32_t *>&higher, 0, sums)
    mass[0] += sums[0]
    above[0] += sums[1]


cdef inline Py_ssize_t _scale_block(
    const Row *row, Py_ssize_t block, float *scaled
) noexcept nogil:
    """Write the scaled logits of a block; returns how many it has."""
    cdef Py_ssize_t begin = block * BLOCK, size = min(<Py_ssize_t>BLOCK, row.size - begin)
    chosen.scale(
        row.logits + begin, size, row.mask + begin // 32, row.highest, row.temperature, scaled
    )
    return size


cdef double _least_of_count(const Row *row, Py_ssize_t count, float *room) noexcept nogil:
    """The scaled logit of the token that is number `count` from the highest on; the lowest number
    if there are fewer."""
    cdef double bound = -FLT_MAX
    cdef Py_ssize_t block, found
    if count <= row.blocks:  # the highest ones of so many blocks are not below it
        for block in range(row.blocks):
            room[block] = row.peaks[block]
        bound = max(bound, _least(room, row.blocks, count, False))
    found = _gather(row, bound, room)
    return _least(room, found, count, False) if count <= found else -FLT_MAX


cdef double _least_of_share(
    const Row *row, double floor, double share, float *room
) noexcept nogil:
    """The least scaled logit of the fewest tokens, the highest ones, that have a share of the mass
    of all that are at least `floor`."""
    cdef Py_ssize_t at, count = _gather(row, floor, room), found = 0
    cdef double mass = _mass(room, count)
    # All tokens below it together have less than the rest of the mass, with a margin for rounding.
    cdef double bound = log((1 - share) * mass / count) - 1e-6
    for at in range(count):
        room[found] = room[at]
        found += room[at] >= bound
    return _least(room, found, share * mass, True)


cdef inline double _mass(const float *scaled, Py_ssize_t count) noexcept nogil:
    cdef double sums[2]
    chosen.masses(scaled, count, NULL, 0, sums)
    return sums[0]


cdef Py_ssize_t _gather(const Row *row, double bound, float *out) noexcept nogil:
    """Write the scaled logits that are at least `bound` in the order of their tokens; returns their
    number."""
    cdef Py_ssize_t block, at, found = 0
    cdef float scaled[BLOCK]
    for block in range(row.blocks):
        if row.peaks[block] < bound:
            continue
        for at in range(_scale_block(row, block, scaled)):
            out[found] = scaled[at]
            found += scaled[at] >= bound
    return found


cdef double _least(float *scaled, Py_ssize_t count, double wanted, bint by_mass) noexcept nogil:
    """The least of the fewest numbers, the highest ones, that are `wanted` in number or in mass; of
    all where they don't reach it. The numbers are in another order afterwards."""
    cdef double weights[AT_ONCE]
    cdef double masses[BUCKETS]
    cdef double above = 0
    cdef Py_ssize_t at, bucket, last = 0, found = 0
    memset(masses, 0, sizeof(masses))
    for at in range(count):
        if by_mass and at % AT_ONCE == 0:
            chosen.exponentials(scaled + at, min(<Py_ssize_t>AT_ONCE, count - at), 0, weights)
        bucket = _bucket(scaled[at])
        last = max(last, bucket)
        masses[bucket] += weights[at % AT_ONCE] if by_mass else 1
    bucket = 0
    while bucket < last and above + masses[bucket] < wanted:
        above += masses[bucket]
        bucket += 1
    for at in range(count):
        if _bucket(scaled[at]) == bucket:
            scaled[found] = scaled[at]
            found += 1
    qsort(scaled, found, sizeof(float), _descending)
    for at in range(found):
        above += exp(scaled[at]) if by_mass else 1
        if above >= wanted:
            return scaled[at]
    return scaled[found - 1]


cdef inline Py_ssize_t _bucket(float scaled) noexcept nogil:
    cdef float at = scaled * -A_UNIT
    return <Py_ssize_t>at if at < BUCKETS else BUCKETS - 1


cdef int _descending(const void *one, const void *other) noexcept nogil:
    cdef float a = (<const float *>one)[0], b = (<const float *>other)[0]
    return (a < b) - (a > b)


cdef Py_ssize_t _first_highest(const Row *row, Py_ssize_t first) noexcept nogil:
    """The lowest allowed token with the highest logit, which is in block number `first`."""
    cdef Py_ssize_t token = first * BLOCK
    while row.logits[token] != row.highest or not _allows(row, token):
        token += 1
    return token


cdef inline bint _allows(const Row *row, Py_ssize_t token) noexcept nogil:
    return (<uint32_t>row.mask[token >> 5] >> (token & 31)) & 1
