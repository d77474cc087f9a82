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
from maskwright.automaton.step import ask, gate_open, is_end, leave, next_leaf, settle
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
    """
    scratch.leaf[0, 0] = leaf
    scratch.node[0, 0] = node
    scratch.known[0] = 1
    scratch.passed[0, 0] = 0
    at = 0
    visited = 0
    size = len(trie.byte)
    while at < size:
        visited += 1
        depth = trie.depth[at] - 1
        target, below, passed = _step(leaves, machine, scratch, depth, trie.byte[at])
        if target == DEAD:
            at = trie.skip[at]
            continue
        token = trie.token[at]
        if token >= 0:
            alive, beneath = target, below
            if is_end(leaves, target):
                machine.counts[8] = passed
                alive, beneath = settle(leaves, machine, target, below)
                if machine.counts[8] > MOST_DYNAMIC:
                    alive = DEAD
            if alive != DEAD:
                while token >= 0:
                    out[token >> 5] |= np.int32(1) << np.int32(token & 31)
                    if len(next_leaves) > 0:
                        next_leaves[token] = alive
                        next_nodes[token] = beneath
                    token = trie.twin[token]
        scratch.leaf[depth + 1, 0] = target
        scratch.node[depth + 1, 0] = below
        scratch.known[depth + 1] = 1
        scratch.passed[depth + 1, 0] = passed
        at += 1
    return visited


@njit(cache=True, nogil=True, inline="always")
def _step(
    leaves: LeafArrays, machine: MachineArrays, scratch: Scratch, depth: int, byte: int
) -> tuple[int, int, int]:
    """One byte from the configurations at `depth`: (leaf, node, dynamic exits passed)."""
    place = 0
    while True:
        known = scratch.known[depth]
        if place >= abs(known):
            if known < 0 or place >= _CHAIN:
                return DEAD, 0, 0
            machine.counts[8] = scratch.passed[depth, place - 1]
            leaf, node = leave(
                leaves, machine, scratch.leaf[depth, place - 1], scratch.node[depth, place - 1]
            )
            if leaf == DEAD or machine.counts[8] > MOST_DYNAMIC:
                scratch.known[depth] = -known
                return DEAD, 0, 0
            scratch.leaf[depth, place] = leaf
            scratch.node[depth, place] = node
            scratch.passed[depth, place] = machine.counts[8]
            scratch.known[depth] = known + 1
        leaf = scratch.leaf[depth, place]
        node = scratch.node[depth, place]
        if leaves.base[leaf] == UNBUILT:
            ask(machine, leaf, -1)
            scratch.known[depth] = -(place + 1)
            return DEAD, 0, 0
        target = next_leaf(leaves, leaf, byte)
        if target != DEAD and gate_open(leaves, machine, target, node):
            return target, node, scratch.passed[depth, place]
        place += 1


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
