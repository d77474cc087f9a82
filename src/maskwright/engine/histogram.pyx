"""A histogram, with its bounds and counts in C; what it means is in `histogram.pyi`."""

from libc.stdlib cimport calloc, free

from maskwright.native cimport BUILT_FROM
from maskwright.engine.distribution import Distribution
from maskwright.native import require_built

require_built(__name__, BUILT_FROM)


cdef class Histogram:
    def __cinit__(self, tuple bounds):
        cdef Py_ssize_t at
        self.bounds = bounds
        self.limits = <double *>calloc(len(bounds) + 1, sizeof(double))
        self.counts = <long long *>calloc(len(bounds) + 1, sizeof(long long))
        if self.limits == NULL or self.counts == NULL:
            raise MemoryError
        for at in range(len(bounds)):
            self.limits[at] = bounds[at]

    def __dealloc__(self):
        free(self.limits)
        free(self.counts)

    def note(self, double value, long long times=1):
        self.add(value, times)

    cdef int add(self, double value, long long times) except -1:
        cdef Py_ssize_t at = 0, size = len(self.bounds)
        while at < size and self.limits[at] < value:
            at += 1
        self.counts[at] += times
        self.total += value * times
        return 0

    def read(self):
        cdef Py_ssize_t at
        counts = tuple([self.counts[at] for at in range(len(self.bounds) + 1)])
        return Distribution(self.bounds, counts, self.total)
