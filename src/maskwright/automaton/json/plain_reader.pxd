from libc.stdint cimport uint8_t

cdef enum:
    # Words whose sets are numbers of C.
    FEW = 64


cdef class PlainFacts:
    cdef object possible, required, order
    cdef bint others, any_order, leaves_to_text
    cdef Py_ssize_t declared, least
    # None without one.
    cdef object most
    # By name of the shape: its word; and the words of all that are possible, as bits.
    cdef list word_of
    cdef object words
    # The same as `word_of`, where there are few.
    cdef bint few
    cdef uint8_t place[FEW]
    cdef object possible_words
    cdef object sum_of(self, names)
    cdef object words_of(self, names)


cdef class PlainReader:
    cdef readonly object plain, shape, term, words, names, bits
    cdef readonly Py_ssize_t tag, depth
    cdef readonly bint others, may_close
    cdef PlainFacts facts
    cdef object position, seen, count, _progress
    # The fields of the progress after these.
    cdef tuple rest
    cdef int find(self) except -1
