"""The part of a step that belongs to one sequence; see `chunk.pyi`."""

from maskwright.engine.schedule.sequence cimport Sequence
from maskwright.engine.schedule.sequence import SHORT
from maskwright.native cimport BUILT_FROM
from maskwright.native import require_built

require_built(__name__, BUILT_FROM)

cdef Py_ssize_t MOST_PENDING = SHORT


cdef class Chunk:
    def __init__(self, sequence, start, count, samples, drafted=0, scored=0):
        self.sequence, self.start, self.count = sequence, start, count
        self.samples, self.drafted, self.scored = samples, drafted, scored

    cdef tuple fields(self):
        return self.sequence, self.start, self.count, self.samples, self.drafted, self.scored

    def __eq__(self, other):
        return isinstance(other, Chunk) and self.fields() == (<Chunk>other).fields()

    def __hash__(self):
        return hash(self.fields())

    def __repr__(self):
        return f"Chunk{self.fields()}"

    @property
    def decodes(self):
        return self.is_decoding()

    @property
    def rows(self):
        return self.count_rows()

    @property
    def first_sampled(self):
        return self.count_rows() - 1 - self.drafted

    cdef bint is_decoding(self) noexcept:
        cdef Py_ssize_t own = self.count - self.drafted
        return self.start >= self.sequence.prompt_length and own <= MOST_PENDING

    cdef Py_ssize_t count_rows(self) noexcept:
        return max(1 + self.drafted if self.samples else 0, self.scored)
