from libc.stdint cimport int32_t

from maskwright.automaton.json.plain_reader cimport PlainReader


cdef class LevelNumbers:
    cdef readonly list known, owners, shapes
    cdef readonly dict gates, commas
    cdef public object colon, spaced
    # The contexts of values that `enter_alone` has. By tag: the exit at the end of an object.
    cdef set alone
    cdef dict closed
    cdef dict numbers, shape_numbers, shapes_by_id
    cpdef int32_t context(self, key, owner) except -1
    cpdef shape(self, shape)


cdef class PlainExits:
    cdef LevelNumbers numbers
    cdef readonly dict readers, goes_on
    cdef object owner
    # By term: the leaf state before a name. By context after a value: what reads the next name,
    # until somebody comes there; few members have a name that isn't listed.
    cdef dict starts, waiting
    cdef after(self, value, PlainReader following, int32_t dynamic, bint is_listed)
    cdef tuple after_value(self, int32_t frame, PlainReader following, shape)
    cdef close(self, PlainReader reader)
    cdef start(self, term)
