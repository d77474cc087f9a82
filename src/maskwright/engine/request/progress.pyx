"""The times and counts that a running request notes in each step; see `progress.pyi`."""

from array import array

from maskwright.engine.histogram cimport Histogram
from maskwright.native cimport BUILT_FROM
from maskwright.native import require_built

require_built(__name__, BUILT_FROM)

cdef enum:
    MOST_TIMES = 512

MOST_STEPS = MOST_TIMES


cdef class Progress:
    def __init__(self, double submitted_at):
        self.submitted_at = submitted_at
        self.given_at, self.given = array("d"), array("l")

    cdef double worked(self, double now) except? -1:
        """The time `now` on the clock that stops in pauses."""
        if self.paused_at is None:
            return now - self.paused
        return now - self.paused - (now - <double>self.paused_at)

    cdef int go_on(self, double at) except -1:
        """End what the request has waited for since its last token, at a time of its own clock."""
        if self.late_at is not None:
            self.late += at - <double>self.late_at
            self.late_at = None
        if self.preempted_at is not None:
            self.preempted += at - <double>self.preempted_at
            self.preempted_at = None
        return 0

    cdef int draw(self, Py_ssize_t count, double now, seen) except -1:
        cdef double at = self.worked(now), gap
        self.sampled += count
        self.steps += 1
        self.go_on(at)
        if self.steps <= MOST_TIMES:
            self.given_at.append(at - self.submitted_at)
            self.given.append(self.sampled + self.forced)
        if self.first_at is None:
            assert self.admitted_at is not None, "a token for a request that was never admitted"
            self.first_at = at
            self.first = self.forced + count
            (<Histogram>seen.prefill).add(at - <double>self.admitted_at, 1)
            (<Histogram>seen.ttft).add(at - self.submitted_at, 1)
        else:
            gap = at - self.last_at
            if self.longest_gap is None or gap > <double>self.longest_gap:
                self.longest_gap = gap
            (<Histogram>seen.inter_token).add(gap, 1)
        self.last_at = at
        return 0

    def drew(self, Py_ssize_t count, double now, seen):
        self.draw(count, now, seen)

    def filled(self, Py_ssize_t rows, Py_ssize_t hits, double seconds, seen):
        self.mask_rows += rows
        self.mask_hits += hits
        self.mask_seconds += seconds
        (<Histogram>seen.mask).add(seconds / rows, rows)

    def await_mask(self, double now):
        self.late_rows += 1
        if self.preempted_at is None:
            self.late_at = self.worked(now)

    def drop_row(self, double now):
        if self.late_at is not None:
            self.late += self.worked(now) - <double>self.late_at
            self.late_at = None

    def preempt(self, double now):
        self.drop_row(now)
        if self.preempted_at is None:
            self.preempted_at = self.worked(now)

    def admitted(self, double now, seen):
        if self.admitted_at is None:
            self.admitted_at = self.worked(now)
            (<Histogram>seen.queue).add(self.admitted_at - self.queued_at, 1)

    def pause(self, double now):
        if self.paused_at is None:
            self.paused_at = now

    def resume(self, double now):
        if self.paused_at is not None:
            self.paused += now - <double>self.paused_at
            self.paused_at = None

    def end_waits(self, double now):
        cdef double at = self.worked(now)
        self.go_on(at)
        return at

    def time_of(self, double now):
        return self.worked(now)

    @property
    def queued_at(self):
        return self.submitted_at if self.compiled_at is None else self.compiled_at
