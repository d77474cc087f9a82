"""The byte machine: leaf states over a stack of contexts, both ints.

Within a leaf, a byte moves the leaf state alone. Where a leaf can be left, the *context* on top of
the stack says what comes next, by the leaf's label: stay on this level in another context, push a
level, or pop and hand a result to the level below (see `automaton.machine.exits`). Contexts are
made by a `Contexts` (JSON, plain text); the machine asks for each (context, label) once and keeps
the answer, so after a while it runs on tables alone.

Nodes (context, parent) are interned: equal stacks are equal ints.
"""

from __future__ import annotations

import json
from operator import attrgetter
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from maskwright.automaton.leaf.table import LeafTable
from maskwright.automaton.machine.arrays import (
    NO_NODE,
    NODES,
    NODES_FULL,
    REGISTERS,
    REQUEST_ROW,
    REQUESTS,
    MachineArrays,
)
from maskwright.automaton.machine.exits import BLOCKED, NO_FRAME, POP, Contexts, Exit
from maskwright.automaton.machine.hash_tables import hash_nodes, move_exits
from maskwright.automaton.value.last_value import string_start
from maskwright.automaton.value.level import LevelPhase
from maskwright.automaton.value.names_read import NamesMemory, NamesRead
from maskwright.errors import LimitError
from maskwright.limits import DEFAULT_LIMITS, Limits, Work, spend

_Int32 = npt.NDArray[np.int32]


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
        self._names: Final = NamesMemory()
        self._known: set[int] = set()
        self._gated: set[int] = set()
        self._added = self._added_for_text = Added()
        self._roots: dict[int, int] = {}
        self._by_text: dict[int, bool] = {}
        self._gate_words = 0
        self.arrays = MachineArrays(
            node_context=np.zeros(256, np.int32),
            node_parent=np.full(256, NO_NODE, np.int32),
            node_slots=np.full(512, NO_NODE, np.int32),
            **_empty_exits(256),
            gate_start=np.full(128, -1, np.int32),
            gate_bits=np.zeros(64, np.uint64),
            registers=np.zeros(REGISTERS, np.int64),
            pending=np.zeros((256, 2), np.int64),
        )
        self.nbytes = _bytes_of(self.arrays)
        """Bytes of the arrays."""
        self._exit_views = _views(self.arrays)

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
        self.arrays.registers[REQUESTS] = 0
        self.arrays.registers[NODES_FULL] = 0

    def known_root(self, context: int) -> int | None:
        """The node of a context with nothing below, if there is one; found without a question."""
        return self._roots.get(context)

    def root(self, context: int) -> int:
        """The node of a context with nothing below."""
        node = self._roots.get(context)
        if node is None:
            self.know_context(context)
            node = int(self.arrays.registers[NODES])
            if node == len(self.arrays.node_context):
                self._grow_nodes()
            self._roots[context] = node
            self.arrays.node_context[node] = context
            self.arrays.node_parent[node] = NO_NODE
            self.arrays.registers[NODES] = node + 1
            hash_nodes(*self._nodes, node, node + 1)
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
        registers = self.arrays.registers
        waiting = int(registers[REQUESTS])
        registers[REQUESTS] = 0
        if registers[NODES_FULL]:
            registers[NODES_FULL] = 0
            self._grow_nodes()
        if waiting == 1:
            pending = [self.arrays.pending[0].tolist()]
        else:
            pending = self.arrays.pending[:waiting].tolist()
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
        found = self.contexts.exit(context, self.leaves.labels[label_id])
        self._enter_exit((context << 32) | label_id, found)
        for context, label, each in found.then:
            key = (context << 32) | self.leaves.label_id(label)
            if key not in self._known:
                self._enter_exit(key, each)

    def _enter_exit(self, key: int, found: Exit) -> None:
        kind, following, leaf, result, frame, _ = found
        if kind == POP:
            leaf = self.leaves.label_id(result)
        elif kind != BLOCKED:
            if following not in self._gated:
                self.know_context(following)
            if frame != NO_FRAME and frame not in self._gated:
                self.know_context(frame)
        self._known.add(key)
        self._added.exits += 1
        if 2 * len(self._known) > len(self.arrays.exit_keys):
            self._grow_exits()
        keys, kinds, contexts, leaves, frames = self._exit_views
        mask = len(keys) - 1
        slot = ((key >> 32) * 0x9E37 + (key & 0xFFFFFFFF) * 0x85EB) & mask  # as in `step.leave`
        while keys[slot] not in (-1, key):
            slot = (slot + 1) & mask
        keys[slot] = key
        kinds[slot] = kind
        contexts[slot] = following
        leaves[slot] = leaf
        frames[slot] = frame

    @property
    def exits(self) -> int:
        """How many are known."""
        return len(self._known)

    def know_context(self, context: int) -> None:
        """Make room for a context and its gate."""
        if context in self._gated:
            return
        if self._added_for_text.contexts > self._limits.contexts:
            raise LimitError(
                f"the grammar needs more than {self._limits.contexts:,} contexts", limit="contexts"
            )
        gate = self.contexts.gate(context)  # which may take work, and so be abandoned
        self._added.contexts += 1
        self._added_for_text.contexts += 1
        self._gated.add(context)
        while context >= len(self.arrays.gate_start):
            self._replace(gate_start=_doubled(self.arrays.gate_start, -1))
        if gate is None:
            return
        bits, width = gate
        words = (width + 63) // 64 or 1
        while self._gate_words + words > len(self.arrays.gate_bits):
            self._replace(gate_bits=_doubled(self.arrays.gate_bits, 0))
        start = self._gate_words
        for at in range(words):
            self.arrays.gate_bits[start + at] = (bits >> (64 * at)) & 0xFFFF_FFFF_FFFF_FFFF
        self.arrays.gate_start[context] = start
        self._gate_words += words

    def gate_open(self, leaf: int, context: int) -> bool:
        """Whether `context` still allows a name that can be reached from `leaf`; see
        `automaton.machine.step.gate_open`, its compiled twin."""
        low, high = int(self.leaves.arrays.gate_low[leaf]), int(self.leaves.arrays.gate_high[leaf])
        gate = self.contexts.gate(context) if high else None
        if gate is None:
            return True
        bits, _ = gate
        return bool((bits >> low) & ((1 << (high - low)) - 1))

    def names_are_in_text(self, context: int) -> bool:
        """Whether a name is read in `context` that must differ from some that only the text has."""
        known = self._by_text.get(context)
        if known is None:
            level = self.contexts.level(context)
            known = self._by_text[context] = (
                level is not None
                and level.phase is LevelPhase.NAME
                and level.has_unremembered_names
            )
        return known

    def goes_on_without_name(self, found: Exit) -> bool:
        """Whether the text goes on in the same way whichever name an exit has ended."""
        level = self.contexts.level(found.context if found.frame == NO_FRAME else found.frame)
        return level is not None and level.has_unremembered_names

    def names_before(self, text: bytes, name: int) -> NamesRead:
        """The names of the members before the one whose name begins at the index `name`."""
        return self._names.before(text, name)

    def repeats_name(self, context: int, text: bytes) -> bool:
        """Whether the name read in `context` with which `text` ends repeats one that only the text
        has."""
        if not self.names_are_in_text(context):
            return False
        start = string_start(text, len(text) - 1)
        name = str(json.loads(text[start:].decode()))
        return self._names.before(text, start).has(name)

    def _grow_exits(self) -> None:
        old = self.arrays
        self._replace(**_empty_exits(2 * len(old.exit_keys)))
        move_exits(_exits_of(old), _exits_of(self.arrays))
        self._exit_views = _views(self.arrays)

    def _grow_nodes(self) -> None:
        self._replace(
            node_context=_doubled(self.arrays.node_context, 0),
            node_parent=_doubled(self.arrays.node_parent, NO_NODE),
        )
        self._replace(node_slots=np.full(2 * len(self.arrays.node_slots), NO_NODE, np.int32))
        hash_nodes(*self._nodes, 0, int(self.arrays.registers[NODES]))

    @property
    def _nodes(self) -> tuple[_Int32, _Int32, _Int32]:
        return self.arrays.node_context, self.arrays.node_parent, self.arrays.node_slots

    def _replace(self, **arrays: npt.NDArray[np.generic]) -> None:
        self.arrays = self.arrays._replace(**arrays)  # pyright: ignore[reportArgumentType] - each keyword carries its field's dtype
        self.nbytes = _bytes_of(self.arrays)


def _bytes_of(arrays: MachineArrays) -> int:
    return sum(map(attrgetter("nbytes"), arrays))


def _empty_exits(size: int) -> dict[str, npt.NDArray[Any]]:
    fields = ("exit_kind", "exit_context", "exit_leaf", "exit_frame")
    return {"exit_keys": np.full(size, -1, np.int64)} | {
        field: np.zeros(size, np.int32) for field in fields
    }


def _views(arrays: MachineArrays) -> tuple[memoryview[int], ...]:
    """The arrays of exits, for writing single elements: that is quicker through views than through
    arrays, whose elements are objects."""
    return tuple(array.data for array in _exits_of(arrays))


def _exits_of(arrays: MachineArrays) -> tuple[npt.NDArray[Any], ...]:
    return (
        arrays.exit_keys,
        arrays.exit_kind,
        arrays.exit_context,
        arrays.exit_leaf,
        arrays.exit_frame,
    )


def _doubled(array: npt.NDArray[np.generic], fill: int) -> npt.NDArray[np.generic]:
    return np.concatenate([array, np.full_like(array, fill)])
