from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from maskwright.automaton.leaf.rows cimport LeafRows, Leaves

cpdef enum:
    # Kinds of exits.
    BLOCKED = 0
    STAY = 1
    PUSH = 2
    POP = 3
    DYNAMIC = 4
    # Contexts.
    DONE = 0
    NO_FRAME = -1

    NO_NODE = -1
    REQUEST_ROW = -1
    TOO_MANY = 1 << 30

cpdef enum:
    PENDING = -1
    REFUSED = -3
    DEPENDS_ON_TEXT = -4

cdef enum:
    MOST_REQUESTS = 256


# A configuration; see `automaton.machine.exits`.
cdef struct Place:
    int32_t leaf
    int32_t node


# An entry of the hash table of exits. `key`: context << 32 | label, -1 where it is empty.
# `leaf`: the next leaf state; for a POP the label of the result. `frame`: for a PUSH the
# context that takes the present one's place below, or NO_FRAME.
cdef struct ExitEntry:
    int64_t key
    int32_t kind
    int32_t context
    int32_t leaf
    int32_t frame


# What was needed and could not be found: (leaf, REQUEST_ROW) a row, (context, label) an exit.
cdef struct Request:
    int64_t first
    int64_t second


cdef struct Machine:
    const Leaves *leaves
    # By node.
    int32_t *node_context
    int32_t *node_parent
    # A hash table of nodes; its size less one, a power of two.
    int32_t *node_slots
    int64_t node_mask
    int32_t node_room
    int32_t nodes
    bint nodes_full
    ExitEntry *exits
    int64_t exit_mask
    # By context: the first word of its gate, -1 for none.
    int32_t *gate_start
    uint64_t *gate_bits
    int32_t requests
    Request pending[MOST_REQUESTS]
    # What the next question shall do, and what the last one found out.
    bint stops
    bint stopped
    int32_t stop_context
    int32_t stop_label
    int32_t stop_node
    int32_t passed
    Py_ssize_t bytes_read


cdef class MachineArrays:
    cdef Machine c
    cdef readonly LeafRows leaves
    cdef readonly object node_context, node_parent, gate_start, gate_bits
    cdef object node_slots, is_noted
    # By context: 1 where there is room for it and its gate is known.
    cdef uint8_t *noted
    cdef int32_t contexts_noted
    cdef Py_ssize_t exit_count, gate_words, bytes_of_arrays
    cdef int bind(self) except -1
    cdef int check(self, int32_t leaf, int32_t node) except -1
    cdef int check_node(self, int32_t node) except -1
    cdef int grow_exits(self) except -1
    cpdef bint has_exit(self, int32_t context, int32_t label) except -1
    cpdef int enter_exit(
        self, int32_t context, int32_t label, int32_t kind, int32_t following, int32_t leaf, int32_t frame
    ) except -1
    cpdef forget(self)
    cpdef grow_nodes(self)
    cpdef note_context(self, int32_t context)
    cpdef set_gate(self, int32_t context, bits, Py_ssize_t width)
    cpdef bint knows(self, int32_t context) except -1


cdef void ask(Machine *machine, int64_t first, int64_t second) noexcept nogil
cdef int32_t pass_dynamic_exit(const int32_t *parent, int32_t passed, int32_t node) noexcept nogil
cdef Place leave(Machine *machine, int32_t leaf, int32_t node) noexcept nogil
cdef Place advance(
    Machine *machine, int32_t leaf, int32_t node, const uint8_t *data, Py_ssize_t size
) noexcept nogil
cdef bint is_accepting(Machine *machine, int32_t leaf, int32_t node) noexcept nogil
cdef int64_t take_bytes(
    Machine *machine, int32_t leaf, int32_t node, const uint8_t *data, Py_ssize_t size
) noexcept nogil


cdef inline bint lacks_something(const Machine *machine) noexcept nogil:
    """Whether the machine has to serve requests or grow before an answer is right."""
    return machine.requests != 0 or machine.nodes_full


cdef inline bint gate_open(const Machine *machine, int32_t leaf, int32_t node) noexcept nogil:
    """Whether a name that the context still allows can be reached from `leaf`."""
    cdef int32_t name, start, high = machine.leaves.gate_high[leaf]
    if high == 0:
        return True
    start = machine.gate_start[machine.node_context[node]]
    if start < 0:
        return True
    for name in range(machine.leaves.gate_low[leaf], high):
        if (machine.gate_bits[start + (name >> 6)] >> (name & 63)) & 1:
            return True
    return False
