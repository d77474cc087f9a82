"""The text of one generation; what is safe to send is said in `emission.pyi`."""

import codecs

from cpython.unicode cimport PyUnicode_DecodeASCII

from maskwright.engine.request.stops cimport StopAutomaton
from maskwright.engine.request.stops import START
from maskwright.native cimport BUILT_FROM
from maskwright.native import require_built

require_built(__name__, BUILT_FROM)

_DECODER = codecs.getincrementaldecoder("utf-8")


cdef class Emitter:
    def __init__(self, stops, *, include_stop=False):
        self.include_stop = include_stop
        self.stops = stops
        self.decoder = _DECODER("replace")
        self.state = START
        self.held = ""

    @property
    def stopped(self):
        return self.stop is not None

    def push(self, bytes data, *, stops=True):
        return self.push_bytes(data, stops)

    cdef str push_bytes(self, bytes data, bint stops):
        cdef str text = self.decoded(data, False)
        return self.release(text) if stops and self.stops is not None else text

    cdef str push_if_goes_on(self, bytes data):
        cdef bint pending = self.pending
        cdef int state = self.state
        cdef str text
        if self.stops is None:
            return self.decoded(data, False)
        before = self.decoder.getstate()
        text = self.decoded(data, False)
        if self.stop is not None or self.stops.follow(&state, text) >= 0:
            self.decoder.setstate(before)
            self.pending = pending
            return None
        return self.hold(text, state)

    cdef str decoded(self, bytes data, bint final):
        """The characters that are whole with these bytes."""
        cdef const unsigned char *bytes_of = data
        cdef Py_ssize_t at, size = len(data)
        cdef unsigned char highest = 0
        if not self.pending:
            for at in range(size):
                highest |= bytes_of[at]
            if highest < 0x80:
                return PyUnicode_DecodeASCII(<const char *>bytes_of, size, NULL)
        cdef str text = self.decoder.decode(data, final)
        self.pending = bool(self.decoder.getstate()[0])
        return text

    def finish(self):
        cdef str rest
        if self.stop is not None:
            return ""
        rest = self.decoded(b"", True)
        if self.stops is not None:
            rest = self.release(rest)
        if self.stop is not None:
            return rest
        rest, self.held = rest + self.held, ""
        return rest

    cdef str release(self, str text):
        """What is safe to send of the text so far, of which `text` is new; there are stop
        strings."""
        cdef Py_ssize_t read, matched
        cdef int state = self.state
        cdef str whole, before
        if self.stop is not None:
            return ""
        read = self.stops.follow(&state, text)
        if read < 0:
            return self.hold(text, state)
        self.state, matched = state, self.stops.matches[state]
        whole, self.held = self.held + text[:read], ""
        before, self.stop = whole[: len(whole) - matched], whole[len(whole) - matched :]
        return whole if self.include_stop else before

    cdef str hold(self, str text, int state):
        """What is safe to send of the text so far, of which `text` is new and leads to `state`."""
        cdef str whole = self.held + text
        cdef Py_ssize_t safe = len(whole) - self.stops.depths[state]
        self.state, self.held = state, whole[safe:]
        return whole[:safe]
