"""Sets of small numbers as the bits of an int, in time that grows with the largest of them.

Shifting one bit after another takes the square of that, and a list of such bits as much memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np

_FEW: Final = 512
"""Bits up to which shifting is quicker than an array."""


def bits_of(numbers: Iterable[int]) -> int:
    """The set of some numbers, which may be repeated."""
    listed = list(numbers)
    last = max(listed, default=0)
    if last < _FEW:
        found = 0
        for number in listed:
            found |= 1 << number
        return found
    marks = np.zeros(last + 1, np.uint8)
    marks[listed] = 1
    return int.from_bytes(np.packbits(marks, bitorder="little").tobytes(), "little")


def numbers_in(bits: int) -> Iterator[int]:
    """The numbers in a set, ascending."""
    size = bits.bit_length()
    if size > _FEW:
        data = np.frombuffer(bits.to_bytes((size + 7) // 8, "little"), np.uint8)
        yield from np.flatnonzero(np.unpackbits(data, bitorder="little")).tolist()
        return
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low
