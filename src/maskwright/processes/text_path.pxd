from libc.stdint cimport int32_t, uint8_t


cdef class BudgetRow:
    cdef readonly object scope, row, free
    cdef Py_ssize_t low, high
    cpdef bint holds(self, Py_ssize_t budget)


cdef class Ways:
    cdef readonly object tokens, groups
    cdef readonly tuple targets
    cdef const int32_t *_tokens
    cdef const uint8_t *_groups
    cdef Py_ssize_t _count
    cpdef KnownPosition find(self, token)


cdef class KnownPosition:
    cdef readonly bint complete
    cdef public bint expands, noted
    cdef public object row, run
    cdef public Py_ssize_t sufficient_budget
    cdef readonly dict moves
    cdef public Ways ways
    cdef public tuple bounded
    cdef public object drawn_under
    cpdef BudgetRow within(self, Py_ssize_t budget)
    cpdef KnownPosition after(self, token)


cdef class TextPath:
    cdef readonly list _path, _steps
    cdef KnownPosition last(self)
    cdef KnownPosition known_after(self, token)
    cdef int move(self, token, KnownPosition following) except -1
