from libc.stdint cimport int32_t, int64_t

from maskwright.mask.walk.row_table cimport RowTable
from maskwright.mask.walk.walk cimport PrecomputedMask, Walk


cdef class Position:
    cdef readonly int32_t leaf, node
    # Most positions are left by one token only, for which a dict would be a quarter kilobyte.
    cdef Position _first
    cdef int64_t _first_token
    cdef dict _others
    cdef object _configuration
    cdef readonly object excluded
    cdef public object by_text, forced_byte, accepting, complete
    cdef public int32_t row
    cdef public int64_t variant, sufficient_budget
    cdef public bint begins_no_name
    cdef Position known_after(self, int64_t token)


cdef class Positions:
    cdef readonly Walk walk
    cdef readonly Py_ssize_t added
    cdef dict known, precomputed, known_alike, by_text
    cdef list labels
    cdef object matter, lock
    cdef Position of(self, int32_t leaf, int32_t node)
    cdef int find_row(self, Position here, lacking) except -1
    cdef int walk_from(self, Position here, PrecomputedMask precomputed, lacking) except -1
    cdef bint begins_no_run(self, Position here) except -1
    cdef bint is_narrow(self, int32_t leaf) except -1
    cdef Position move(self, Position here, int32_t token)
    cdef Position move_at_once(self, Position here, int32_t token)
    cdef Position moved(self, Position here, int32_t token)
    cdef int64_t target(self, Position here, int32_t token) except -2


cdef class PositionPath:
    cdef public list _path, _steps
    cdef Positions positions
    cdef readonly RowTable _rows
    cdef Py_ssize_t size
    cdef int find(self, Position here) except -1
    cdef Position here(self)
    cdef int move(self, token, Position following) except -1
    cdef Position found_at_once(self, token)
    cdef object copied_row(self, Position here)
    cdef bint fill(self, Position here, out) except -1
