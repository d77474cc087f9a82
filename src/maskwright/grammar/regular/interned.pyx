"""Objects that are alive, by key; see `interned.pyi`."""

from weakref import ref

cimport cython
from cpython.weakref cimport PyWeakref_GetObject

from maskwright.garbage cimport hide, hide_whole
from maskwright.native cimport BUILT_FROM
from maskwright.native import require_built

require_built(__name__, BUILT_FROM)


cdef class Interned:
    def __init__(self):
        self.known = {}

    def __len__(self):
        return len(self.known)

    cpdef get(self, key):
        found = self.known.get(key)
        return None if found is None else <object>PyWeakref_GetObject(found)

    cpdef keep(self, key, value):
        reference = ref(value, Removal.__new__(Removal, self.known, key))
        self.known[key] = reference
        hide_whole(key)
        hide(reference)
        return hide_whole(value)


@cython.no_gc
cdef class Removal:
    """Forgets a key when the object is gone, unless there is another one by then."""
    cdef dict known
    cdef object key

    def __cinit__(self, dict known, key):
        self.known, self.key = known, key

    def __call__(self, gone):
        if self.known.get(self.key) is gone:
            del self.known[self.key]
