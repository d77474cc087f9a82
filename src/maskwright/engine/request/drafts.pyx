"""Draft tokens by prompt lookup, with the tokens and the places of their suffixes in C.

The place after a suffix is found by a hash table. The suffix itself isn't kept: it stands before
its place, where it is compared.
"""

from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memcmp

from maskwright.native cimport BUILT_FROM
from maskwright.native import require_built

require_built(__name__, BUILT_FROM)

cdef enum:
    LONGEST = 4
    SHORTEST = 2
    LONGEST_PAUSE = 64

SIZES = tuple(range(LONGEST, SHORTEST - 1, -1))


cdef class LookBack:
    def __cinit__(self, Py_ssize_t most):
        self.most = most
        self.length = min(2, most)
        self.pause = 1
        self.slots = 64
        self.places = <int64_t *>calloc(self.slots, sizeof(int64_t))
        if self.places == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.tokens)
        free(self.places)

    def propose(self, tokens):
        return self.following(list(tokens))

    cdef list following(self, list tokens):
        cdef Py_ssize_t place
        self.learn(tokens)
        if self.rest:
            self.rest -= 1
            return []
        place = self.find(len(tokens))
        return [] if place < 0 else tokens[place : place + self.length]

    def judge(self, Py_ssize_t proposed, Py_ssize_t accepted):
        self.proposed += proposed
        self.accepted += accepted
        if accepted == proposed:
            self.length = min(self.most, 2 * self.length)
            self.pause = 1
        elif accepted:
            self.length = accepted + 1
        else:
            self.length = min(2, self.most)
            self.rest, self.pause = self.pause, min(<Py_ssize_t>LONGEST_PAUSE, 2 * self.pause)

    cdef int learn(self, list tokens) except -1:
        """Enter each suffix of the tokens that another token follows; the last place counts."""
        cdef Py_ssize_t end, size, begin = self.count, whole = len(tokens)
        cdef void *moved
        if whole > self.room:
            self.room = max(2 * self.room, whole)
            moved = realloc(self.tokens, self.room * sizeof(int64_t))
            if moved == NULL:
                raise MemoryError
            self.tokens = <int64_t *>moved
        for end in range(begin, whole):
            self.tokens[end] = tokens[end]
        self.count = max(begin, whole)
        for end in range(max(begin, <Py_ssize_t>1), whole):
            if 2 * (self.filled + LONGEST) > self.slots:
                self.grow()
            for size in range(SHORTEST, min(<Py_ssize_t>LONGEST, end) + 1):
                self.enter(end, size)
        return 0

    cdef Py_ssize_t find(self, Py_ssize_t end) noexcept:
        """The place after the last earlier place of the longest suffix of the tokens before `end`
        that has one; -1 if none has."""
        cdef Py_ssize_t size
        cdef int64_t place
        for size in range(min(<Py_ssize_t>LONGEST, end), SHORTEST - 1, -1):
            place = self.slot(end, size)[0]
            if place:
                return (place >> 3) - 1
        return -1

    cdef void enter(self, Py_ssize_t end, Py_ssize_t size) noexcept:
        cdef int64_t *slot = self.slot(end, size)
        self.filled += slot[0] == 0
        slot[0] = ((end + 1) << 3) | size

    cdef int64_t *slot(self, Py_ssize_t end, Py_ssize_t size) noexcept:
        """Where the place after the `size` tokens before `end` stands, or is to stand."""
        cdef uint64_t bits = size
        cdef Py_ssize_t at
        cdef int64_t known
        for at in range(end - size, end):
            bits = (bits ^ <uint64_t>self.tokens[at]) * 0x9E3779B97F4A7C15ULL
            bits ^= bits >> 29
        at = bits & (self.slots - 1)
        while True:
            known = self.places[at]
            if known == 0 or ((known & 7) == size and memcmp(
                self.tokens + (known >> 3) - 1 - size,
                self.tokens + end - size,
                size * sizeof(int64_t),
            ) == 0):
                return &self.places[at]
            at = (at + 1) & (self.slots - 1)

    cdef int grow(self) except -1:
        """Twice as many slots."""
        cdef int64_t *before = self.places
        cdef Py_ssize_t at, slots = self.slots
        cdef int64_t *larger = <int64_t *>calloc(2 * slots, sizeof(int64_t))
        if larger == NULL:
            raise MemoryError
        self.places, self.slots = larger, 2 * slots
        for at in range(slots):
            if before[at]:
                self.slot((before[at] >> 3) - 1, before[at] & 7)[0] = before[at]
        free(before)
        return 0
