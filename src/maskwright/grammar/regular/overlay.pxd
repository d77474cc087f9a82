from libc.stdint cimport int32_t

from maskwright.grammar.regular.terms cimport Regular


cdef class Split:
    cdef readonly tuple ascii, beyond
    cdef list all_targets(self)
    # With other targets, by target; `EMPTY` is none.
    cdef Split replaced(self, dict targets)
    cpdef list arcs(self)
    cpdef Regular after(self, int32_t point)
    cpdef list within(self, int32_t low, int32_t high)


cpdef Split parted(arcs)
cpdef Split overlaid(columns, join)
