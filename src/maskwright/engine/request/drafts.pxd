from libc.stdint cimport int64_t


cdef class LookBack:
    cdef readonly Py_ssize_t most
    cdef public Py_ssize_t proposed, accepted
    cdef Py_ssize_t length, rest, pause
    # The tokens so far, and a hash table from suffixes to the places after them. A slot has the
    # place, from 1 on, and the size of the suffix in its last three bits; 0 where it is empty.
    cdef int64_t *tokens
    cdef Py_ssize_t count, room
    cdef int64_t *places
    cdef Py_ssize_t slots, filled
    cdef int learn(self, list tokens) except -1
    cdef Py_ssize_t find(self, Py_ssize_t end) noexcept
    cdef list following(self, list tokens)
    cdef void enter(self, Py_ssize_t end, Py_ssize_t size) noexcept
    cdef int64_t *slot(self, Py_ssize_t end, Py_ssize_t size) noexcept
    cdef int grow(self) except -1
