"""The byte machine; see `machine.pyi`."""

from cpython.tuple cimport PyTuple_GET_SIZE
from libc.stdint cimport int32_t

from maskwright.automaton.leaf.table cimport LeafTable
from maskwright.automaton.machine.step cimport (
    BLOCKED,
    MOST_REQUESTS,
    NO_FRAME,
    NO_NODE,
    POP,
    REQUEST_ROW,
    MachineArrays,
    Request,
)
from maskwright.errors import LimitError
from maskwright.limits import DEFAULT_LIMITS, Work
from maskwright.native cimport BUILT_FROM
from maskwright.native import require_built
from maskwright.steps cimport spend

require_built(__name__, BUILT_FROM)


class Added:
    __slots__ = ("contexts", "exits", "leaf_states")

    def __init__(self):
        self.leaf_states = 0
        self.contexts = 0
        self.exits = 0


cdef class Machine:
    def __init__(self, LeafTable leaves not None, contexts, limits=DEFAULT_LIMITS):
        self.leaves, self.contexts, self._limits = leaves, contexts, limits
        self._gates = contexts.gates
        self.work = Work(limits)
        self._added = self._added_for_text = Added()
        self._roots = {}
        self.arrays = MachineArrays(leaves.rows)

    def begin(self, added, for_text):
        self.work.begin()
        self._added, self._added_for_text = added, for_text

    def abandon(self):
        self.arrays.forget()

    def known_root(self, context):
        return self._roots.get(context)

    def root(self, context):
        node = self._roots.get(context)
        if node is None:
            self.know_context(context)
            node = self._roots[context] = self.arrays.add_root(context)
        return node

    def stack(self, int32_t node):
        cdef list contexts = []
        while node != NO_NODE:
            self.arrays.check_node(node)
            contexts.append(self.arrays.c.node_context[node])
            node = self.arrays.c.node_parent[node]
        return contexts

    cpdef int serve_requests(self) except -1:
        cdef MachineArrays arrays = self.arrays
        cdef Request pending[MOST_REQUESTS]
        cdef int32_t at, number = arrays.c.requests
        cdef Py_ssize_t built = -self.leaves.weight
        for at in range(number):
            pending[at] = arrays.c.pending[at]
        if arrays.c.nodes_full:
            arrays.grow_nodes()
        arrays.forget()
        for at in range(number):
            spend()
            if pending[at].second == REQUEST_ROW:
                self.leaves.build(pending[at].first)
            else:
                self.find_exit(<int32_t>pending[at].first, <int32_t>pending[at].second)
        built += self.leaves.weight
        if built:
            self.count_leaf_states(built)
        return 0

    cdef int count_leaf_states(self, Py_ssize_t built) except -1:
        self._added.leaf_states += built
        self._added_for_text.leaf_states += built
        if self._added_for_text.leaf_states > self._limits.leaf_states:
            raise LimitError(
                f"the grammar needs more than {self._limits.leaf_states:,} leaf states",
                limit="leaf_states",
            )
        return 0

    cdef int find_exit(self, int32_t context, int32_t label) except -1:
        """Find the exit with a label, and those that come next."""
        cdef MachineArrays arrays = self.arrays
        cdef Py_ssize_t before = arrays.exit_count
        cdef int32_t other
        found = self.contexts.exit(context, self.leaves.labels[label])
        try:
            self.enter(context, label, found)
            for further, name, each in (<tuple>found)[5]:
                other = self.leaves.label_id(name)
                if not arrays.has_exit(further, other):
                    self.enter(further, other, each)
        finally:
            if arrays.exit_count != before:
                self._added.exits += arrays.exit_count - before
        return 0

    cdef int enter(self, int32_t context, int32_t label, found) except -1:
        """Enter an exit, once the contexts are known to which it leads."""
        cdef int32_t kind, following, leaf, frame
        if not isinstance(found, tuple) or PyTuple_GET_SIZE(found) != 6:
            raise TypeError("an exit is a tuple of six")
        kind, following = (<tuple>found)[0], (<tuple>found)[1]
        leaf, frame = (<tuple>found)[2], (<tuple>found)[4]
        if kind == POP:
            leaf = self.leaves.label_id((<tuple>found)[3])
        elif kind != BLOCKED:
            self.know_context(following)
            if frame != NO_FRAME:
                self.know_context(frame)
        return self.arrays.enter_exit(context, label, kind, following, leaf, frame)

    @property
    def exits(self):
        return self.arrays.exits

    @property
    def nbytes(self):
        return self.arrays.nbytes

    cpdef int know_context(self, int32_t context) except -1:
        if self.arrays.knows(context):
            return 0
        if self._added_for_text.contexts > self._limits.contexts:
            raise LimitError(
                f"the grammar needs more than {self._limits.contexts:,} contexts", limit="contexts"
            )
        if context in self._gates:
            gate = self._gates[context]
        else:
            gate = self.contexts.gate(context)  # which may take work, and so be abandoned
        self._added.contexts += 1
        self._added_for_text.contexts += 1
        self.arrays.note_context(context)
        if gate is not None:
            bits, width = gate
            self.arrays.set_gate(context, bits, width)
        return 0

    def gate_open(self, int32_t leaf, int32_t context):
        low, high = int(self.leaves.rows.gate_low[leaf]), int(self.leaves.rows.gate_high[leaf])
        gate = self.contexts.gate(context) if high else None
        if gate is None:
            return True
        bits, _ = gate
        return bool((bits >> low) & ((1 << (high - low)) - 1))
