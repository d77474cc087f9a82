"""The compiled half of the machine: moving configurations over bytes.

Each function takes the address of a table of arrays (see `automaton.machine.addresses`). Where it
needs something that has not been computed yet (the row of a leaf state, an exit), it notes a
request in `pending` and goes on as if that were dead. The caller then serves the requests
(`Machine.serve_requests`) and calls the function again.

These functions keep Python's lock. They take microseconds, while taking the lock back can take
milliseconds when other threads are busy.
"""

# Compiled code: array elements are plain numbers here, which numpy's types don't say.
# pyright: reportUntypedFunctionDecorator=false, reportArgumentType=false, reportReturnType=false
from __future__ import annotations

from typing import Final

import numpy as np

from maskwright.automaton.leaf.rows import DEAD, UNBUILT, LeafArrays
from maskwright.automaton.machine.addresses import leaf_arrays, machine_arrays
from maskwright.automaton.machine.arrays import (
    BYTES_READ,
    NO_NODE,
    NODES,
    NODES_FULL,
    PASSED,
    REQUEST_ROW,
    REQUESTS,
    STOP_CONTEXT,
    STOP_LABEL,
    STOP_NODE,
    STOPPED,
    STOPS,
    MachineArrays,
)
from maskwright.automaton.machine.exits import BLOCKED, DONE, DYNAMIC, NO_FRAME, POP, PUSH
from maskwright.compiled import compiled

TOO_MANY: Final = 1 << 30
"""Exits in one token whose outcome depends on the text: after the second, nothing is offered.

Such a token ends two names (or items) that must differ, and whether they do can't be read off the
configuration alone. The text can still be written with other tokens.
"""


@compiled(inline="always")
def next_leaf(leaves: LeafArrays, leaf: int, byte: int) -> int:
    """The next state of a built leaf state, or DEAD."""
    for at in range(leaves.override_start[leaf], leaves.override_stop[leaf]):
        if leaves.override_byte[at] == byte:
            return leaves.override_next[at]
    return leaves.rows[leaves.base[leaf], byte]


@compiled
def ask(machine: MachineArrays, first: int, second: int) -> None:
    """Note a request, once."""
    count = machine.registers[REQUESTS]
    for at in range(count):
        if machine.pending[at, 0] == first and machine.pending[at, 1] == second:
            return
    if count < len(machine.pending):
        machine.pending[count, 0] = first
        machine.pending[count, 1] = second
        machine.registers[REQUESTS] = count + 1


@compiled(inline="always")
def lacks_something(registers: np.ndarray) -> bool:
    """Whether the machine has to serve requests or grow before an answer is right."""
    return registers[REQUESTS] != 0 or registers[NODES_FULL] != 0


@compiled
def node_of(address: int, context: int, parent: int) -> int:
    """The interned node (context, parent); NO_NODE if the table is full."""
    machine = machine_arrays(address)
    mask = len(machine.node_slots) - 1
    slot = (context * 0x9E37 + (parent + 1) * 0x85EB) & mask
    while True:
        node = machine.node_slots[slot]
        if node == NO_NODE:
            break
        if machine.node_context[node] == context and machine.node_parent[node] == parent:
            return node
        slot = (slot + 1) & mask
    count = machine.registers[NODES]
    if count >= len(machine.node_context):
        machine.registers[NODES_FULL] = 1
        return NO_NODE
    machine.node_context[count] = context
    machine.node_parent[count] = parent
    machine.node_slots[slot] = count
    machine.registers[NODES] = count + 1
    return count


@compiled
def pass_dynamic_exit(node_parent: np.ndarray, passed: int, node: int) -> int:
    """The new value of `PASSED` after one more dynamic exit, at `node`: 0 before the first, then 2
    plus the node below the level of the last exit, and `TOO_MANY` after a second exit.

    A second exit does not count if the level of the first has been closed, since the values that
    were remembered on that level have been forgotten.
    """
    if passed >= TOO_MANY:
        return TOO_MANY
    if passed > 0:
        below = passed - 2
        while below >= 0 and below != node:
            below = node_parent[below]
        if below != node:
            return TOO_MANY
    return node_parent[node] + 2


@compiled
def leave(address: int, leaf: int, node: int) -> tuple[int, int]:
    """The configuration after leaving a leaf; (DEAD, node) if the leaf can't be left."""
    leaves, machine = leaf_arrays(address), machine_arrays(address)
    label = leaves.label[leaf]
    if label == 0:
        return DEAD, node
    mask = len(machine.exit_keys) - 1
    while True:
        context = machine.node_context[node]
        key = (np.int64(context) << 32) | np.int64(label)
        slot = (context * 0x9E37 + label * 0x85EB) & mask
        while machine.exit_keys[slot] != key:
            if machine.exit_keys[slot] == -1:
                ask(machine, context, label)
                return DEAD, node
            slot = (slot + 1) & mask
        kind = machine.exit_kind[slot]
        if kind == BLOCKED:
            return DEAD, node
        if kind >= DYNAMIC:
            machine.registers[PASSED] = pass_dynamic_exit(
                machine.node_parent, machine.registers[PASSED], node
            )
            if machine.registers[STOPS] == 1:
                machine.registers[STOP_CONTEXT] = context
                machine.registers[STOP_LABEL] = label
                machine.registers[STOP_NODE] = node
                machine.registers[STOPPED] = 1
                return DEAD, node
            kind -= DYNAMIC
        if kind == POP:
            node = machine.node_parent[node]
            label = machine.exit_leaf[slot]
            continue
        parent = machine.node_parent[node]
        if kind == PUSH:
            frame = machine.exit_frame[slot]
            parent = node if frame == NO_FRAME else node_of(address, frame, parent)
            if parent == NO_NODE:
                return DEAD, node
        next_node = node_of(address, machine.exit_context[slot], parent)
        if next_node == NO_NODE:
            return DEAD, node
        return machine.exit_leaf[slot], next_node


@compiled(inline="always")
def gate_open(leaves: LeafArrays, machine: MachineArrays, leaf: int, node: int) -> bool:
    """Whether a name that the context still allows can be reached from `leaf`."""
    high = leaves.gate_high[leaf]
    if high == 0:
        return True
    start = machine.gate_start[machine.node_context[node]]
    if start < 0:
        return True
    for name in range(leaves.gate_low[leaf], high):
        if (machine.gate_bits[start + (name >> 6)] >> np.uint64(name & 63)) & np.uint64(1):
            return True
    return False


@compiled
def move(address: int, leaf: int, node: int, byte: int) -> tuple[int, int]:
    """The configuration after one byte, or (DEAD, _). Leaves as many leaves as necessary."""
    leaves, machine = leaf_arrays(address), machine_arrays(address)
    while True:
        if leaves.base[leaf] == UNBUILT:
            ask(machine, leaf, REQUEST_ROW)
            return DEAD, node
        following = next_leaf(leaves, leaf, byte)
        if following != DEAD and gate_open(leaves, machine, following, node):
            if leaves.eager[following]:
                return leave(address, following, node)
            return following, node
        leaf, node = leave(address, leaf, node)
        if leaf == DEAD:
            return DEAD, node


@compiled(inline="always")
def is_end(leaves: LeafArrays, leaf: int) -> bool:
    """Whether nothing can be read in this state but it can be left."""
    return (
        leaves.base[leaf] == 0
        and leaves.label[leaf] != 0
        and leaves.override_start[leaf] == leaves.override_stop[leaf]
    )


@compiled
def settle(address: int, leaf: int, node: int) -> tuple[int, int]:
    """Leave leaves that have been read to their end; (DEAD, _) if that is not possible.

    Whether one has been read to its end shows in its row, so that a row that is missing is asked
    for: the same text must not stand elsewhere only because nobody had come by before.
    """
    leaves, machine = leaf_arrays(address), machine_arrays(address)
    while leaf != DEAD:
        if leaves.base[leaf] == UNBUILT and leaves.label[leaf] != 0:
            ask(machine, leaf, REQUEST_ROW)
            return DEAD, node
        if not is_end(leaves, leaf):
            break
        leaf, node = leave(address, leaf, node)
    return leaf, node


@compiled
def advance(address: int, leaf: int, node: int, data: np.ndarray) -> tuple[int, int]:
    """The configuration after all bytes of `data` (uint8), or (DEAD, _).

    Stops at a dynamic exit: then STOPPED is 1, and BYTES_READ bytes have been read.
    """
    registers = machine_arrays(address).registers
    registers[STOPS] = 1
    registers[STOPPED] = 0
    at = 0
    while at < len(data) and leaf != DEAD:
        leaf, node = move(address, leaf, node, data[at])
        at += leaf != DEAD
    if leaf != DEAD:
        leaf, node = settle(address, leaf, node)
    registers[BYTES_READ] = at
    registers[STOPS] = 0
    return leaf, node


@compiled
def is_accepting(address: int, leaf: int, node: int) -> bool:
    """Whether the text may end here."""
    machine = machine_arrays(address)
    while leaf != DEAD:
        if machine.node_context[node] == DONE:
            return True
        leaf, node = leave(address, leaf, node)
    return False


@compiled
def next_bytes(address: int, leaf: int, node: int, allowed: np.ndarray) -> int:
    """Fill `allowed` (bool, 256) with the bytes that may follow; returns how many."""
    leaves = leaf_arrays(address)
    count = 0
    for byte in range(256):
        target, below = move(address, leaf, node, byte)
        if target != DEAD and is_end(leaves, target):
            target, below = settle(address, target, below)
        allowed[byte] = target != DEAD
        count += target != DEAD
    return count
