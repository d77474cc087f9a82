"""Addresses in compiled code."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


@intrinsic
def pointer(_typing: Any, address: Any) -> Any:
    """An address (int64) as something that `carray` takes.

    Whoever hands an address to compiled code keeps the array alive.
    """
    del address

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], cgutils.voidptr_t)

    return types.voidptr(types.int64), generate
