
cdef class Sequence:
    cdef readonly Py_ssize_t arrival
    cdef public list tokens
    cdef public Py_ssize_t prompt_length, limit
    cdef public int rank
    cdef public str client
    cdef public object salt, deadline, adapter
    cdef public object phase
    cdef public Py_ssize_t computed
    cdef public list table
    cdef public Py_ssize_t outside_window
    cdef public list host
    cdef public Py_ssize_t saved
    cdef public object transfer
    cdef public list draft
    cdef public bint by_model
    cdef public object node
    cdef public double acceptance
    cdef public Py_ssize_t cached_tokens, to_score, scored
    cdef public bint charged
    cdef public Py_ssize_t overtaken, preemptions, blocks_peak
    cdef Py_ssize_t count_pending(self) noexcept
    cdef bint is_decoding(self) noexcept
    cpdef int judge(self, double drafted, double accepted) except -1
