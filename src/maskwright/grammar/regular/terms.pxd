from libc.stdint cimport int64_t

from maskwright.grammar.regular.interned cimport Kept


cdef class Regular(Kept):
    cdef object __weakref__
    cdef readonly bint nullable, plain
    cdef readonly int64_t number
    cdef public object steps, split, live, short, alphabet, heads, counter
    cdef public object least_length, longest, span, way, automaton, place


cdef class WordList(Kept):
    cdef object __weakref__
    cdef readonly tuple strings
    cdef readonly bint bare, ascii
    cdef public bint whole
    cdef int at_most


cdef class Chars(Regular):
    cdef readonly tuple ranges


cdef class Words(Regular):
    cdef readonly WordList table
    cdef readonly Py_ssize_t low, high, depth


cdef class Concat(Regular):
    cdef readonly Regular head, tail


cdef class Repeat(Regular):
    cdef readonly Regular body
    cdef readonly object least, most


cdef class Alt(Regular):
    cdef readonly tuple options


cdef class CountingSet(Regular):
    cdef readonly Chars body
    cdef readonly object counts
    cdef readonly Regular tail


cdef class Intersection(Regular):
    cdef readonly tuple parts


cdef class ExactlyOne(Regular):
    cdef readonly tuple options
    cdef readonly Regular excluded


cdef class LengthBounded(Regular):
    cdef readonly Regular core
    cdef readonly object least, most


cdef class Weighed(Regular):
    cdef readonly Regular core
    cdef readonly object room, scale


cdef class Complement(Regular):
    cdef readonly Regular body


cdef class Empty(Regular):
    pass


cdef class Epsilon(Regular):
    pass


cdef class Loop(Regular):
    cdef readonly object unfold


cdef class State(Regular):
    cdef readonly object moves, shortest, to_end, weight, equal, held


cdef class Tagged(Regular):
    cdef readonly tuple parts
    cdef readonly bint named


cdef class Parallel(Regular):
    cdef readonly tuple terms, parts, ahead


cdef Regular EMPTY_TERM, EPSILON_TERM, ANYTHING_TERM

cdef Regular chained(Regular head, Regular tail)
cdef Regular any_of(options)
cdef Regular all_of(parts)
cpdef Regular chars(tuple ranges)
cpdef Regular repeat(Regular body, least=*, most=*)
cpdef Regular counting_set(Chars body, counts, Regular tail)
cpdef Regular length_bounded(Regular core, least, most)
cpdef Regular weighed(Regular core, room, scale)
cpdef Regular complement(Regular body)
cpdef Regular exactly_one(options, Regular excluded=*)
cpdef Regular tagged(tuple parts, bint named=*)
cpdef WordList word_list(strings, bint bare=*)
cpdef Words word_slice(WordList table, Py_ssize_t low=*, high=*, Py_ssize_t depth=*)
cpdef Regular parallel(tuple terms_read, tuple parts, tuple ahead=*)
