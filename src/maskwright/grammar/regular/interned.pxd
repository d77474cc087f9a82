cdef class Kept:
    cdef Interned among
    cdef object key
    cdef bint is_leaving


cdef class Interned:
    cdef dict known
    cpdef get(self, key)
    cpdef keep(self, key, Kept value)
