cdef class Interned:
    cdef dict known
    cpdef get(self, key)
    cpdef keep(self, key, value)
