from maskwright.grammar.regular.overlay cimport Split
from maskwright.grammar.regular.terms cimport Regular


cdef class Remembered:
    cdef public object terms, sizes
    cdef readonly Py_ssize_t size
    cpdef int add(self, Regular term, Py_ssize_t size) except -1
    cdef int forget(self) except -1


cpdef Split split(Regular term)
cpdef Split all_transitions(Regular term)
cpdef label(Regular term)
cpdef Regular derivative(Regular term, str text)
