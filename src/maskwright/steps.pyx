"""Counting the steps of a question; see `steps.pyi`."""

from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.math cimport INFINITY as inf

from maskwright.native cimport BUILT_FROM
from maskwright.native import require_built

require_built(__name__, BUILT_FROM)


cdef extern from *:
    """
    static _Thread_local void *maskwright_steps_here;
    """
    # The `Steps` that was entered last in this thread, which holds a reference to it until it is
    # left; null for none. Reading an attribute of a `threading.local` takes as long as a step may.
    void *here "maskwright_steps_here"


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
        global here
        if self.depth == 0:
            if here != NULL:
                self.outer = <Steps>here
            here = <void *>self
            Py_INCREF(self)
            if self.is_timed or (self.outer is not None and self.outer.is_timed):
                self.take_bounds(self.outer)
        self.depth += 1

    def __exit__(self, kind, error, trace):
        global here
        self.depth -= 1
        if self.depth == 0:
            here = NULL if self.outer is None else <void *>self.outer
            self.outer = None
            Py_DECREF(self)
        if error is not None:
            self.name(error)


cpdef spend(double steps=1):
    if here != NULL:
        (<Steps>here).take(steps)
