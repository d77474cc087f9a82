"""The row table: every mask that has been needed, each content once, known by its number."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit


class RowTable:
    """`rows[n]` is mask n: int32 words, bit i of word w allows token 32*w+i. Grows only."""

    def __init__(self, words: int) -> None:
        self.rows: npt.NDArray[np.int32] = np.zeros((16, words), np.int32)
        self.count = 0
        self._numbers: dict[int, list[int]] = {}

    def number(self, row: npt.NDArray[np.int32]) -> int:
        """The number of a row with this content; the row is copied."""
        alike = self._numbers.setdefault(int(_fingerprint(row)), [])
        for known in alike:
            if np.array_equal(self.rows[known], row):
                return known
        if self.count == len(self.rows):
            self.rows = np.concatenate([self.rows, np.zeros_like(self.rows)])
        self.rows[self.count] = row
        alike.append(self.count)
        self.count += 1
        return self.count - 1


@njit(cache=True, nogil=True)  # pyright: ignore[reportUntypedFunctionDecorator]
def _fingerprint(row: npt.NDArray[np.int32]) -> np.uint64:
    """64 bits that differ for most rows: FNV-1a over words, four lanes at a time."""
    prime = np.uint64(0x100000001B3)
    first = np.uint64(0xCBF29CE484222325)
    second, third, fourth = first + prime, first ^ prime, first - prime
    whole = len(row) // 4 * 4
    for at in range(0, whole, 4):
        first = (first ^ np.uint64(np.uint32(row[at]))) * prime
        second = (second ^ np.uint64(np.uint32(row[at + 1]))) * prime
        third = (third ^ np.uint64(np.uint32(row[at + 2]))) * prime
        fourth = (fourth ^ np.uint64(np.uint32(row[at + 3]))) * prime
    for at in range(whole, len(row)):
        first = (first ^ np.uint64(np.uint32(row[at]))) * prime
    return ((first * prime ^ second) * prime ^ third) * prime ^ fourth
