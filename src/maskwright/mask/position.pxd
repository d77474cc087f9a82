from libc.stdint cimport int32_t, int64_t

from maskwright.mask.walk.walk cimport Walk


cdef class Position:
    cdef int32_t leaf, node
    cdef object _configuration
    cdef readonly object excluded
    cdef readonly dict moves
    cdef public object by_text, forced_byte, accepting, complete
    cdef public int32_t row
    cdef public int64_t variant, sufficient_budget
    cdef public bint begins_no_name


cdef class Positions:
    cdef readonly Walk walk
    cdef readonly Py_ssize_t added
    cdef dict known, precomputed, known_alike, by_text
    cdef object matter, lock
    cdef Position of(self, int32_t leaf, int32_t node)
