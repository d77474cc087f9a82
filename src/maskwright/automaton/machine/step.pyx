"""The compiled half of the machine: moving configurations over bytes.

Where a function needs something that has not been computed yet (the row of a leaf state, an exit),
it notes a request and goes on as if that were dead. The caller then serves the requests
(`Machine.serve_requests`) and asks again.

All keep Python's lock. They take microseconds, while taking the lock back can take milliseconds
when other threads are busy.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free

import numpy as np

from maskwright.automaton.leaf.rows cimport (
    DEAD,
    UNBUILT,
    LeafRows,
    Leaves,
    is_end,
    next_leaf,
)
from maskwright.native cimport BUILT_FROM, int32s, uint8s, uint64s
from maskwright.native import require_built

require_built(__name__, BUILT_FROM)


cdef void ask(Machine *machine, int64_t first, int64_t second) noexcept nogil:
    """Note a request, once."""
    cdef int32_t at
    for at in range(machine.requests):
        if machine.pending[at].first == first and machine.pending[at].second == second:
            return
    if machine.requests < MOST_REQUESTS:
        machine.pending[machine.requests] = Request(first, second)
        machine.requests += 1


cdef inline int64_t node_slot(const Machine *machine, int64_t context, int64_t parent) noexcept nogil:
    return (context * 0x9E37 + (parent + 1) * 0x85EB) & machine.node_mask


cdef inline int64_t exit_slot(const Machine *machine, int64_t context, int64_t label) noexcept nogil:
    return (context * 0x9E37 + label * 0x85EB) & machine.exit_mask


cdef void enter_node(Machine *machine, int32_t node) noexcept nogil:
    """Enter a node that is not in the hash table."""
    cdef int64_t slot = node_slot(machine, machine.node_context[node], machine.node_parent[node])
    while machine.node_slots[slot] != NO_NODE:
        slot = (slot + 1) & machine.node_mask
    machine.node_slots[slot] = node


cdef int32_t node_of(Machine *machine, int32_t context, int32_t parent) noexcept nogil:
    """The interned node (context, parent); NO_NODE if the table is full."""
    cdef int64_t slot = node_slot(machine, context, parent)
    cdef int32_t node
    while True:
        node = machine.node_slots[slot]
        if node == NO_NODE:
            break
        if machine.node_context[node] == context and machine.node_parent[node] == parent:
            return node
        slot = (slot + 1) & machine.node_mask
    node = machine.nodes
    if node >= machine.node_room:
        machine.nodes_full = True
        return NO_NODE
    machine.node_context[node] = context
    machine.node_parent[node] = parent
    machine.node_slots[slot] = node
    machine.nodes = node + 1
    return node


cdef int32_t pass_dynamic_exit(const int32_t *parent, int32_t passed, int32_t node) noexcept nogil:
    """See `MachineArrays.pass_dynamic_exit`."""
    cdef int32_t below
    if passed >= TOO_MANY:
        return TOO_MANY
    if passed > 0:
        below = passed - 2
        while below >= 0 and below != node:
            below = parent[below]
        if below != node:
            return TOO_MANY
    return parent[node] + 2


cdef Place leave(Machine *machine, int32_t leaf, int32_t node) noexcept nogil:
    """The configuration after leaving a leaf; (DEAD, node) if the leaf can't be left."""
    cdef int32_t label = machine.leaves.label[leaf], context, kind, parent, following
    cdef int64_t key, slot
    cdef const ExitEntry *entry
    if label == 0:
        return Place(DEAD, node)
    while True:
        context = machine.node_context[node]
        key = (<int64_t>context << 32) | label
        slot = exit_slot(machine, context, label)
        while machine.exits[slot].key != key:
            if machine.exits[slot].key == -1:
                ask(machine, context, label)
                return Place(DEAD, node)
            slot = (slot + 1) & machine.exit_mask
        entry = &machine.exits[slot]
        kind = entry.kind
        if kind == BLOCKED:
            return Place(DEAD, node)
        if kind >= DYNAMIC:
            machine.passed = pass_dynamic_exit(machine.node_parent, machine.passed, node)
            if machine.stops:
                machine.stop_context = context
                machine.stop_label = label
                machine.stop_node = node
                machine.stopped = True
                return Place(DEAD, node)
            kind -= DYNAMIC
        if kind == POP:
            node = machine.node_parent[node]
            label = entry.leaf
            continue
        parent = machine.node_parent[node]
        if kind == PUSH:
            parent = node if entry.frame == NO_FRAME else node_of(machine, entry.frame, parent)
            if parent == NO_NODE:
                return Place(DEAD, node)
        following = node_of(machine, entry.context, parent)
        if following == NO_NODE:
            return Place(DEAD, node)
        return Place(entry.leaf, following)


cdef Place move(Machine *machine, int32_t leaf, int32_t node, uint8_t byte) noexcept nogil:
    """The configuration after one byte, or (DEAD, _). Leaves as many leaves as necessary."""
    cdef Place here = Place(leaf, node)
    cdef int32_t following
    while True:
        if machine.leaves.base[here.leaf] == UNBUILT:
            ask(machine, here.leaf, REQUEST_ROW)
            return Place(DEAD, here.node)
        following = next_leaf(machine.leaves, here.leaf, byte)
        if following != DEAD and gate_open(machine, following, here.node):
            if machine.leaves.eager[following]:
                return leave(machine, following, here.node)
            return Place(following, here.node)
        here = leave(machine, here.leaf, here.node)
        if here.leaf == DEAD:
            return here


cdef Place settle(Machine *machine, int32_t leaf, int32_t node) noexcept nogil:
    """Leave leaves that have been read to their end; (DEAD, _) if that is not possible.

    Whether one has been read to its end shows in its row, so that a row that is missing is asked
    for: the same text must not stand elsewhere only because nobody had come by before.
    """
    cdef Place here = Place(leaf, node)
    while here.leaf != DEAD:
        if machine.leaves.base[here.leaf] == UNBUILT and machine.leaves.label[here.leaf] != 0:
            ask(machine, here.leaf, REQUEST_ROW)
            return Place(DEAD, here.node)
        if not is_end(machine.leaves, here.leaf):
            break
        here = leave(machine, here.leaf, here.node)
    return here


cdef Place advance(
    Machine *machine, int32_t leaf, int32_t node, const uint8_t *data, Py_ssize_t size
) noexcept nogil:
    """The configuration after all bytes of `data`, or (DEAD, _).

    Stops at a dynamic exit: then `stopped` is set, and `bytes_read` bytes have been read.
    """
    cdef Place here = Place(leaf, node)
    cdef Py_ssize_t at = 0
    machine.stops = True
    machine.stopped = False
    while at < size and here.leaf != DEAD:
        here = move(machine, here.leaf, here.node, data[at])
        at += here.leaf != DEAD
    if here.leaf != DEAD:
        here = settle(machine, here.leaf, here.node)
    machine.bytes_read = at
    machine.stops = False
    return here


cdef bint is_accepting(Machine *machine, int32_t leaf, int32_t node) noexcept nogil:
    """Whether the text may end here."""
    cdef Place here = Place(leaf, node)
    while here.leaf != DEAD:
        if machine.node_context[here.node] == DONE:
            return True
        here = leave(machine, here.leaf, here.node)
    return False


cdef int64_t take_bytes(
    Machine *machine, int32_t leaf, int32_t node, const uint8_t *data, Py_ssize_t size
) noexcept nogil:
    """See `MachineArrays.take_bytes`."""
    cdef Place here = advance(machine, leaf, node, data, size)
    if lacks_something(machine):
        return PENDING
    if machine.stopped:
        return DEPENDS_ON_TEXT
    return REFUSED if here.leaf == DEAD else (<int64_t>here.leaf << 32) | here.node


cdef class MachineArrays:
    def __cinit__(self, LeafRows leaves):
        self.leaves = leaves
        self.c.leaves = &leaves.c
        self.node_context = np.zeros(256, np.int32)
        self.node_parent = np.full(256, NO_NODE, np.int32)
        self.node_slots = np.full(512, NO_NODE, np.int32)
        self.gate_start = np.full(128, -1, np.int32)
        self.gate_bits = np.zeros(64, np.uint64)
        self.is_noted = np.zeros(128, np.uint8)
        self.c.exits = _empty_exits(256)
        self.c.exit_mask = 255
        self.bind()

    def __dealloc__(self):
        free(self.c.exits)

    cdef int bind(self) except -1:
        """Take over where the arrays are: they are replaced when they grow."""
        self.c.node_context = int32s(self.node_context)
        self.c.node_parent = int32s(self.node_parent)
        self.c.node_slots = int32s(self.node_slots)
        self.c.node_mask = len(self.node_slots) - 1
        self.c.node_room = <int32_t>len(self.node_context)
        self.c.gate_start = int32s(self.gate_start)
        self.c.gate_bits = uint64s(self.gate_bits)
        self.noted, self.contexts_noted = uint8s(self.is_noted), <int32_t>len(self.is_noted)
        arrays = (
            self.node_context, self.node_parent, self.node_slots, self.gate_start, self.gate_bits
        )
        self.bytes_of_arrays = sum([array.nbytes for array in arrays])
        return 0

    cdef int check(self, int32_t leaf, int32_t node) except -1:
        """Raise unless this is a configuration; DEAD is one."""
        if leaf != DEAD:
            self.check_node(node)
            if not 0 <= leaf < self.c.leaves.states:
                raise IndexError(f"there is no leaf state {leaf}")
        return 0

    cdef int check_node(self, int32_t node) except -1:
        if not 0 <= node < self.c.nodes:
            raise IndexError(f"there is no node {node}")
        return 0

    # What the last question found out

    @property
    def nodes(self):
        return self.c.nodes

    @property
    def lacking(self):
        return lacks_something(&self.c)

    @property
    def pending(self):
        return [
            (self.c.pending[at].first, self.c.pending[at].second) for at in range(self.c.requests)
        ]

    @property
    def first_request(self):
        if self.c.requests == 0:
            return 0, 0
        return self.c.pending[0].first, self.c.pending[0].second

    @property
    def nodes_full(self):
        return self.c.nodes_full

    @property
    def passed(self):
        return self.c.passed

    @passed.setter
    def passed(self, int32_t value):
        self.c.passed = value

    @property
    def stopped(self):
        return self.c.stopped

    @property
    def stop_context(self):
        return self.c.stop_context

    @property
    def stop_label(self):
        return self.c.stop_label

    @property
    def stop_node(self):
        return self.c.stop_node

    @property
    def bytes_read(self):
        return self.c.bytes_read

    def ask(self, int64_t first, int64_t second):
        ask(&self.c, first, second)

    cpdef forget(self):
        self.c.requests = 0
        self.c.nodes_full = False

    # What Python adds

    @property
    def exits(self):
        return self.exit_count

    @property
    def nbytes(self):
        return (self.c.exit_mask + 1) * sizeof(ExitEntry) + sizeof(Machine) + self.bytes_of_arrays

    def add_root(self, int32_t context):
        cdef int32_t node = self.c.nodes
        if node == self.c.node_room:
            self.grow_nodes()
        self.c.node_context[node] = context
        self.c.node_parent[node] = NO_NODE
        self.c.nodes += 1
        enter_node(&self.c, node)
        return node

    cpdef grow_nodes(self):
        cdef int32_t node
        self.node_context = _doubled(self.node_context, 0)
        self.node_parent = _doubled(self.node_parent, NO_NODE)
        self.node_slots = np.full(2 * len(self.node_slots), NO_NODE, np.int32)
        self.bind()
        for node in range(self.c.nodes):
            enter_node(&self.c, node)

    cpdef bint has_exit(self, int32_t context, int32_t label) except -1:
        cdef int64_t key = (<int64_t>context << 32) | label
        return self.c.exits[_slot_of(&self.c, key)].key == key

    cpdef int enter_exit(
        self, int32_t context, int32_t label, int32_t kind, int32_t following, int32_t leaf, int32_t frame
    ) except -1:
        cdef int64_t key = (<int64_t>context << 32) | label, slot = _slot_of(&self.c, key)
        if self.c.exits[slot].key != key:
            self.exit_count += 1
            if 2 * self.exit_count > self.c.exit_mask + 1:
                self.grow_exits()
                slot = _slot_of(&self.c, key)
        self.c.exits[slot] = ExitEntry(key, kind, following, leaf, frame)
        return 0

    cdef int grow_exits(self) except -1:
        cdef ExitEntry *old = self.c.exits
        cdef int64_t size = self.c.exit_mask + 1, at
        self.c.exits = _empty_exits(2 * size)
        self.c.exit_mask = 2 * size - 1
        for at in range(size):
            if old[at].key != -1:
                self.c.exits[_slot_of(&self.c, old[at].key)] = old[at]
        free(old)
        return 0

    cpdef bint knows(self, int32_t context) except -1:
        return context < self.contexts_noted and self.noted[context] != 0

    cpdef note_context(self, int32_t context):
        while context >= len(self.gate_start):
            self.gate_start = _doubled(self.gate_start, -1)
            self.is_noted = _doubled(self.is_noted, 0)
            self.bind()
        self.noted[context] = 1

    cpdef set_gate(self, int32_t context, bits, Py_ssize_t width):
        cdef Py_ssize_t words = (width + 63) // 64 or 1, at
        self.note_context(context)
        while self.gate_words + words > len(self.gate_bits):
            self.gate_bits = _doubled(self.gate_bits, 0)
            self.bind()
        for at in range(words):
            self.c.gate_bits[self.gate_words + at] = (bits >> (64 * at)) & 0xFFFF_FFFF_FFFF_FFFF
        self.c.gate_start[context] = <int32_t>self.gate_words
        self.gate_words += words

    # Questions

    def node(self, int32_t context, int32_t parent):
        if parent != NO_NODE:
            self.check_node(parent)
        return node_of(&self.c, context, parent)

    def gate_open(self, int32_t leaf, int32_t node):
        self.check(leaf, node)
        return gate_open(&self.c, leaf, node)

    def pass_dynamic_exit(self, int32_t passed, int32_t node):
        self.check_node(node)
        if 0 < passed < TOO_MANY and passed != 1:
            self.check_node(passed - 2)
        return pass_dynamic_exit(self.c.node_parent, passed, node)

    def leave(self, int32_t leaf, int32_t node):
        self.check(leaf, node)
        cdef Place here = Place(leaf, node) if leaf == DEAD else leave(&self.c, leaf, node)
        return here.leaf, here.node

    def move(self, int32_t leaf, int32_t node, uint8_t byte):
        self.check(leaf, node)
        cdef Place here = Place(leaf, node) if leaf == DEAD else move(&self.c, leaf, node, byte)
        return here.leaf, here.node

    def settle(self, int32_t leaf, int32_t node):
        self.check(leaf, node)
        cdef Place here = settle(&self.c, leaf, node)
        return here.leaf, here.node

    def advance(self, int32_t leaf, int32_t node, bytes data not None):
        self.check(leaf, node)
        cdef Place here = advance(&self.c, leaf, node, data, len(data))
        return here.leaf, here.node

    def take_bytes(self, int32_t leaf, int32_t node, bytes data not None):
        self.check(leaf, node)
        return take_bytes(&self.c, leaf, node, data, len(data))

    def take_run(self, int32_t leaf, int32_t node, bytes data not None):
        cdef const uint8_t *bytes_ = data
        cdef Place here = Place(leaf, node), following
        cdef Py_ssize_t at
        self.check(leaf, node)
        for at in range(len(data)):
            following = advance(&self.c, here.leaf, here.node, bytes_ + at, 1)
            if following.leaf == DEAD or self.c.stopped or lacks_something(&self.c):
                return at, here.leaf, here.node
            here = following
        return len(data), here.leaf, here.node

    def is_accepting(self, int32_t leaf, int32_t node):
        self.check(leaf, node)
        return is_accepting(&self.c, leaf, node)

    def next_bytes(self, int32_t leaf, int32_t node):
        cdef uint8_t allowed[256]
        cdef Place target
        cdef int byte, count = 0
        self.check(leaf, node)
        for byte in range(256 if leaf != DEAD else 0):
            target = move(&self.c, leaf, node, <uint8_t>byte)
            if target.leaf != DEAD and is_end(self.c.leaves, target.leaf):
                target = settle(&self.c, target.leaf, target.node)
            if target.leaf != DEAD:
                allowed[count] = <uint8_t>byte
                count += 1
        return <bytes>allowed[:count]


cdef int64_t _slot_of(const Machine *machine, int64_t key) noexcept nogil:
    """Where an exit is, or the empty slot where it belongs."""
    cdef int64_t slot = exit_slot(machine, key >> 32, <int32_t>key)
    while machine.exits[slot].key != -1 and machine.exits[slot].key != key:
        slot = (slot + 1) & machine.exit_mask
    return slot


cdef ExitEntry *_empty_exits(Py_ssize_t size) except NULL:
    cdef ExitEntry *found = <ExitEntry *>calloc(size, sizeof(ExitEntry))
    cdef Py_ssize_t at
    if found is NULL:
        raise MemoryError
    for at in range(size):
        found[at].key = -1
    return found


cdef _doubled(array, fill):
    return np.concatenate([array, np.full_like(array, fill)])
