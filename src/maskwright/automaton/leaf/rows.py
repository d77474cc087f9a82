"""The rows of leaf states: arrays that the compiled code reads, and how they are filled.

States of long literals and of tries of names differ from a common row in one or two bytes, so a
state is a shared *base row* and a few *overrides*. Equal rows are stored once.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Annotated, Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

DEAD: Final = -1
UNBUILT: Final = -2

Int32 = npt.NDArray[np.int32]
UInt8 = npt.NDArray[np.uint8]
Row = dict[int, int]

_MOST_OVERRIDES: Final = 8


class LeafArrays(NamedTuple):
    """The table as the compiled code reads it; see `automaton.machine.step`."""

    rows: Annotated[Int32, 256]
    """[rows, 256]: next state by byte."""
    living: Annotated[npt.NDArray[np.uint64], 4]
    """[rows, 4]: bit b of a row's 256 is set where byte b has a next state."""
    base: Int32
    """[states]: row of a state, or UNBUILT."""
    override_start: Int32
    override_stop: Int32
    override_byte: UInt8
    override_next: Int32
    label: Int32
    """[states]: label id, 0 if the state can't be left."""
    gate_low: Int32
    gate_high: Int32
    """[states]: names that can still be reached; high 0 is no gate."""
    eager: UInt8
    """[states]: 1 where the leaf is left as soon as the state is reached; see `leaving`."""


class Overrides(NamedTuple):
    """The bytes by which the rows of states differ from another, one state after the other."""

    start: Int32
    """[states + 1]"""
    byte: UInt8
    target: Int32


class LeafRows:
    """Grows only."""

    def __init__(self) -> None:
        self.rows = 1
        self._overrides = 0
        self._numbers: dict[bytes, int] = {}
        self.arrays = LeafArrays(
            rows=np.full((64, 256), DEAD, np.int32),
            living=np.zeros((64, 4), np.uint64),
            base=np.full(256, UNBUILT, np.int32),
            override_start=np.zeros(256, np.int32),
            override_stop=np.zeros(256, np.int32),
            override_byte=np.zeros(256, np.uint8),
            override_next=np.zeros(256, np.int32),
            label=np.zeros(256, np.int32),
            gate_low=np.zeros(256, np.int32),
            gate_high=np.zeros(256, np.int32),
            eager=np.zeros(256, np.uint8),
        )

    def is_built(self, state: int) -> bool:
        return self.arrays.base[state] != UNBUILT

    def make_room(self, state: int) -> None:
        """Make room for a state."""
        while state >= len(self.arrays.base):
            self._grow_states()

    def next_states(self, state: int) -> Row:
        """Byte → next state of a built state."""
        row = self.arrays.rows[self.arrays.base[state]]
        living = np.flatnonzero(row != DEAD)
        found = dict(zip(living.tolist(), row[living].tolist(), strict=True))
        for at in range(self.arrays.override_start[state], self.arrays.override_stop[state]):
            byte, target = int(self.arrays.override_byte[at]), int(self.arrays.override_next[at])
            if target == DEAD:
                found.pop(byte, None)
            else:
                found[byte] = target
        return found

    def store(self, state: int, row: Int32, trunk: int | None) -> None:
        """Give `state` its row (int32 [256]), if `trunk` is one as its differences from that."""
        if trunk is not None:
            differing = np.flatnonzero(row != self.arrays.rows[trunk])
            if len(differing) <= _MOST_OVERRIDES:
                pairs = zip(differing.tolist(), row[differing].tolist(), strict=True)
                self.override(state, trunk, dict(pairs))
                return
        self.arrays.base[state] = self._number(row)

    def _number(self, row: Int32) -> int:
        digest = blake2b(row.data, digest_size=16).digest()
        number = self._numbers.get(digest)
        if number is None:
            number = 0
            living = row != DEAD
            if living.any():
                if self.rows >= len(self.arrays.rows):
                    rows, bits = self.arrays.rows, self.arrays.living
                    self._replace(rows=_doubled(rows, DEAD), living=_doubled(bits, 0))
                number = self.rows
                self.rows += 1
                self.arrays.rows[number] = row
                self.arrays.living[number] = np.packbits(living, bitorder="little").view("<u8")
            self._numbers[digest] = number
        return number

    def override(self, state: int, trunk: int, overrides: Row) -> None:
        """Give `state` the row `trunk`, but for some bytes."""
        start, stop = self._overrides, self._overrides + len(overrides)
        while stop > len(self.arrays.override_byte):
            self._grow_overrides()
        for at, (byte, target) in enumerate(overrides.items(), start):
            self.arrays.override_byte[at] = byte
            self.arrays.override_next[at] = target
        self.arrays.override_start[state] = start
        self.arrays.override_stop[state] = stop
        self._overrides = stop
        self.arrays.base[state] = trunk

    def override_all(self, state: int, trunks: npt.NDArray[np.int_], rows: Overrides) -> None:
        """Give states from `state` on the rows `trunks` [states], each but for some bytes."""
        first, count = self._overrides, len(rows.byte)
        while first + count > len(self.arrays.override_byte):
            self._grow_overrides()
        arrays, stop = self.arrays, state + len(rows.start) - 1
        arrays.override_byte[first : first + count] = rows.byte
        arrays.override_next[first : first + count] = rows.target
        arrays.override_start[state:stop] = first + rows.start[:-1]
        arrays.override_stop[state:stop] = first + rows.start[1:]
        arrays.base[state:stop] = trunks
        self._overrides += count

    def _grow_overrides(self) -> None:
        self._replace(
            override_byte=_doubled(self.arrays.override_byte, 0),
            override_next=_doubled(self.arrays.override_next, 0),
        )

    def _grow_states(self) -> None:
        old = self.arrays
        self._replace(
            base=_doubled(old.base, UNBUILT),
            override_start=_doubled(old.override_start, 0),
            override_stop=_doubled(old.override_stop, 0),
            label=_doubled(old.label, 0),
            gate_low=_doubled(old.gate_low, 0),
            gate_high=_doubled(old.gate_high, 0),
            eager=_doubled(old.eager, 0),
        )

    def _replace(self, **arrays: npt.NDArray[Any]) -> None:
        self.arrays = self.arrays._replace(**arrays)


def _doubled(array: npt.NDArray[Any], fill: int) -> npt.NDArray[Any]:
    more = np.full_like(array, fill)
    return np.concatenate([array, more])
