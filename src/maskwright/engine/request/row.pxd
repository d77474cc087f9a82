from libc.stdint cimport int32_t

from maskwright.engine.request.drafts cimport LookBack
from maskwright.engine.request.emission cimport Emitter
from maskwright.engine.request.mailbox cimport Mailbox
from maskwright.engine.schedule.sequence cimport Sequence
from maskwright.mask.position cimport Position
from maskwright.processes.text_path cimport KnownPosition
from maskwright.sampling.bans cimport Bans
from maskwright.sampling.penalties cimport Penalties


# Made for a text and never changed; `first`: where the elements of the first of `words` are.
cdef class Masks:
    cdef readonly tuple words, places, free
    cdef readonly Py_ssize_t rows, hits
    cdef readonly double seconds
    cdef const int32_t *first


cdef class Row:
    cdef readonly Mailbox generation
    cdef readonly Sequence sequence
    cdef readonly object matcher
    cdef readonly frozenset eos, stop_tokens
    cdef readonly tuple texts
    cdef readonly Emitter emitter
    cdef readonly object drafter
    cdef readonly bint plain
    cdef public Masks masks
    cdef public object shortened_at
    cdef public Py_ssize_t _digested
    cdef public object _last
    cdef public list _run, _unsent, scores
    cdef public tuple _missed
    cdef public str _text
    cdef public object _cuts
    cdef public bint _closed, _settled
    # Parameters of the draw.
    cdef Py_ssize_t most
    cdef unsigned long long seed
    cdef float temperature
    cdef long long top_k
    cdef double top_p, min_p
    cdef Penalties penalties
    cdef Bans bans
    cdef object params
    cdef bint scored, writes, is_local
    cdef Py_ssize_t least
    cdef readonly Masks free
    cdef Py_ssize_t words
    cdef Py_ssize_t go_on(self, list tokens) except -1
    cdef bint take(self, token) except -1
    cdef bint suffices(self, KnownPosition here, Py_ssize_t left)
    cdef bint is_open(self, Position here, Py_ssize_t left)
    cdef int look_up(self) except -1
    cdef int look_up_here(self, Py_ssize_t left, list guesses) except -1
    cdef bint ends_draft(self, token) except -1
    cdef int add_mask(
        self, KnownPosition here, Py_ssize_t left, list rows, list frees
    ) except -1
    cpdef int judge(self, Py_ssize_t drafted, Py_ssize_t accepted, counts) except -1
    cdef int publish_text(self, str text, token) except -1
