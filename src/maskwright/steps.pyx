"""Counting the steps of a question; see `steps.pyi`."""

import threading

from libc.math cimport INFINITY as inf

from maskwright.native cimport BUILT_FROM
from maskwright.native import require_built

require_built(__name__, BUILT_FROM)


class _Here(threading.local):
    steps = None


cdef object here = _Here()


cdef class Steps:
    def __cinit__(self, *args, **options):
        self.budget = self.until_look = inf

    cdef int take(self, double steps) except -1:
        self.until_look -= steps
        if self.until_look < 0:
            self.look()
        return 0

    def begin(self):
        if self.depth:
            return
        self.until_look, self.reserve = self.budget, 0
        if self.is_bounded:
            self.bound()

    @property
    def is_idle(self):
        return self.depth == 0

    def __enter__(self):
        if self.depth == 0:
            self.outer = here.steps
            here.steps = self
            if self.is_timed or (self.outer is not None and self.outer.is_timed):
                self.take_bounds(self.outer)
        self.depth += 1

    def __exit__(self, kind, error, trace):
        self.depth -= 1
        if self.depth == 0:
            here.steps, self.outer = self.outer, None
        if error is not None:
            self.name(error)


cpdef spend(double steps=1):
    known = here.steps
    if known is not None:
        (<Steps>known).take(steps)
