from libc.stdint cimport int32_t, int64_t

from maskwright.mask.walk.row_table cimport RowTable
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
    cdef int find_row(self, Position here, lacking) except -1
    cdef Position move(self, Position here, int32_t token)


cdef class PositionPath:
    cdef public list _path, _steps
    cdef Positions positions
    cdef readonly RowTable _rows
    cdef Py_ssize_t size
    cdef int find(self, Position here) except -1
    cdef Position here(self)
    cdef bint fill(self, Position here, out) except -1
