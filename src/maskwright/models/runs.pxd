cdef class Run:
    cdef readonly list tokens, table
    cdef readonly Py_ssize_t start, rows
    cdef readonly object adapter
