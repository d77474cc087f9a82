from libc.stdint cimport int32_t

from maskwright.automaton.leaf.table cimport LeafTable
from maskwright.automaton.machine.step cimport MachineArrays


cdef class Machine:
    cdef readonly LeafTable leaves
    cdef readonly object contexts, work
    cdef readonly MachineArrays arrays
    cdef object _limits, _added, _added_for_text, _gates
    cdef dict _roots
    cdef object __weakref__
    cpdef int serve_requests(self) except -1
    cdef int count_leaf_states(self, Py_ssize_t built) except -1
    cdef int find_exit(self, int32_t context, int32_t label) except -1
    cdef int enter(self, int32_t context, int32_t label, found) except -1
    cpdef int know_context(self, int32_t context) except -1
