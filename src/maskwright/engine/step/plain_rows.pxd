from maskwright.engine.request.row cimport Row
from maskwright.engine.schedule.chunk cimport Chunk
from maskwright.sampling.draw cimport Draws


cdef class PlainRows:
    # The requests, and the draft of each, None for none; their draws follow each other.
    cdef list rows, drafts
    cdef Draws draws
    cdef Py_ssize_t count, words
    cdef bint penalised, restricted  # whether some row is
    # The masks that bans have made smaller, and the logits, before penalties for the rows by number.
    cdef object narrowed, logits
    cdef dict unchanged
    # The draws without the token limit, which come after all others, in the order of the rows:
    # the number of the row, of its draft's tokens before the draw, and of the draw within the
    # limit; and the mask.
    cdef list unlimited
    cdef bint on_device
    # Whether the tokens were drawn before the rows were entered.
    cdef bint landed
    # On a device: the masks of the draws, and those rows of the chain that change single tokens.
    cdef list masks
    cdef dict changed
    cdef int clear(self) except -1
    cdef int enter(self, object row, Chunk chunk, Py_ssize_t first) except -1
    cdef int enter_unlimited(self) except -1
    cdef Py_ssize_t compare(
        self, Row row, Py_ssize_t number, list tokens, Py_ssize_t at
    ) except -1
    cdef int narrow(self, Py_ssize_t number, Py_ssize_t before, Py_ssize_t at) except -1
    cdef int make_room(self, Py_ssize_t count) except -1
    cdef int penalise(self, logits) except -1
    cdef int restrict(self) except -1
    cdef int score(self, Row row, Py_ssize_t at, list tokens) except -1
    cdef list accepted(self, Py_ssize_t at, list draft)
