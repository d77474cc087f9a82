"""The hash tables of a machine, written anew once they have grown.

The layout is the one that `automaton.machine.step` reads. The functions are compiled when they are
imported, so that no mask waits for the compiler.
"""

# Compiled code: array elements are plain numbers here, which numpy's types don't say.
# pyright: reportUntypedFunctionDecorator=false, reportArgumentType=false, reportReturnType=false
# pyright: reportUnknownParameterType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportMissingParameterType=false
from __future__ import annotations

from typing import Final

import numpy as np

from maskwright.compiled import compiled

_EXITS: Final = "UniTuple(int32[::1], 4)"


@compiled(signatures=(f"void(int64[::1], {_EXITS}, int64[::1], {_EXITS})",))
def _move(old_keys, old, keys, new):
    mask = len(keys) - 1
    for at in range(len(old_keys)):
        key = old_keys[at]
        if key >= 0:
            slot = ((key >> 32) * 0x9E37 + (key & 0xFFFFFFFF) * 0x85EB) & mask
            while keys[slot] != -1:
                slot = (slot + 1) & mask
            keys[slot] = key
            for field in range(4):
                new[field][slot] = old[field][at]


@compiled(signatures=("void(int32[::1], int32[::1], int32[::1], int64, int64)",))
def hash_nodes(context, parent, slots, start, stop):
    """Enter nodes that are not in it into `slots`, which is -1 where it is empty."""
    mask = len(slots) - 1
    for node in range(start, stop):
        slot = (np.int64(context[node]) * 0x9E37 + (np.int64(parent[node]) + 1) * 0x85EB) & mask
        while slots[slot] != -1:
            slot = (slot + 1) & mask
        slots[slot] = node


def move_exits(old, new):
    """Enter the exits of a table into a larger one; each is (keys, kind, context, leaf, frame)."""
    _move(old[0], old[1:], new[0], new[1:])
