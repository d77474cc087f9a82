from libc.stdint cimport int32_t

from maskwright.automaton.leaf.rows cimport LeafRows, WordPlaces
from maskwright.grammar.regular.overlay cimport Split
from maskwright.grammar.regular.terms cimport Regular, WordList


cdef class WordTrie:
    cdef readonly WordList table
    cdef readonly tuple others
    cdef readonly WordPlaces places
    cdef readonly int32_t state, count
    cdef key(self, int32_t state)


cdef class Keys:
    cdef readonly list known
    cdef list tries, firsts
    cdef key(self, Py_ssize_t state)
    cpdef WordTrie trie(self, int32_t state)


cdef class LeafTable:
    cdef object __weakref__
    cdef readonly LeafRows rows
    cdef readonly Keys keys
    cdef readonly list labels
    cdef readonly dict label_ids
    cdef readonly int32_t count, dead
    cdef public int32_t weight
    # The numbers of keys, by their types: keys of two types may be equal.
    cdef dict texts, begun_ones, skipped_ones
    cdef object others
    cdef dict tries, rows_beside, word_ends
    cdef set expanded
    cpdef int32_t state(self, key) except -1
    cpdef int32_t label_id(self, name) except -1
    cpdef int build(self, int32_t state) except -1
    cdef int32_t added(self, dict ids, key) except -1
    cdef int32_t text(self, inside, term) except -1
    cdef int32_t begun(self, inside, term, int32_t part, int32_t value) except -1
    cdef int32_t new_text(self, key) except -1
    cdef int32_t new_begun(self, key) except -1
    cdef int32_t skipped(self, int32_t part, int32_t target) except -1
    cdef int set_gate(self, int32_t number, list terms) except -1
    cdef int32_t in_trie(self, Regular term, int32_t part) except -2
    cdef WordTrie plant(self, WordList table, tuple others)
    cdef tuple beside(self, tuple others)
    cdef trunk(self, key)
    cdef int32_t row_of(self, key) except -1
    cdef int build_text(self, int32_t state, inside, term, trunk) except -1
    cdef int build_begun(self, int32_t state, key, trunk) except -1
    cdef int build_skipped(self, int32_t state, int32_t part, int32_t target) except -1
    cdef int build_choice(self, int32_t state, inside, text, tuple marks) except -1
    cdef int build_entry(self, int32_t state, text, tuple marks) except -1
    cdef int build_spaces(self, int32_t state, key) except -1
    cdef dict token_row(self, key)
    cdef bint is_escape(self, int32_t state) except -1
    cdef int add_beyond(self, int32_t *row, inside, term, int32_t part, int32_t value) except -1
    cdef int add_escapes(self, int32_t *row, term, int32_t part, int32_t value) except -1
    cdef int32_t escaped(self, term, Split found, int32_t part, int32_t value) except -2
