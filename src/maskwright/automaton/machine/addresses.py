"""The arrays that compiled code reads, behind one address.

Handing some forty arrays to a compiled function costs several microseconds a call, since each is
taken out of its Python object; and handing them on from one compiled function to the next costs
more than most of these functions do. So the arrays of a named tuple are *listed*: their addresses
and lengths are written into a table of int64, two a field, and what is handed over is the address
of the table. `array_table` says how many entries a named tuple takes, `list_arrays` writes them and
`listed_arrays` gives the named tuple back.

The annotations of the named tuple say what its fields are: an array of one dimension, an array
whose rows have a fixed width (`Annotated[NDArray[...], width]`), or an int, which is listed itself.
Whoever lists an array keeps it alive.
"""

# Compiled code: array elements are plain numbers here, which numpy's types don't say.
# pyright: reportUntypedFunctionDecorator=false, reportArgumentType=false, reportReturnType=false
# pyright: reportUnknownParameterType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportMissingParameterType=false, reportCallIssue=false
from __future__ import annotations

from typing import Annotated, Any, Final, get_args, get_origin, get_type_hints

import numpy as np
from numba import carray, from_dtype, types  # pyright: ignore[reportPrivateImportUsage]
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

from maskwright.automaton.leaf.rows import LeafArrays
from maskwright.automaton.machine.arrays import MachineArrays
from maskwright.compiled import compiled


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


@compiled(inline="always")
def int32s(address, shape):
    """The array of int32 at an address."""
    return carray(_pointer(address), shape, np.int32)


@compiled(inline="always")
def int64s(address, shape):
    """The array of int64 at an address."""
    return carray(_pointer(address), shape, np.int64)


@compiled(inline="always")
def uint8s(address, shape):
    """The array of uint8 at an address."""
    return carray(_pointer(address), shape, np.uint8)


# Tables of named tuples


def array_table(*named: type) -> int:
    """Entries (int64) of a table that lists the fields of these named tuples."""
    return 2 * sum(len(each.__annotations__) for each in named)


def _dtype(array: Any) -> np.dtype[Any]:
    """The dtype of an `NDArray[scalar]`.

    Its last argument is the scalar itself since NumPy 2.5, where `NDArray` is an alias of its own,
    and `dtype[scalar]` before.
    """
    last = get_args(array)[-1]
    return np.dtype(*(get_args(last) or (last,)))


def _fields(named: type) -> list[tuple[Any, int]]:
    """Numba's type of each field, and the width of its rows, 0 for other fields."""
    found: list[tuple[Any, int]] = []
    for hint in get_type_hints(named, include_extras=True).values():
        array, width = get_args(hint) if get_origin(hint) is Annotated else (hint, 0)
        if array is int:
            found.append((types.int64, 0))
            continue
        kind = types.Array(from_dtype(_dtype(array)), 2 if width else 1, "C")
        found.append((kind, width))
    return found


@intrinsic
def _list(_typing: Any, address: Any, named: Any) -> Any:
    """Write the addresses and lengths of the fields of `named` into the table at `address`."""
    kinds = list(named.types)

    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        table = builder.inttoptr(arguments[0], cgutils.intp_t.as_pointer())
        for at, kind in enumerate(kinds):
            value = builder.extract_value(arguments[1], at)
            entry = cgutils.gep(builder, table, 2 * at)
            if not isinstance(kind, types.Array):
                builder.store(value, entry)
                continue
            array = make_array(kind)(context, builder, value)
            builder.store(builder.ptrtoint(array.data, cgutils.intp_t), entry)
            builder.store(array.nitems, cgutils.gep(builder, table, 2 * at + 1))
        return context.get_dummy_value()

    return types.void(types.int64, named), generate


@intrinsic
def _listed(_typing: Any, address: Any, named: Any) -> Any:
    """The named tuple whose fields are listed in the table at `address`."""
    fields = _fields(named.instance_class)
    result: Any = types.BaseTuple.from_types([kind for kind, _ in fields], named.instance_class)

    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        table = builder.inttoptr(arguments[0], cgutils.intp_t.as_pointer())
        values: list[Any] = []
        for at, (kind, width) in enumerate(fields):
            first = builder.load(cgutils.gep(builder, table, 2 * at))
            if not isinstance(kind, types.Array):
                values.append(first)
                continue
            size = builder.load(cgutils.gep(builder, table, 2 * at + 1))
            array = make_array(kind)(context, builder)
            item = context.get_abi_sizeof(context.get_data_type(kind.dtype))
            shape, strides = [size], [item]
            if width:
                shape = [builder.sdiv(size, cgutils.intp_t(width)), cgutils.intp_t(width)]
                strides = [width * item, item]
            populate_array(
                array,
                data=builder.inttoptr(first, array.data.type),
                shape=shape,
                strides=[cgutils.intp_t(stride) for stride in strides],
                itemsize=cgutils.intp_t(item),
                meminfo=None,
            )
            values.append(array._getvalue())
        return context.make_tuple(builder, result, values)

    return result(types.int64, named), generate


@compiled
def list_arrays(address, named):
    """List the fields of a named tuple in the table at an address."""
    _list(address, named)


@compiled(inline="always")
def listed_arrays(address, named):
    """The named tuple of class `named` that is listed at an address."""
    return _listed(address, named)


# The table of a machine: its leaves, then itself; what else a walk needs follows.

_MACHINE: Final = 8 * array_table(LeafArrays)
MACHINE_TABLE: Final = array_table(LeafArrays, MachineArrays)
"""Entries of the table of a machine."""


@compiled(inline="always")
def leaf_arrays(address):
    """The leaf table in the table at an address."""
    return _listed(address, LeafArrays)


@compiled(inline="always")
def machine_arrays(address):
    """The machine in the table at an address."""
    return _listed(address + _MACHINE, MachineArrays)


def list_machine(address: int, leaves: LeafArrays, machine: MachineArrays) -> None:
    """List a leaf table and a machine."""
    list_arrays(address, leaves)
    list_arrays(address + _MACHINE, machine)
