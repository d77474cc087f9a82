"""Positions of a followed grammar, and the way through them; see `text_path.pyi`."""

from types import GenericAlias

from maskwright.native cimport BUILT_FROM
from maskwright.native import require_built

require_built(__name__, BUILT_FROM)


cdef class BudgetRow:
    def __init__(self, scope, row, free):
        self.scope, self.row, self.free = scope, row, free
        self.low, self.high = scope.low, scope.high

    cpdef bint holds(self, Py_ssize_t budget):
        return self.low <= budget <= self.high


cdef class KnownPosition:
    def __init__(self, *, complete, noted):
        self.complete, self.expands, self.noted = complete, not complete, noted
        self.moves, self.bounded = {}, ()

    cpdef BudgetRow within(self, Py_ssize_t budget):
        cdef BudgetRow known
        for known in self.bounded:
            if known.holds(budget):
                return known
        return None


cdef class TextPath:
    __class_getitem__ = classmethod(GenericAlias)

    def __init__(self, start):
        self._path, self._steps = [] if start is None else [start], []

    cdef KnownPosition last(self):
        """Where the text stands; None before anything has been learned."""
        return <KnownPosition>self._path[len(self._path) - 1] if self._path else None

    cdef KnownPosition known_after(self, token):
        """Where a token leads whatever the text before; None if that isn't known."""
        cdef KnownPosition here = self.last()
        if here is None:
            return None
        following = here.moves.get(token)
        return here.after(token) if following is None else following

    cdef int move(self, token, KnownPosition following) except -1:
        """Accept a token, which leads to `following`."""
        self._path.append(following)
        self._steps.append(token)
        return 0
