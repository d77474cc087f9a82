"""The row table: the distinct masks that have been needed, each identified by a number.

Most masks are a few tokens, or a ready row (`mask.shared.vocabulary_tables`) and a few tokens. So
a row is stored as a *record*: the ready row that it is based on, or none, and the words that
differ from it. Records are stored in pages that never move, and never change once they have a
number.
"""

from weakref import ref

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcmp, memcpy, memset

cimport cython

import numpy as np
import numpy.typing as npt

from maskwright.garbage cimport hide
from maskwright.native cimport BUILT_FROM, const_int32s, int32s
from maskwright.native import require_built

require_built(__name__, BUILT_FROM)

Row = npt.NDArray[np.int32]

cdef enum:
    PAGE = 1 << 19  # bytes


cdef inline Patch *patches_of(const Record *record) noexcept nogil:
    return <Patch *>(record + 1)


@cython.no_gc  # it refers to a row
cdef class Ready:
    def __init__(self):
        raise TypeError("ready rows are made by a RowTable")


cdef inline uint64_t _scattered(int32_t word, int32_t bits) noexcept nogil:
    """64 bits of a word's content, as good as random; 0 where it allows nothing."""
    cdef uint64_t found
    if bits == 0:
        return 0
    found = (<uint64_t>(word + 1) << 32 | <uint32_t>bits) * 0x9E3779B97F4A7C15ULL
    found = (found ^ (found >> 32)) * 0xBF58476D1CE4E5B9ULL
    return found ^ (found >> 29)


cdef class RowTable:
    def __cinit__(self, int32_t words):
        self.words = words
        self.room = 128
        self.records = <Record **>calloc(self.room, sizeof(Record *))
        self.slots = <int32_t *>malloc(2 * self.room * sizeof(int32_t))
        self.whole = <int32_t *>malloc((2 * words + 1) * sizeof(int32_t))
        if self.records is NULL or self.slots is NULL or self.whole is NULL:
            raise MemoryError
        memset(self.slots, -1, 2 * self.room * sizeof(int32_t))
        self.pages = []
        self.page_used = PAGE
        self.ready_rows, self.seen = {}, {}
        self.number(np.zeros(words, np.int32))

    def __dealloc__(self):
        free(self.records)
        free(self.slots)
        free(self.whole)

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        numbers = range(self.count)[index]
        if isinstance(numbers, int):
            out = np.empty(self.words, np.int32)
            self.write(numbers, out)
            return out
        out = np.empty((len(numbers), self.words), np.int32)
        for at, number in enumerate(numbers):
            self.write(number, out[at])
        return out

    @property
    def nbytes(self):
        return self.paged

    cdef const Record *record(self, int32_t number) except NULL:
        if not 0 <= number < self.count:
            raise IndexError(f"there is no row {number}")
        return self.records[number]

    def write(self, int32_t number, int32_t[::1] out):
        self.record(number)
        if out.shape[0] != self.words:
            raise ValueError(f"a row has {self.words} words, not {out.shape[0]}")
        if self.words:
            self.copy(number, &out[0])

    cdef int copy(self, int32_t number, int32_t *out) except -1:
        """Write a row to `words` numbers."""
        _write(self.record(number), out, self.words)
        return 0

    def ready(self, row):
        cdef Ready ready
        cdef const int32_t[::1] words
        cdef uint64_t fingerprint
        cdef list alike
        seen = self.seen.get(id(row))
        if seen is not None and seen[0]() is row:
            return seen[1]
        words = row
        if words.shape[0] != self.words:
            raise ValueError(f"a row has {self.words} words, not {len(row)}")
        fingerprint = self.fingerprint(&words[0])
        alike = self.ready_rows.setdefault(fingerprint, hide([]))
        for ready in alike:
            if memcmp(ready.words, &words[0], self.words * sizeof(int32_t)) == 0:
                break
        else:
            ready = Ready.__new__(Ready)
            ready.row, ready.fingerprint = row.copy(), fingerprint
            ready.words = const_int32s(ready.row)
            alike.append(ready)
        self.seen[id(row)] = hide((hide(ref(row)), ready))
        return ready

    cdef uint64_t fingerprint(self, const int32_t *row) noexcept nogil:
        """The sum over all words of a row."""
        cdef uint64_t total = 0
        cdef int32_t word
        for word in range(self.words):
            total += _scattered(word, row[word])
        return total

    def number(self, row):
        return self.number_on(None, row)

    def number_on(self, Ready ready, row, fingerprint=None):
        cdef Addition addition
        added, touched = row.copy(), np.flatnonzero(row).astype(np.int32)
        if len(row) != self.words:
            raise ValueError(f"a row has {self.words} words, not {len(row)}")
        addition.added, addition.touched = int32s(added), int32s(touched)
        addition.words = <int32_t>len(touched)
        addition.base, addition.fingerprint = NULL, 0
        if ready is not None:
            addition.base, addition.fingerprint = ready.words, ready.fingerprint
        self.finish(&addition)
        if fingerprint is not None:
            addition.fingerprint = fingerprint
        return self.entered(&addition)

    def without(self, int32_t number, const int32_t[::1] tokens):
        cdef const Record *record = self.record(number)
        cdef const Patch *patches = patches_of(record)
        cdef int32_t at, word, token, bit
        cdef Addition addition
        added, touched = np.zeros(self.words, np.int32), np.empty(self.words, np.int32)
        addition.base = record.base
        addition.fingerprint = 0 if record.base is NULL else self.fingerprint(record.base)
        addition.added, addition.touched = int32s(added), int32s(touched)
        addition.words = 0
        for at in range(<int32_t>record.patches):
            word = patches[at].word
            addition.added[word] = patches[at].bits
            if record.base is not NULL:
                addition.added[word] &= ~record.base[word]
        for at in range(<int32_t>tokens.shape[0]):
            token = tokens[at]
            if not 0 <= token < 32 * self.words:
                raise IndexError(f"there is no token {token}")
            bit = <int32_t>(<uint32_t>1 << (token & 31))
            addition.added[token >> 5] &= ~bit
        for at in range(<int32_t>record.patches):
            word = patches[at].word
            if addition.added[word] != 0:
                addition.touched[addition.words] = word
                addition.words += 1
        return self.find(&addition)

    cdef void finish(self, Addition *addition) noexcept nogil:
        """Have a fingerprint, which is that of the base, count what is added."""
        cdef int32_t at, word, before
        for at in range(addition.words):
            word = addition.touched[at]
            before = 0 if addition.base is NULL else addition.base[word]
            addition.fingerprint -= _scattered(word, before)
            addition.fingerprint += _scattered(word, before | addition.added[word])

    cdef int32_t find(self, Addition *addition) except -1:
        """The number of a row, which is entered if it is new; its fingerprint is that of the
        base."""
        self.finish(addition)
        return self.entered(addition)

    cdef int32_t entered(self, const Addition *addition) except -1:
        """The number of a row, whose fingerprint is known."""
        cdef int64_t mask, slot
        cdef int32_t number, at, word
        cdef Record *record
        if self.count == self.room:
            self.grow()
        mask = 2 * <int64_t>self.room - 1
        slot = <int64_t>addition.fingerprint & mask
        while self.slots[slot] >= 0:
            number = self.slots[slot]
            if self.is_row(self.records[number], addition):
                return number
            slot = (slot + 1) & mask
        record = self.new_record(addition.words)
        record.fingerprint = addition.fingerprint
        record.base = addition.base
        record.patches = addition.words
        for at in range(addition.words):
            word = addition.touched[at]
            patches_of(record)[at] = Patch(word, addition.added[word])
            if addition.base is not NULL:
                patches_of(record)[at].bits |= addition.base[word]
        number = self.count
        self.records[number] = record
        self.slots[slot] = number
        self.count += 1
        return number

    cdef bint is_row(self, const Record *record, const Addition *addition) noexcept:
        """Whether a record has this very content; compared in full, if the fingerprint agrees."""
        cdef const Patch *patches = patches_of(record)
        cdef int32_t *ours = self.whole
        cdef int32_t *theirs = self.whole + self.words
        cdef int32_t at, word, content
        if record.fingerprint != addition.fingerprint:
            return False
        if record.base == addition.base:
            if record.patches != addition.words:
                return False
            for at in range(<int32_t>record.patches):
                word = patches[at].word
                content = addition.added[word]
                if content == 0:
                    return False
                if addition.base is not NULL:
                    content |= addition.base[word]
                if content != patches[at].bits:
                    return False
            return True
        _write(record, theirs, self.words)
        if addition.base is NULL:
            memset(ours, 0, self.words * sizeof(int32_t))
        else:
            memcpy(ours, addition.base, self.words * sizeof(int32_t))
        for at in range(addition.words):
            ours[addition.touched[at]] |= addition.added[addition.touched[at]]
        return memcmp(ours, theirs, self.words * sizeof(int32_t)) == 0

    cdef Record *new_record(self, int32_t patches) except NULL:
        """Room for a record with so many patches."""
        cdef Py_ssize_t size = sizeof(Record) + patches * sizeof(Patch), used = self.page_used
        if used + size > PAGE:
            self.pages.append(bytearray(max(PAGE, size)))
            self.paged += max(PAGE, size)
            used = 0
        cdef char *page = <bytearray>self.pages[len(self.pages) - 1]
        self.page_used = used + size
        return <Record *>(page + used)

    cdef int grow(self) except -1:
        """Make room for as many records again."""
        cdef int32_t room = 2 * self.room, number
        cdef int64_t mask = 2 * <int64_t>room - 1, slot
        cdef Record **records = <Record **>calloc(room, sizeof(Record *))
        cdef int32_t *slots = <int32_t *>malloc((mask + 1) * sizeof(int32_t))
        if records is NULL or slots is NULL:
            free(records)
            free(slots)
            raise MemoryError
        memcpy(records, self.records, self.count * sizeof(Record *))
        memset(slots, -1, (mask + 1) * sizeof(int32_t))
        for number in range(self.count):
            slot = <int64_t>records[number].fingerprint & mask
            while slots[slot] >= 0:
                slot = (slot + 1) & mask
            slots[slot] = number
        free(self.records)
        free(self.slots)
        self.records, self.slots, self.room = records, slots, room
        return 0


cdef void _write(const Record *record, int32_t *out, int32_t words) noexcept nogil:
    """Write the row of a record."""
    cdef const Patch *patches = patches_of(record)
    cdef int64_t at
    if record.base is NULL:
        memset(out, 0, words * sizeof(int32_t))
    else:
        memcpy(out, record.base, words * sizeof(int32_t))
    for at in range(record.patches):
        out[patches[at].word] = patches[at].bits


def packed(allowed):
    bits = np.zeros((len(allowed) + 31) // 32 * 32, np.bool_)
    bits[: len(allowed)] = allowed
    return np.packbits(bits, bitorder="little").view("<i4").astype(np.int32)
