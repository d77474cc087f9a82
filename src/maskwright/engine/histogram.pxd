cdef class Histogram:
    cdef tuple bounds
    cdef double *limits
    cdef long long *counts
    cdef double total
    cdef int add(self, double value, long long times) except -1
