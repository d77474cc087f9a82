cdef class Emitter:
    cdef bint include_stop
    cdef readonly object stop
    cdef object stops, decode
    cdef bint pending  # whether the decoder holds bytes of an incomplete character
    cdef int state
    cdef str held
    cdef str push_bytes(self, bytes data, bint stops)
    cdef str decoded(self, bytes data, bint final)
    cdef str release(self, str text)
