"""Positions of a followed grammar, and the way through them; see `text_path.pyi`."""

from types import GenericAlias

import numpy as np

from maskwright.native cimport BUILT_FROM, const_int32s, const_uint8s, lower_bound
from maskwright.native import require_built

require_built(__name__, BUILT_FROM)


cdef class BudgetRow:
    def __init__(self, scope, row, free):
        self.scope, self.row, self.free = scope, row, free
        self.low, self.high = scope.low, scope.high

    cpdef bint holds(self, Py_ssize_t budget):
        return self.low <= budget <= self.high


cdef class Ways:
    def __init__(self, tokens, groups, targets):
        if len(tokens) != len(groups):
            raise ValueError(f"{len(tokens)} tokens, and groups for {len(groups)}")
        if len(groups) and int(np.max(groups)) >= len(targets):
            raise IndexError(f"group {np.max(groups)}, and {len(targets)} targets")
        self.tokens, self.groups, self.targets = tokens, groups, tuple(targets)
        self._tokens, self._groups = const_int32s(tokens), const_uint8s(groups)
        self._count = len(tokens)

    cpdef KnownPosition find(self, token):
        cdef int32_t wanted = token, at = lower_bound(self._tokens, 0, self._count, wanted)
        if at == self._count or self._tokens[at] != wanted:
            return None
        return self.targets[self._groups[at]]


cdef class KnownPosition:
    def __init__(self, *, complete, noted):
        self.complete, self.expands, self.noted = complete, not complete, noted
        self.moves, self.ways, self.bounded = {}, NO_WAYS, ()

    cpdef BudgetRow within(self, Py_ssize_t budget):
        cdef BudgetRow known
        for known in self.bounded:
            if known.holds(budget):
                return known
        return None

    cpdef KnownPosition after(self, token):
        following = self.moves.get(token)
        return self.ways.find(token) if following is None else following


NO_WAYS = Ways(np.empty(0, np.int32), np.empty(0, np.uint8), ())


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
        return None if here is None else here.after(token)

    cdef int move(self, token, KnownPosition following) except -1:
        """Accept a token, which leads to `following`."""
        self._path.append(following)
        self._steps.append(token)
        return 0
