"""The byte machine: leaf states over a stack of contexts, both ints.

Within a leaf, a byte moves the leaf state alone. Where a leaf can be left, the *context* on top of
the stack says what comes next, by the leaf's label: stay on this level in another context, push a
level, or pop and hand a result to the level below (see `automaton.machine.exits`). Contexts are
made by a `Contexts` (JSON, plain text); the machine asks for each (context, label) once and keeps
the answer, so after a while it runs on tables alone.

Nodes (context, parent) are interned: equal stacks are equal ints.
"""

from __future__ import annotations

from typing import Final

from maskwright.automaton.leaf.table import LeafTable
from maskwright.automaton.machine.contexts import Contexts
from maskwright.automaton.machine.step import NO_NODE, REQUEST_ROW, MachineArrays
from maskwright.errors import LimitError
from maskwright.limits import DEFAULT_LIMITS, Limits, Work, spend


class Added:
    """What has been added to a machine on behalf of one grammar, or of one text of it."""

    __slots__ = ("contexts", "exits", "leaf_states")

    def __init__(self) -> None:
        self.leaf_states = 0
        self.contexts = 0
        self.exits = 0


class Machine:
    """The machine of grammars that share their contexts, mostly of one. Not thread-safe: its owner
    serialises (see `mask.recognizer`)."""

    def __init__(
        self, leaves: LeafTable, contexts: Contexts, limits: Limits = DEFAULT_LIMITS
    ) -> None:
        self.leaves = leaves
        self.contexts = contexts
        self._limits = limits
        self.work: Final = Work(limits)
        self._added = self._added_for_text = Added()
        self._roots: dict[int, int] = {}
        self.arrays: Final = MachineArrays(leaves.rows)

    def begin(self, added: Added, for_text: Added) -> None:
        """Begin a new question, unless it is part of the present one.

        What it adds to the machine is counted in `added` for the grammar, and in `for_text` for the
        text that is being read. Limits hold for one text: several that are read at a time, and
        earlier ones, may have added more together.
        """
        self.work.begin()
        self._added, self._added_for_text = added, for_text

    def abandon(self) -> None:
        """Forget what the last walk asked for, and has not been given."""
        self.arrays.forget()

    def known_root(self, context: int) -> int | None:
        """The node of a context with nothing below, if there is one; found without a question."""
        return self._roots.get(context)

    def root(self, context: int) -> int:
        """The node of a context with nothing below."""
        node = self._roots.get(context)
        if node is None:
            self.know_context(context)
            node = self._roots[context] = self.arrays.add_root(context)
        return node

    def stack(self, node: int) -> list[int]:
        """The contexts of a node and of those below it, the innermost first."""
        contexts: list[int] = []
        while node != NO_NODE:
            contexts.append(int(self.arrays.node_context[node]))
            node = int(self.arrays.node_parent[node])
        return contexts

    def serve_requests(self) -> None:
        """Serve the pending requests of the last walk: build rows, ask for exits, grow."""
        pending = self.arrays.pending
        if self.arrays.nodes_full:
            self.arrays.grow_nodes()
        self.arrays.forget()
        before = self.leaves.weight
        for first, second in pending:
            spend()
            if second == REQUEST_ROW:
                self.leaves.build(first)
            else:
                self._add_exit(first, second)
        built = self.leaves.weight - before
        self._added.leaf_states += built
        self._added_for_text.leaf_states += built
        if self._added_for_text.leaf_states > self._limits.leaf_states:
            raise LimitError(
                f"the grammar needs more than {self._limits.leaf_states:,} leaf states",
                limit="leaf_states",
            )

    def _add_exit(self, context: int, label_id: int) -> None:
        """Find the exit with a label, and those that come next."""
        arrays, leaves = self.arrays, self.leaves
        found = self.contexts.exit(context, leaves.labels[label_id])
        before = arrays.exits
        try:
            arrays.enter_exits(context, label_id, found, leaves.label_id, self.know_context)
        finally:
            self._added.exits += arrays.exits - before

    @property
    def exits(self) -> int:
        """How many are known."""
        return self.arrays.exits

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return self.arrays.nbytes

    def know_context(self, context: int) -> None:
        """Make room for a context and its gate."""
        if self.arrays.knows(context):
            return
        if self._added_for_text.contexts > self._limits.contexts:
            raise LimitError(
                f"the grammar needs more than {self._limits.contexts:,} contexts", limit="contexts"
            )
        gate = self.contexts.gate(context)  # which may take work, and so be abandoned
        self._added.contexts += 1
        self._added_for_text.contexts += 1
        self.arrays.note_context(context)
        if gate is not None:
            self.arrays.set_gate(context, *gate)

    def gate_open(self, leaf: int, context: int) -> bool:
        """Whether `context` still allows a name that can be reached from `leaf`; see
        `MachineArrays.gate_open`, its compiled twin."""
        low, high = int(self.leaves.rows.gate_low[leaf]), int(self.leaves.rows.gate_high[leaf])
        gate = self.contexts.gate(context) if high else None
        if gate is None:
            return True
        bits, _ = gate
        return bool((bits >> low) & ((1 << (high - low)) - 1))
