"""Trie × machine: which tokens may follow a configuration.

One pass over the trie, without recursion: the configuration at each depth of the present path is
kept in `Scratch`; where a byte leads nowhere, its whole subtree is left out. Configurations inside
a token are not interned; only stack nodes are. A walk that lacks something stands still, and goes
on from there when it has been supplied.
"""

# Compiled code: array elements are plain numbers here, which numpy's types don't say.
# pyright: reportUntypedFunctionDecorator=false, reportArgumentType=false, reportReturnType=false
# pyright: reportUnknownParameterType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportMissingParameterType=false
from __future__ import annotations

from typing import Final

import numpy as np

from maskwright.automaton.leaf.rows import DEAD, UNBUILT, LeafArrays
from maskwright.automaton.machine.addresses import int32s, leaf_arrays, machine_arrays, uint8s
from maskwright.automaton.machine.arrays import PASSED, REQUEST_ROW, STOPPED
from maskwright.automaton.machine.step import (
    TOO_MANY,
    advance,
    ask,
    gate_open,
    is_accepting,
    lacks_something,
    leave,
    next_leaf,
)
from maskwright.compiled import compiled
from maskwright.mask.walk.arrays import (
    CHAIN,
    DEPTH,
    FINGERPRINT,
    LISTED,
    MEMO,
    MOST_NEEDED,
    PHASE,
    SKIPPED_PART,
    VISITED,
    WORDS,
    needs,
    row_arrays,
    scratch_arrays,
    sibling_trie,
    spelling,
)
from maskwright.mask.walk.row_table import row_number, scattered
from maskwright.vocab.trie import Trie

PENDING: Final = -1
"""Instead of a row's number or a configuration: the machine has to be supplied first."""
UNMEASURED: Final = -5
LEAF_NEED: Final = -11
NODE_NEED: Final = -12
"""What a measured walk asks for: (leaf or node, this)."""
REFUSED: Final = -3
DEPENDS_ON_TEXT: Final = -4

_WALKING: Final = 0
_RESTING: Final = 1
_ENDING: Final = 2
_NUMBERING: Final = 3


@compiled
def find_row(address, leaf, node, base, fingerprint, rest, skipped, limit, resumed, found):
    """The number of the mask row at (leaf, node).

    PENDING if the machine has to serve requests first, TABLE_FULL if the row table has to grow:
    then it is called again with the same arguments and `resumed`.

    `base`, `fingerprint`, `rest` and `skipped` say what is known beforehand, see `PrecomputedMask`.
    If `found` is not 0, it is the address of int32 [3, V], where each token that is walked and
    allowed is listed with the leaf and node after it; `LISTED` in the scratch says how many there
    are. With a `limit` other than UNMEASURED, an upper bound of the bytes needed after each token
    is computed (`mask.shared.leaf_bounds`): `MOST_NEEDED` in the scratch is the largest of these
    bounds, and only tokens whose bound exceeds the limit are listed.
    """
    scratch = scratch_arrays(address)
    state = scratch.state
    if not resumed:
        for at in range(state[WORDS]):  # an error stopped the last walk
            scratch.added[scratch.touched[at]] = 0
        scratch.leaf[0] = leaf
        scratch.node[0] = node
        scratch.passed[0] = 0
        scratch.known[0] = 1
        scratch.living[:4] = 0
        scratch.cursor[0] = 0
        scratch.stop[0] = sibling_trie(address, 0).roots
        scratch.left[:] = -1
        state[PHASE] = _WALKING
        state[DEPTH] = 0
        state[WORDS] = 0
        state[FINGERPRINT] = fingerprint
        state[VISITED] = 0
        state[MOST_NEEDED] = 0
        state[LISTED] = 0
    if state[PHASE] == _WALKING:
        if not _walk(address, 0, skipped, limit, found):
            return PENDING
        state[PHASE] = _ENDING
        if rest:
            scratch.cursor[0] = 0
            scratch.stop[0] = sibling_trie(address, rest).roots
            state[PHASE] = _RESTING
            state[DEPTH] = 0
    if state[PHASE] == _RESTING:
        if not _walk(address, rest, 0, limit, found):
            return PENDING
        state[PHASE] = _ENDING
    if state[PHASE] == _ENDING:
        accepting = is_accepting(address, leaf, node)
        registers = machine_arrays(address).registers
        if lacks_something(registers):
            return PENDING
        if accepting:
            for token in spelling(address).eos:
                _add(scratch, token)
        state[PHASE] = _NUMBERING
    number = row_number(
        row_arrays(address),
        state[FINGERPRINT],
        base,
        scratch.added,
        scratch.touched,
        state[WORDS],
        scratch.row,
    )
    if number >= 0:
        for at in range(state[WORDS]):
            scratch.added[scratch.touched[at]] = 0
        state[WORDS] = 0
    return number


@compiled(inline="always")
def _add(scratch, token):
    """Allow a token."""
    word = token >> 5
    if scratch.added[word] == 0:
        scratch.touched[scratch.state[WORDS]] = word
        scratch.state[WORDS] += 1
    scratch.added[word] |= np.int32(1) << np.int32(token & 31)
    scratch.state[FINGERPRINT] += scattered(token)


@compiled(inline="always")
def _left(address, left, label, leaf, node, passed, registers):
    """The configuration after leaving a leaf, as `step.leave` finds it, and which dynamic exits
    have then been passed (see `step.pass_dynamic_exit`).

    The exits of one walk are remembered in `left`, as if no dynamic exit had been passed before.
    """
    key = (np.int64(label[leaf]) << 32) | np.int64(node)
    slot = 3 * ((label[leaf] * 0x9E37 + node * 0x85EB) & (MEMO - 1))
    if left[slot] == key:
        behind = left[slot + 1]
        here, below, more = behind >> 32, behind & 0xFFFFFFFF, left[slot + 2]
    else:
        registers[PASSED] = 0
        reached, above = leave(address, leaf, node)
        here, below, more = np.int64(reached), np.int64(above), np.int64(registers[PASSED])
        if not lacks_something(registers):
            left[slot] = key
            left[slot + 1] = (here << 32) | below
            left[slot + 2] = more
    if passed and more:
        registers[PASSED] = passed
        leave(address, leaf, node)
        more = np.int64(registers[PASSED])
    return here, below, more if more else np.int64(passed)


@compiled
def _walk(address, rest, skipped, limit, found):  # noqa: C901 (one loop, its state in registers)
    """Walk on from where the scratch stands; False if something is missing."""
    leaves, machine = leaf_arrays(address), machine_arrays(address)
    trie, scratch = sibling_trie(address, rest), scratch_arrays(address)
    skip = uint8s(skipped, 768)
    rows, base, label = leaves.rows, leaves.base, leaves.label
    override_start, override_stop = leaves.override_start, leaves.override_stop
    override_byte, override_next = leaves.override_byte, leaves.override_next
    eager, registers = leaves.eager, machine.registers
    trie_byte, trie_first, trie_children = trie.byte, trie.first, trie.children
    trie_token, trie_twin = trie.token, trie.twin
    chain_leaf, chain_node, chain_passed = scratch.leaf, scratch.node, scratch.passed
    state, left, living = scratch.state, scratch.left, scratch.living
    bytes_needed, more_needed = needs(address)
    measured = limit != UNMEASURED
    size = len(trie_twin)
    listed = int32s(found, 3 * size)
    depth = state[DEPTH]
    visited = 0
    while depth >= 0:
        at, stop = scratch.cursor[depth], scratch.stop[depth]
        known = scratch.known[depth]
        chain = depth * CHAIN
        waiting = False
        down = -1
        while known > 0:  # the leaf itself, then what can be reached by leaving it
            place = chain + known - 1
            here = chain_leaf[place]
            row = base[here]
            if row == UNBUILT:
                ask(machine, here, REQUEST_ROW)
                waiting = True
                break
            for word in range(4):
                bits = leaves.living[row, word]
                for override in range(override_start[here], override_stop[here]):
                    byte = override_byte[override]
                    if byte >> 6 == word:
                        bit = np.uint64(1) << np.uint64(byte & 63)
                        bits = bits & ~bit if override_next[override] == DEAD else bits | bit
                living[4 * depth + word] |= bits
            if known == CHAIN or label[here] == 0:
                known = -known
                break
            below, more = chain_node[place], chain_passed[place]
            here, below, more = _left(address, left, label, here, below, more, registers)
            if lacks_something(registers):
                waiting = True
                break
            if here == DEAD or more >= TOO_MANY:
                known = -known
                break
            chain_leaf[place + 1] = here
            chain_node[place + 1] = below
            chain_passed[place + 1] = more
            known += 1
        visited += stop - at
        while at < stop and not waiting:
            byte = trie_byte[at]
            lives = (living[4 * depth + (byte >> 6)] >> np.uint64(byte & 63)) & np.uint64(1)
            if lives == 0 or (
                skipped and depth < 2 and skip[byte + (state[SKIPPED_PART] if depth else 0)]
            ):
                at += 1
                continue
            target = DEAD
            place = chain
            while place - chain < -known:
                here = chain_leaf[place]
                target = rows[base[here], byte]
                for override in range(override_start[here], override_stop[here]):
                    if override_byte[override] == byte:
                        target = override_next[override]
                if target != DEAD and not gate_open(leaves, machine, target, chain_node[place]):
                    target = DEAD
                if target != DEAD:
                    break
                place += 1
            if target == DEAD:
                at += 1
                continue
            below = chain_node[place]
            passed = chain_passed[place]
            if eager[target]:
                registers[PASSED] = passed
                target, below = leave(address, target, below)
                passed = registers[PASSED]
                if lacks_something(registers):
                    waiting = True
                    break
                if target == DEAD or passed >= TOO_MANY:
                    at += 1  # each token below would be refused on its own where TOO_MANY passed
                    continue
            token = trie_token[at]
            if token >= 0:
                alive, beneath = target, below
                more = passed
                while alive != DEAD and label[alive] != 0 and base[alive] <= 0:
                    if base[alive] == UNBUILT:
                        ask(machine, alive, REQUEST_ROW)
                        break
                    if override_start[alive] != override_stop[alive]:
                        break  # more of it may be read
                    alive, beneath, more = _left(
                        address, left, label, alive, beneath, more, registers
                    )
                    if lacks_something(registers):
                        break
                if lacks_something(registers):
                    waiting = True
                    break
                if more >= TOO_MANY:
                    alive = DEAD
                doubtful = found != 0
                if measured and alive != DEAD:
                    if bytes_needed[alive] < 0:
                        ask(machine, alive, LEAF_NEED)
                        waiting = True
                        break
                    if more_needed[beneath] < 0:
                        ask(machine, beneath, NODE_NEED)
                        waiting = True
                        break
                    need = bytes_needed[alive] + more_needed[beneath]
                    state[MOST_NEEDED] = max(state[MOST_NEEDED], need)
                    doubtful = doubtful and need > limit
                while alive != DEAD and token >= 0:
                    _add(scratch, token)
                    if doubtful:
                        slot = state[LISTED]
                        listed[slot] = token
                        listed[size + slot] = alive
                        listed[2 * size + slot] = beneath
                        state[LISTED] += 1
                    token = trie_twin[token]
            if trie_children[at] > 0:
                down = at
                if depth == 0:
                    state[SKIPPED_PART] = 256 if byte == 0x20 else 512
                chain_leaf[chain + CHAIN] = target
                chain_node[chain + CHAIN] = below
                chain_passed[chain + CHAIN] = passed
                at += 1
                break
            at += 1
        scratch.known[depth] = known
        scratch.cursor[depth] = at
        visited -= stop - at
        if waiting:
            break
        if down >= 0:
            depth += 1
            scratch.known[depth] = 1
            living[4 * depth : 4 * depth + 4] = 0
            scratch.cursor[depth] = trie_first[down]
            scratch.stop[depth] = trie_first[down] + trie_children[down]
        else:
            depth -= 1
    state[DEPTH] = depth
    state[VISITED] += visited
    return depth < 0


@compiled
def take_token(address, leaf, node, token):
    """The configuration after a token as leaf << 32 | node, or why there is none: REFUSED,
    PENDING, or DEPENDS_ON_TEXT where that depends on the text; see `step.advance`."""
    texts = spelling(address)
    data = texts.data[texts.start[token] : texts.start[token + 1]]
    return take_bytes(address, leaf, node, data)


@compiled
def take_bytes(address, leaf, node, data):
    """The configuration after `data` (uint8), or why there is none, as in `take_token`."""
    leaf, node = advance(address, leaf, node, data)
    registers = machine_arrays(address).registers
    if lacks_something(registers):
        return PENDING
    if registers[STOPPED]:
        return DEPENDS_ON_TEXT
    return REFUSED if leaf == DEAD else (np.int64(leaf) << 32) | np.int64(node)


@compiled
def take_run(address, leaf, node, data):
    """Read `data` (uint8) byte by byte, up to the first byte that is refused, depends on the text
    or needs something that the machine lacks. Returns (number of bytes, leaf, node)."""
    registers = machine_arrays(address).registers
    for at in range(len(data)):
        following, below = advance(address, leaf, node, data[at : at + 1])
        if following == DEAD or registers[STOPPED] or lacks_something(registers):
            return at, leaf, node
        leaf, node = following, below
    return len(data), leaf, node


@compiled(nogil=True)
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
