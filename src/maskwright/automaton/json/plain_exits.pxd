from libc.stdint cimport int32_t

from maskwright.automaton.json.plain_reader cimport PlainReader


cdef class LevelNumbers:
    cdef readonly list known, owners, shapes
    cdef readonly dict gates
    cdef dict numbers, shape_numbers, shapes_by_id
    cpdef int32_t context(self, key, owner) except -1
    cpdef shape(self, shape)


cdef class PlainExits:
    cdef LevelNumbers numbers
    cdef readonly dict readers, goes_on
    cdef object owner, colon
    # By term: the leaf state before a name. By what may come: that after a member. By tag: the exit
    # at the end of an object.
    cdef dict starts, commas, closed
    cdef after(self, value, PlainReader following, int32_t dynamic)
    cdef tuple after_value(self, int32_t frame, PlainReader following, shape)
    cdef start(self, term)
