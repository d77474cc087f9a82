from libc.stdint cimport int32_t, int64_t, uint64_t


# A word of a row that differs from the row it is based on.
cdef struct Patch:
    int32_t word
    int32_t bits


# A stored row: its fingerprint, the words that it is based on or NULL, and how many differ. These
# follow in memory.
cdef struct Record:
    uint64_t fingerprint
    const int32_t *base
    int64_t patches


# A row, as another one or none with more tokens.
cdef struct Addition:
    const int32_t *base
    # By word: the tokens added, of which the base has none.
    int32_t *added
    # The numbers of the words of `added` that are not zero, and how many there are.
    int32_t *touched
    int32_t words
    # The sum over the words of the base, and when all is added over those of the row.
    uint64_t fingerprint


cdef class Ready:
    cdef const int32_t *words
    cdef uint64_t fingerprint
    cdef object row


cdef class RowTable:
    cdef readonly int32_t words
    cdef int32_t count
    # How many records there is room for; and a hash table from fingerprints to numbers, twice as
    # large, -1 where it is empty.
    cdef int32_t room
    cdef Record **records
    cdef int32_t *slots
    cdef list pages
    cdef Py_ssize_t paged  # bytes of all pages
    cdef Py_ssize_t page_used
    # Two whole rows, for a comparison.
    cdef int32_t *whole
    cdef dict ready_rows, seen
    cdef object __weakref__
    cdef uint64_t fingerprint(self, const int32_t *row) noexcept nogil
    cdef int grow(self) except -1
    cdef Record *new_record(self, int32_t patches) except NULL
    cdef void finish(self, Addition *addition) noexcept nogil
    cdef int32_t find(self, Addition *addition) except -1
    cdef int32_t entered(self, const Addition *addition) except -1
    cdef bint is_row(self, const Record *record, const Addition *addition) noexcept
    cdef const Record *record(self, int32_t number) except NULL
    cdef int copy(self, int32_t number, int32_t *out) except -1
