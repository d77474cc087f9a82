"""A sequence, with its numbers in C; what they mean is in `sequence.pyi`."""

import enum

from maskwright.native cimport BUILT_FROM
from maskwright.native import require_built

require_built(__name__, BUILT_FROM)

cdef enum:
    MOST_PENDING = 16

SHORT = MOST_PENDING
MOST_PREEMPTIONS = 3

# Weight of the last draft in the moving average of a sequence's acceptance rate.
cdef double ACCEPTANCE_RATE = 0.3


class Phase(enum.Enum):
    WAITING = "waiting"
    RUNNING = "running"
    PAUSED = "paused"
    ENDED = "ended"


cdef class Sequence:
    def __init__(
        self, arrival, tokens, prompt_length, limit, rank=0, client="", salt=None, deadline=None,
        adapter=None, phase=Phase.WAITING, computed=0, table=None, preemptions=0, to_score=0,
        acceptance=1.0, draft=None,
    ):
        self.arrival, self.tokens = arrival, tokens
        self.prompt_length, self.limit = prompt_length, limit
        self.rank, self.client, self.salt = rank, client, salt
        self.deadline, self.adapter, self.phase = deadline, adapter, phase
        self.computed, self.table = computed, [] if table is None else table
        self.host = []
        self.draft = [] if draft is None else draft
        self.preemptions, self.to_score = preemptions, to_score
        self.acceptance = acceptance

    cdef Py_ssize_t count_pending(self) noexcept:
        return len(self.tokens) - self.computed

    cdef bint is_decoding(self) noexcept:
        return (
            self.transfer is None
            and self.computed >= self.prompt_length
            and 0 < len(self.tokens) - self.computed <= MOST_PENDING
        )

    cpdef int judge(self, double drafted, double accepted) except -1:
        self.acceptance += ACCEPTANCE_RATE * (accepted / drafted - self.acceptance)
        return 0

    @property
    def pending(self):
        return self.count_pending()

    @property
    def decodes(self):
        return self.is_decoding()

    @property
    def cacheable(self):
        cdef Py_ssize_t most = len(self.tokens) - 1
        return most if self.scored >= self.to_score else min(most, self.scored)

    @property
    def seniority(self):
        return (0 if self.preemptions >= MOST_PREEMPTIONS else self.rank), self.arrival
