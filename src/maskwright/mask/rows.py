"""The row table: every mask that has been needed, each content once, known by its number."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
import numpy.typing as npt


class RowTable:
    """`rows[n]` is mask n: int32 words, bit i of word w allows token 32*w+i. Grows only."""

    def __init__(self, words: int) -> None:
        self.rows: npt.NDArray[np.int32] = np.zeros((16, words), np.int32)
        self.count = 0
        self._numbers: dict[bytes, int] = {}

    def number(self, row: npt.NDArray[np.int32]) -> int:
        """The number of a row with this content; the row is copied."""
        key = blake2b(row.tobytes(), digest_size=16).digest()
        known = self._numbers.get(key)
        if known is not None:
            return known
        if self.count == len(self.rows):
            self.rows = np.concatenate([self.rows, np.zeros_like(self.rows)])
        self.rows[self.count] = row
        self._numbers[key] = self.count
        self.count += 1
        return self.count - 1
