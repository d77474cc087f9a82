from maskwright.engine.schedule.sequence cimport Sequence


cdef class Chunk:
    cdef readonly Sequence sequence
    cdef readonly Py_ssize_t start, count, drafted, scored
    cdef readonly bint samples
    cdef tuple fields(self)
    cdef Py_ssize_t count_rows(self) noexcept
    cdef bint is_decoding(self) noexcept
