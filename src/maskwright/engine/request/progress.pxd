from maskwright.engine.histogram cimport Histogram


cdef class Progress:
    cdef public double submitted_at, paused, last_at
    cdef public object admitted_at, compiled_at, first_at, longest_gap, paused_at
    cdef public object late_at, preempted_at
    cdef public double late, preempted, mask_seconds
    cdef public Py_ssize_t first, sampled, forced, steps, mask_rows, mask_hits, late_rows
    cdef readonly object given_at, given
    cdef double worked(self, double now) except? -1
    cdef int go_on(self, double at) except -1
    cdef int draw(self, Py_ssize_t count, double now, seen) except -1
