from libc.stdint cimport int32_t

from maskwright.automaton.json.plain_reader cimport PlainReader


cdef class LevelNumbers:
    cdef readonly list known, owners, shapes
    cdef readonly dict gates, commas
    cdef public object colon, spaced
    # The contexts of values that `enter_alone` has. By tag: the exit at the end of an object.
    cdef set alone
    cdef dict closed
    # Leaf states before a value alone.
    cdef dict values
    cdef dict numbers, shape_numbers, shapes_by_id
    cpdef int32_t context(self, key, owner) except -1
    cpdef int enter_alone(self, int32_t context) except -1
    cpdef shape(self, shape)


cdef class PlainExits:
    cdef LevelNumbers numbers
    cdef readonly dict readers, goes_on
    cdef object owner, solver, forms, plain_shape
    # What `Levels` has under these names; and by value, what represents it here.
    cdef dict alone, same, scalars, representatives
    # By term: the leaf state before a name. By context after a value: what reads the next name,
    # until somebody comes there; few members have a name that isn't listed.
    cdef dict starts, waiting
    # By context of a plain array: its shape, how many items have been read, as far as that makes a
    # difference, and whether the first one comes next.
    cdef dict items
    # By context that `root_leaf` has: the exit after the value.
    cdef dict roots
    cdef bint lines
    cdef form(self, value)
    cpdef representative(self, value)
    cdef find_representative(self, value)
    cpdef int32_t value_alone(self, value, Py_ssize_t depth) except -1
    cdef begin(self, int32_t context)
    cdef open(self, int32_t context, mark)
    cdef tuple beginning_of(self, int32_t context)
    cdef tuple beginning(self, value)
    cdef list brackets(self, int32_t context, tuple begun)
    cdef list opened(self, int32_t context, mark, tuple first)
    cdef tuple first_name(self, shape)
    cdef tuple first_item(self, shape)
    cdef int32_t array_at(self, phase, shape, Py_ssize_t index) except -1
    cdef after_item(self, int32_t context, label)
    cdef at_item(self, shape, Py_ssize_t index)
    cdef Py_ssize_t next_index(self, shape, Py_ssize_t index) except -1
    cdef bint is_live(self, term) except -1
    cdef value_leaf(self, tuple begun)
    cdef after(self, value, PlainReader following, int32_t dynamic, bint is_listed)
    cdef tuple after_value(self, int32_t frame, PlainReader following, shape)
    cdef closed(self, Py_ssize_t tag)
    cdef start(self, term)
