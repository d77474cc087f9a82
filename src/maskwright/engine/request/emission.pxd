from maskwright.engine.request.stops cimport StopAutomaton


cdef class Emitter:
    cdef bint include_stop
    cdef readonly object stop
    cdef StopAutomaton stops
    cdef object decoder
    cdef bint pending  # whether the decoder holds bytes of an incomplete character
    cdef int state
    cdef str held
    cdef str push_bytes(self, bytes data, bint stops)
    # As `push`; None, with nothing changed, where a stop string ends in these bytes.
    cdef str push_if_goes_on(self, bytes data)
    cdef str decoded(self, bytes data, bint final)
    cdef str release(self, str text)
    cdef str hold(self, str text, int state)
