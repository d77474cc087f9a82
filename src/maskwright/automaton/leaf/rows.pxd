from libc.stdint cimport int32_t, uint8_t, uint64_t

cpdef enum:
    DEAD = -1
    UNBUILT = -2

ctypedef int32_t Targets[256]
ctypedef uint64_t Bits[4]


cdef struct Leaves:
    # By row.
    Targets *targets
    Bits *living
    # By state.
    int32_t *base
    int32_t *override_start
    int32_t *override_stop
    int32_t *label
    int32_t *gate_low
    int32_t *gate_high
    uint8_t *eager
    int32_t *ready_leaf
    # By override.
    uint8_t *override_byte
    int32_t *override_next
    int32_t states


cdef class LeafRows:
    cdef Leaves c
    cdef readonly object targets, living
    cdef readonly object base, override_start, override_stop, label, gate_low, gate_high, eager, ready_leaf
    cdef readonly object override_byte, override_next
    cdef readonly int rows
    cdef int overrides
    cdef dict numbers
    cdef int bind(self) except -1
    cdef int check(self, int32_t state) except -1
    cdef int32_t check_row(self, int32_t row) except -1
    cdef int put(self, int32_t state, const int32_t *row, trunk) except -1
    cdef int32_t number(self, const int32_t *row) except -1
    cdef int reserve(self, Py_ssize_t count) except -1


cdef class WordPlaces:
    cdef bytes text
    cdef readonly int32_t size
    cdef int32_t words
    cdef int32_t *numbers
    # By word.
    cdef int32_t *stop
    cdef int32_t *shared
    cdef int32_t *first
    # By place.
    cdef int32_t *low
    cdef int32_t *high
    cdef int32_t *ended
    cdef int32_t *depth
    cdef int32_t *parent
    cdef int number(self) except -1
    cdef uint8_t letter(self, int32_t place) noexcept
    cdef bint is_escapable(self, int32_t place, bint is_open, bint bare) noexcept
    cdef bint goes_on(self, int32_t place) noexcept


cdef inline int32_t next_leaf(const Leaves *leaves, int32_t leaf, uint8_t byte) noexcept nogil:
    """The next state of a built leaf state, or DEAD."""
    cdef int32_t at
    for at in range(leaves.override_start[leaf], leaves.override_stop[leaf]):
        if leaves.override_byte[at] == byte:
            return leaves.override_next[at]
    return leaves.targets[leaves.base[leaf]][byte]


cdef inline bint is_end(const Leaves *leaves, int32_t leaf) noexcept nogil:
    """Whether nothing can be read in this state but it can be left."""
    return (
        leaves.base[leaf] == 0
        and leaves.label[leaf] != 0
        and leaves.override_start[leaf] == leaves.override_stop[leaf]
    )
