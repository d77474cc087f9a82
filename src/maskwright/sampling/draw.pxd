from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t


# One draw: from which row of the logits, under which mask, and with which parameters (see
# `draw.pyi`); and its result.
cdef struct Draw:
    Py_ssize_t row
    const int32_t *mask
    const int32_t *fallback  # a mask for where that one leaves nothing; NULL for none
    float temperature
    int64_t top_k
    double top_p, min_p
    uint64_t seed
    uint32_t position
    bint scored  # whether the last two are wanted, of a draw that gave a token
    int64_t token
    double processed  # the logarithm of the probability with which it was drawn
    Py_ssize_t support  # among how many tokens


# Room for the draws of a step. What a draw needs is kept from step to step: pages that are touched
# for the first time cost more than the draw.
cdef class Draws:
    cdef Draw *each
    cdef Py_ssize_t room
    cdef float[::1] peaks, scaled
    # Carry the first `count` out, under masks of so many words.
    cdef int draw(
        self, const float[:, ::1] logits, Py_ssize_t count, Py_ssize_t words
    ) except -1
    # The parameters of the first `count`, as arrays in the order of `RowColumns`.
    cdef tuple columns(self, Py_ssize_t count)
