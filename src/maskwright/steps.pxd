cdef class Steps:
    cdef public double budget, until_look, reserve
    cdef public bint is_bounded, is_timed
    # How often it has been entered, and what was being worked on before.
    cdef int depth
    cdef Steps outer
    cdef int take(self, double steps) except -1


cpdef spend(double steps=*)
