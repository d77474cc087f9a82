from libc.stdint cimport int64_t


# What is known of a token that is in the prompt or the output.
cdef struct Occurred:
    int64_t token
    Py_ssize_t count  # times in the output


cdef class Penalties:
    cdef double frequency
    cdef float repetition, presence
    cdef Py_ssize_t prompt_length
    cdef bint lists  # whether there are penalties
    cdef int64_t[::1] biased
    cdef const float[::1] biases
    # The tokens that occurred, and where each of them is listed.
    cdef Occurred *occurred
    cdef Py_ssize_t listed, room
    cdef dict places
    cdef Py_ssize_t read
    cdef int learn(self, list tokens) except -1
    cdef int add(self, token, bint in_output) except -1
    cdef int take_back(self, draft, Py_ssize_t listed) except -1
    cdef int change(self, float[::1] logits) except -1
