"""The arrays that compiled code reads, behind one address.

Handing some forty arrays to a compiled function costs several microseconds a call, for each is
taken out of its Python object; and handing them on from one compiled function to the next costs
more than most of these functions do. So their addresses and lengths stand in a *directory*, and
what is handed over is where that is: one int. Whoever lists an array keeps it alive.
"""

# Compiled code: array elements are plain numbers here, which numpy's types don't say.
# pyright: reportUntypedFunctionDecorator=false, reportArgumentType=false, reportReturnType=false
# pyright: reportUnknownParameterType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportMissingParameterType=false
from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import carray, types  # pyright: ignore[reportPrivateImportUsage]
from numba.core import cgutils
from numba.extending import intrinsic

from maskwright.automaton.leaf.rows import LeafArrays
from maskwright.automaton.machine.machine import MachineArrays
from maskwright.compiled import compiled

ENTRIES: Final = 64
"""Arrays that a directory (int64 [2 * ENTRIES]) has room for: an address and a length each. The
first 32 are those of leaves and machine."""


@intrinsic
def _pointer(_typing: Any, address: Any) -> Any:
    """An address (int64) as something that `carray` takes."""
    del address

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], cgutils.voidptr_t)

    return types.voidptr(types.int64), generate


@intrinsic
def copy_bytes(_typing: Any, target: Any, source: Any, count: Any) -> Any:
    """Copy `count` bytes from one address to another; they must not overlap."""
    del target, source, count

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        target, source = (builder.inttoptr(each, cgutils.voidptr_t) for each in arguments[:2])
        cgutils.raw_memcpy(builder, target, source, arguments[2], 1)

    return types.void(types.int64, types.int64, types.int64), generate


@compiled
def enter(directory, at, array):
    """Make `array` entry `at`."""
    directory[2 * at] = array.ctypes.data
    directory[2 * at + 1] = array.size


@compiled
def enter_machine(directory, leaves, machine):
    """List the arrays of a leaf table and a machine."""
    enter(directory, 0, leaves.rows)
    enter(directory, 1, leaves.base)
    enter(directory, 2, leaves.override_start)
    enter(directory, 3, leaves.override_stop)
    enter(directory, 4, leaves.override_byte)
    enter(directory, 5, leaves.override_next)
    enter(directory, 6, leaves.label)
    enter(directory, 7, leaves.gate_low)
    enter(directory, 8, leaves.gate_high)
    enter(directory, 9, leaves.eager)
    enter(directory, 10, leaves.living)
    enter(directory, 16, machine.node_context)
    enter(directory, 17, machine.node_parent)
    enter(directory, 18, machine.node_slots)
    enter(directory, 19, machine.exit_keys)
    enter(directory, 20, machine.exit_kind)
    enter(directory, 21, machine.exit_context)
    enter(directory, 22, machine.exit_leaf)
    enter(directory, 23, machine.exit_frame)
    enter(directory, 24, machine.gate_start)
    enter(directory, 25, machine.gate_bits)
    enter(directory, 26, machine.counts)
    enter(directory, 27, machine.pending)


@compiled(inline="always")
def int32s(address, shape):
    """The array at an address."""
    return carray(_pointer(address), shape, np.int32)  # pyright: ignore[reportCallIssue]


@compiled(inline="always")
def int64s(address, shape):
    """The array at an address."""
    return carray(_pointer(address), shape, np.int64)  # pyright: ignore[reportCallIssue]


@compiled(inline="always")
def uint8s(address, shape):
    """The array at an address."""
    return carray(_pointer(address), shape, np.uint8)  # pyright: ignore[reportCallIssue]


@compiled(inline="always")
def _uint64s(address, shape):
    return carray(_pointer(address), shape, np.uint64)  # pyright: ignore[reportCallIssue]


@compiled(inline="always")
def opened(address):
    """The directory at an address."""
    return int64s(address, 2 * ENTRIES)


@compiled(inline="always")
def int32_at(directory, at):
    """Entry `at` of a directory."""
    return int32s(directory[2 * at], directory[2 * at + 1])


@compiled(inline="always")
def int64_at(directory, at):
    """Entry `at` of a directory."""
    return int64s(directory[2 * at], directory[2 * at + 1])


@compiled(inline="always")
def uint8_at(directory, at):
    """Entry `at` of a directory."""
    return uint8s(directory[2 * at], directory[2 * at + 1])


@compiled(inline="always")
def uint64_at(directory, at):
    """Entry `at` of a directory."""
    return _uint64s(directory[2 * at], directory[2 * at + 1])


@compiled(inline="always")
def leaf_arrays(address):
    """The leaf table in the directory at an address."""
    directory = opened(address)
    return LeafArrays(
        int32s(directory[0], (directory[1] >> 8, 256)),
        _uint64s(directory[20], (directory[21] >> 2, 4)),
        int32_at(directory, 1),
        int32_at(directory, 2),
        int32_at(directory, 3),
        uint8_at(directory, 4),
        int32_at(directory, 5),
        int32_at(directory, 6),
        int32_at(directory, 7),
        int32_at(directory, 8),
        uint8_at(directory, 9),
    )


@compiled(inline="always")
def machine_arrays(address):
    """The machine in the directory at an address."""
    directory = opened(address)
    return MachineArrays(
        int32_at(directory, 16),
        int32_at(directory, 17),
        int32_at(directory, 18),
        int64_at(directory, 19),
        int32_at(directory, 20),
        int32_at(directory, 21),
        int32_at(directory, 22),
        int32_at(directory, 23),
        int32_at(directory, 24),
        _uint64s(directory[50], directory[51]),
        int64_at(directory, 26),
        int64s(directory[54], (directory[55] >> 1, 2)),
    )
