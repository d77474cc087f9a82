cdef object made(kind, tuple names, tuple values)
