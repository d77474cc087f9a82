"""Objects that are alive, by key; see `interned.pyi`."""

cimport cython
from cpython.object cimport PyObject

from maskwright.garbage cimport hide_whole
from maskwright.native cimport BUILT_FROM
from maskwright.native import require_built

require_built(__name__, BUILT_FROM)

cdef extern from "Python.h":
    Py_ssize_t Py_REFCNT(PyObject *)


# The key is needed until the end, and the table leads to the keys of all others.
@cython.no_gc
cdef class Kept:
    def __dealloc__(self):
        self.is_leaving = True
        if self.among is not None and self.among.known.get(self.key) == <size_t><void *>self:
            del self.among.known[self.key]


cdef class Interned:
    def __init__(self):
        self.known = {}

    def __len__(self):
        return len(self.known)

    cpdef get(self, key):
        found = self.known.get(key)
        if found is None:
            return None
        # The end of an object may be put off, where a long chain of objects ends.
        value = <PyObject *><void *><size_t>found
        return <object>value if Py_REFCNT(value) > 0 and not (<Kept>value).is_leaving else None

    cpdef keep(self, key, Kept value):
        # Without what a collector looks at: neither keys nor addresses.
        self.known[hide_whole(key)] = <size_t><void *>value
        value.among, value.key = self, key
        return hide_whole(value)
