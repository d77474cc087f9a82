from libc.stdint cimport uint8_t

cdef enum:
    # Words whose sets are numbers of C.
    FEW = 64


cdef class PlainShape:
    cdef readonly object shape, order, possible, remembered, words
    cdef readonly dict indexes, languages
    cdef readonly tuple some
    cdef readonly bint others
    cdef bint any_order, leaves_to_text
    cdef Py_ssize_t declared, least
    # None without one.
    cdef object most
    cdef object required
    # The list of the words.
    cdef object known
    # By name of the shape: its word; and the words of all that are possible, as bits.
    cdef list word_of
    # The same as `word_of`, where there are few.
    cdef bint few
    cdef uint8_t place[FEW]
    cdef object possible_words
    # The terms where other names may come, and where none may.
    cdef object open_term, closed_term
    cdef dict values_of_others, names_of_others
    cdef object sum_of(self, names)
    cdef object words_of(self, names)
    cdef object term(self, bint others)


cdef class PlainReader:
    cdef readonly PlainShape plain
    cdef readonly object shape, term, words, names, bits
    cdef readonly Py_ssize_t tag, depth
    cdef readonly bint others, may_close
    cdef object position, seen, count, _progress
    # The other fields of the progress: `read` are the names that the shape doesn't list.
    cdef object fulfilled, read, candidates, must_equal_one, forgotten
    cdef int find(self) except -1
    cdef PlainReader another(self)
