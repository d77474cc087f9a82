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
    # The sum over all tokens, those of the base too.
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
    # By word: the sum over its 32 tokens.
    cdef uint64_t *sums
    cdef dict ready_rows, seen
    cdef object __weakref__
    cdef uint64_t fingerprint(self, const int32_t *row) noexcept nogil
    cdef int grow(self) except -1
    cdef Record *new_record(self, int32_t patches) except NULL
    cdef int32_t find(self, const Addition *addition) except -1
    cdef bint is_row(self, const Record *record, const Addition *addition) noexcept
    cdef const Record *record(self, int32_t number) except NULL
    cdef int copy(self, int32_t number, int32_t *out) except -1


cdef inline uint64_t scattered(int32_t token) noexcept nogil:
    """64 bits of a token, as good as random (the finalizer of splitmix64); a row's fingerprint is
    the sum over its tokens."""
    cdef uint64_t bits = <uint64_t>(token + 1) * 0x9E3779B97F4A7C15ULL
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9ULL
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBULL
    return bits ^ (bits >> 31)
