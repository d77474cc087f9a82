"""Trie × machine: which tokens may follow a configuration.

One pass over the trie's arrays, without recursion: the configuration at each depth of the present
path is kept in `Scratch`; where a byte leads nowhere, its whole subtree is skipped. Configurations
inside a token are not interned; only stack nodes are.
"""

# Compiled code: array elements are plain numbers here, which numpy's types don't say.
# pyright: reportUntypedFunctionDecorator=false, reportArgumentType=false, reportReturnType=false
from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from maskwright.automaton.leaf import DEAD, UNBUILT, LeafArrays
from maskwright.automaton.machine import MachineArrays
from maskwright.automaton.step import ask, leave, next_leaf, settle
from maskwright.vocab.trie import Trie

_CHAIN: Final = 8
"""Leaves that can be left one after the other without reading a byte."""


MOST_DYNAMIC: Final = 1
"""Exits in one token whose outcome depends on the text: after the second, nothing is offered.

Such a token ends two names (or items) that must differ, and whether they do can't be read off the
configuration alone. The text can still be written with other tokens.
"""


class Scratch(NamedTuple):
    """By depth: the configurations reached by leaving leaves without a byte, lazily extended."""

    leaf: npt.NDArray[np.int32]
    node: npt.NDArray[np.int32]
    known: npt.NDArray[np.int32]
    """How many of the chain are known; negative where that is all there are."""
    passed: npt.NDArray[np.int32]
    """Dynamic exits taken on the way to each of the chain."""

    @classmethod
    def of_height(cls, height: int) -> Scratch:
        shape = (height + 2, _CHAIN)
        return cls(
            leaf=np.zeros(shape, np.int32),
            node=np.zeros(shape, np.int32),
            known=np.zeros(height + 2, np.int32),
            passed=np.zeros(shape, np.int32),
        )


@njit(cache=True, nogil=True)
def walk(
    leaves: LeafArrays,
    machine: MachineArrays,
    trie: Trie,
    scratch: Scratch,
    leaf: int,
    node: int,
    out: np.ndarray,
    next_leaves: np.ndarray,
    next_nodes: np.ndarray,
) -> int:
    """Set in `out` (int32 words) the bit of every token that may follow (leaf, node).

    If `next_leaves` and `next_nodes` (int32 [V]) are not empty, the configuration behind each
    allowed token goes there. Returns the trie nodes visited. What the walk could not find out is
    noted in `machine.pending`; then the row is not complete.

    One loop without calls but for leaving leaves, over arrays in local names: with the tables
    handed to a function for each node, a narrow mask took four times as long.
    """
    rows, base, label = leaves.rows, leaves.base, leaves.label
    override_start, override_stop = leaves.override_start, leaves.override_stop
    override_byte, override_next = leaves.override_byte, leaves.override_next
    gate_low, gate_high, eager = leaves.gate_low, leaves.gate_high, leaves.eager
    node_context, gate_start = machine.node_context, machine.gate_start
    gate_bits, counts = machine.gate_bits, machine.counts
    trie_byte, trie_depth, trie_skip = trie.byte, trie.depth, trie.skip
    trie_token, trie_twin = trie.token, trie.twin
    chain_leaf, chain_node = scratch.leaf, scratch.node
    chain_known, chain_passed = scratch.known, scratch.passed
    recording = len(next_leaves) > 0
    chain_leaf[0, 0] = leaf
    chain_node[0, 0] = node
    chain_known[0] = 1
    chain_passed[0, 0] = 0
    at = 0
    visited = 0
    size = len(trie_byte)
    while at < size:
        visited += 1
        depth = trie_depth[at] - 1
        byte = trie_byte[at]
        target = DEAD
        place = 0
        while True:  # the leaf itself, then what can be reached by leaving it
            known = chain_known[depth]
            if place >= abs(known):
                if known < 0 or place >= _CHAIN:
                    break
                counts[8] = chain_passed[depth, place - 1]
                here, below = leave(
                    leaves, machine, chain_leaf[depth, place - 1], chain_node[depth, place - 1]
                )
                if here == DEAD or counts[8] > MOST_DYNAMIC:
                    chain_known[depth] = -known
                    break
                chain_leaf[depth, place] = here
                chain_node[depth, place] = below
                chain_passed[depth, place] = counts[8]
                chain_known[depth] = known + 1
            here = chain_leaf[depth, place]
            if base[here] == UNBUILT:
                ask(machine, here, -1)
                chain_known[depth] = -(place + 1)
                break
            target = rows[base[here], byte]
            for override in range(override_start[here], override_stop[here]):
                if override_byte[override] == byte:
                    target = override_next[override]
            if target != DEAD and gate_high[target] > 0:
                start = gate_start[node_context[chain_node[depth, place]]]
                if start >= 0:
                    open_names = False
                    for name in range(gate_low[target], gate_high[target]):
                        word = gate_bits[start + (name >> 6)]
                        if (word >> np.uint64(name & 63)) & np.uint64(1):
                            open_names = True
                            break
                    if not open_names:
                        target = DEAD
            if target != DEAD:
                break
            place += 1
        if target == DEAD:
            at = trie_skip[at]
            continue
        below = chain_node[depth, place]
        passed = chain_passed[depth, place]
        if eager[target]:
            counts[8] = passed
            target, below = leave(leaves, machine, target, below)
            passed = counts[8]
            if target == DEAD or passed > MOST_DYNAMIC:
                at = trie_skip[at]
                continue
        token = trie_token[at]
        if token >= 0:
            alive, beneath = target, below
            if label[target] != 0 and base[target] <= 0:  # perhaps the end of a leaf
                counts[8] = passed
                alive, beneath = settle(leaves, machine, target, below)
                if counts[8] > MOST_DYNAMIC:
                    alive = DEAD
            if alive != DEAD:
                while token >= 0:
                    out[token >> 5] |= np.int32(1) << np.int32(token & 31)
                    if recording:
                        next_leaves[token] = alive
                        next_nodes[token] = beneath
                    token = trie_twin[token]
        chain_leaf[depth + 1, 0] = target
        chain_node[depth + 1, 0] = below
        chain_known[depth + 1] = 1
        chain_passed[depth + 1, 0] = passed
        at += 1
    return visited


@njit(cache=True, nogil=True)
def classify(
    leaves: LeafArrays, trie: Trie, leaf: int, stays: np.ndarray, characters: np.ndarray
) -> int:
    """What each token does from `leaf`, by that leaf's automaton alone.

    `stays[token]` (uint8): 1 if the token stays inside the leaf, 2 if it passes a state where the
    leaf can be left, else 0. `characters[token]` (int32): how often it passes `leaf` itself, the
    state between two characters. Returns a state whose row is missing, or DEAD when done.
    """
    height = 1
    for depth in trie.depth:
        height = max(height, depth + 1)
    path = np.zeros(height, np.int32)
    passed = np.zeros(height, np.int32)
    path[0] = leaf
    at = 0
    while at < len(trie.byte):
        depth = trie.depth[at]
        before = path[depth - 1]
        if leaves.base[before] == UNBUILT:
            return before
        left = leaves.label[before] != 0
        target = before if left else next_leaf(leaves, before, trie.byte[at])
        if target == DEAD:
            at = trie.skip[at]
            continue
        path[depth] = target
        passed[depth] = passed[depth - 1] + (before == leaf)
        token = trie.token[at]
        while token >= 0:
            stays[token] = 2 if leaves.label[target] != 0 else 1
            characters[token] = passed[depth]
            token = trie.twin[token]
        at += 1
    return DEAD


@njit(cache=True, nogil=True)
def walk_inside(
    leaves: LeafArrays, trie: Trie, leaf: int, out: np.ndarray, missing: np.ndarray
) -> int:
    """Set in `out` (int32 words) the tokens that stay inside one leaf automaton from `leaf` on.

    Returns how many states were found without a row; `missing` (int32) lists the first of them.
    """
    height = 1
    for depth in trie.depth:
        height = max(height, depth + 1)
    path = np.zeros(height, np.int32)
    path[0] = leaf
    count = 0
    at = 0
    while at < len(trie.byte):
        depth = trie.depth[at]
        before = path[depth - 1]
        if leaves.base[before] == UNBUILT:
            if count < len(missing):
                missing[count] = before
            count += 1
            at = trie.skip[at]
            continue
        target = next_leaf(leaves, before, trie.byte[at])
        if target == DEAD or leaves.label[target] != 0:
            at = trie.skip[at]
            continue
        path[depth] = target
        token = trie.token[at]
        while token >= 0:
            out[token >> 5] |= np.int32(1) << np.int32(token & 31)
            token = trie.twin[token]
        at += 1
    return count
