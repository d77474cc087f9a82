from libc.stdint cimport int32_t

from maskwright.automaton.leaf.rows cimport LeafRows
from maskwright.grammar.regular.overlay cimport Split


cdef class LeafStates:
    cdef readonly LeafRows rows
    cdef readonly list known
    cdef public Py_ssize_t count, weight
    cdef dict texts, begun_ones, skipped_ones
    cdef readonly object ids
    cpdef int32_t new_state(self, key) except -1
    cdef int32_t added(self, dict ids, key) except -1
    cdef int32_t text(self, inside, term) except -1
    cdef int32_t begun(self, inside, term, int32_t part, int32_t value) except -1
    cpdef int32_t skipped(self, int32_t part, int32_t target) except -1
    cpdef int build(self, int32_t state) except -1
    cdef trunk(self, key)
    cdef int build_text(self, int32_t state, inside, term, trunk) except -1
    cdef int build_begun(self, int32_t state, key, trunk) except -1
    cdef int build_skipped(self, int32_t state, int32_t part, int32_t target) except -1
    cdef int build_choice(self, int32_t state, inside, text, tuple marks) except -1
    cdef int add_beyond(self, int32_t *row, inside, term, int32_t part, int32_t value) except -1
    cdef int add_escapes(self, int32_t *row, term, int32_t part, int32_t value) except -1
    cdef int32_t escaped(self, term, Split found, int32_t part, int32_t value) except -2
