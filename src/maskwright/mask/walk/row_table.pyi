from typing import overload

import numpy as np
import numpy.typing as npt

Row = npt.NDArray[np.int32]

class Ready:
    """A row that others are based on."""

class RowTable:
    """`table[n]` is mask n: int32 words, bit i of word w allows token 32*w+i. Grows only. Row 0
    allows nothing.

    A mirror on a device asks for `table[known:len(table)]` to catch up. Whoever adds rows
    serialises; a row that has a number may be read at any time.
    """

    def __init__(self, words: int, /) -> None: ...
    @property
    def words(self) -> int: ...
    @property
    def nbytes(self) -> int:
        """Bytes of the records."""
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, index: int, /) -> Row: ...
    @overload
    def __getitem__(self, index: slice, /) -> npt.NDArray[np.int32]:
        """A row (int32 [words]), or several ([n, words]), written out."""
    def write(self, number: int, out: Row, /) -> None:
        """Write a row to `out` (int32 [words]). Raises `ValueError` for an array of another type or
        length, and for one that is not contiguous."""
    def ready(self, row: Row, /) -> Ready:
        """A row to base others on, which doesn't change; kept as long as the table."""
    def number(self, row: Row, /) -> int:
        """The number of a row given as a whole."""
    def number_on(self, ready: Ready | None, row: Row, fingerprint: int | None = None, /) -> int:
        """The number of the row of the tokens of a ready row and of `row`, which has none of
        these. (Tests give a `fingerprint`, to see that rows with equal ones are distinguished.)"""
    def without(self, number: int, tokens: npt.NDArray[np.int32], /) -> int:
        """The number of a row without some `tokens` (int32 [n]); the ready row on which it is based
        must have none of them."""

def packed(allowed: npt.NDArray[np.bool_], /) -> Row:
    """A bool per token as a mask row."""
