"""The text of one generation; what is safe to send is said in `emission.pyi`."""

import codecs

from cpython.unicode cimport PyUnicode_DecodeASCII

from maskwright.engine.request.stops import START
from maskwright.native cimport BUILT_FROM
from maskwright.native import require_built

require_built(__name__, BUILT_FROM)

_DECODER = codecs.getincrementaldecoder("utf-8")


cdef class Emitter:
    def __init__(self, stops, *, include_stop=False):
        self.include_stop = include_stop
        self.stops = stops
        self.decode = _DECODER("replace").decode
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
        cdef str text = self.decode(data, final)
        self.pending = bool(self.decode.__self__.getstate()[0])
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
        cdef Py_ssize_t number, safe
        cdef str whole, character
        if self.stop is not None:
            return ""
        for number, character in enumerate(text):
            self.state = self.stops.step(self.state, character)
            if matched := self.stops.matched(self.state):
                whole = self.held + text[: number + 1]
                self.held = ""
                before, self.stop = whole[: len(whole) - matched], whole[len(whole) - matched :]
                return whole if self.include_stop else before
        whole = self.held + text
        safe = len(whole) - self.stops.depth(self.state)
        self.held = whole[safe:]
        return whole[:safe]
