"""What a walk over a vocabulary reads and writes, in the same directory as the machine."""

# Compiled code: array elements are plain numbers here, which numpy's types don't say.
# pyright: reportUntypedFunctionDecorator=false, reportArgumentType=false, reportReturnType=false
# pyright: reportUnknownParameterType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportMissingParameterType=false
from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from maskwright.automaton.leaf.rows import LeafArrays
from maskwright.automaton.machine.addresses import (
    ENTRIES,
    enter,
    enter_machine,
    int32_at,
    int64_at,
    int64s,
    opened,
    uint8_at,
    uint64_at,
)
from maskwright.automaton.machine.machine import MachineArrays
from maskwright.compiled import compiled
from maskwright.mask.walk.row_table import RowArrays
from maskwright.vocab import Vocabulary
from maskwright.vocab.trie import Fan

CHAIN: Final = 8
"""Leaves that can be left one after the other without reading a byte."""

MEMO: Final = 64
"""Leaves that a walk remembers to have left, a power of two."""


class Scratch(NamedTuple):
    """What a walk remembers while it stands still, waiting for something that it lacks."""

    leaf: npt.NDArray[np.int32]
    """[depths * CHAIN]: the leaves of a configuration, itself first, then what can be reached by
    leaving leaves without a byte; extended when needed."""
    node: npt.NDArray[np.int32]
    passed: npt.NDArray[np.int32]
    """What of dynamic exits has been passed on the way to each of the chain (`step.behind_end`)."""
    known: npt.NDArray[np.int32]
    """[depths]: how many of the chain are known; negative where that is all there are."""
    living: npt.NDArray[np.uint64]
    """[depths * 4]: bit b of 256 is set where some leaf of the chain goes on with byte b."""
    cursor: npt.NDArray[np.int32]
    """[depths]: the next trie node to look at, and where its siblings end."""
    stop: npt.NDArray[np.int32]
    added: npt.NDArray[np.int32]
    """[words]: the tokens found so far, beside the ready row; zero between walks."""
    touched: npt.NDArray[np.int32]
    """[words]: which words those are in."""
    row: npt.NDArray[np.int32]
    """[2 * words]: two rows in full, to be compared."""
    left: npt.NDArray[np.int64]
    """[3 * MEMO]: what leaving a leaf led to in this walk: label << 32 | node (-1 is empty), then
    leaf << 32 | node behind it, then what has been passed."""
    state: npt.NDArray[np.int64]
    """[0] phase, [1] depth, [2] words touched, [3] fingerprint, [4] trie nodes visited, [5] the
    most that is needed behind any of the tokens, if that is measured, [6] tokens listed, [7] which
    part of `Begun.skipped` counts behind the first byte."""

    @classmethod
    def of(cls, height: int, words: int) -> Scratch:
        depths = height + 2
        return cls(
            leaf=np.zeros(depths * CHAIN, np.int32),
            node=np.zeros(depths * CHAIN, np.int32),
            passed=np.zeros(depths * CHAIN, np.int32),
            known=np.zeros(depths, np.int32),
            living=np.zeros(depths * 4, np.uint64),
            cursor=np.zeros(depths, np.int32),
            stop=np.zeros(depths, np.int32),
            added=np.zeros(words, np.int32),
            touched=np.zeros(words, np.int32),
            row=np.zeros(2 * words, np.int32),
            left=np.full(3 * MEMO, -1, np.int64),
            state=np.zeros(8, np.int64),
        )


class Spelling(NamedTuple):
    """The vocabulary's tokens as the machine reads them: token i is data[start[i]:start[i + 1]]."""

    data: npt.NDArray[np.uint8]
    start: npt.NDArray[np.int64]
    eos: npt.NDArray[np.int64]

    @classmethod
    def of(cls, vocabulary: Vocabulary) -> Spelling:
        return cls(
            np.frombuffer(b"".join(vocabulary.spellings), np.uint8),
            np.cumsum([0, *map(len, vocabulary.spellings)], dtype=np.int64),
            np.array(vocabulary.eos, np.int64),
        )


class FanTable:
    """Where the arrays of a trie are."""

    __slots__ = ("_entries", "_kept", "address")

    def __init__(self, fan: Fan) -> None:
        self._entries = np.zeros(12, np.int64)
        self._kept = fan
        _enter_fan(self._entries, fan)
        self.address: Final = int(self._entries.ctypes.data)
        """What compiled code is given; valid as long as the table lives."""


class Begun(NamedTuple):
    """What of a mask is at hand, and which tokens are still to be walked; all zero is nothing, and
    all tokens."""

    base: int
    """The address of a row of allowed tokens."""
    fingerprint: int
    """That row's; see `mask.rows`."""
    rest: int
    """The `FanTable` of the other tokens that begin with bytes in `skipped`."""
    skipped: int
    """The address of uint8 [3 * 256]: 1 for the bytes with which no further token is to be walked,
    at its start; behind a space at its start; behind another byte there (always 0)."""


class Directory:
    """Where the arrays of one grammar are."""

    __slots__ = ("_entries", "_kept", "address", "leaves", "machine", "rows")

    def __init__(self) -> None:
        self._entries = np.zeros(2 * ENTRIES, np.int64)
        self._kept: tuple[Any, ...] = ()
        self.leaves: LeafArrays | None = None
        self.machine: MachineArrays | None = None
        self.rows: RowArrays | None = None
        self.address: Final = int(self._entries.ctypes.data)
        """What compiled code is given; valid as long as the directory lives."""

    def write(
        self,
        leaves: LeafArrays,
        machine: MachineArrays,
        rows: RowArrays,
        whole: FanTable,
        spelling: Spelling,
        scratch: Scratch,
        leaf_needs: npt.NDArray[np.int32],
        node_needs: npt.NDArray[np.int32],
    ) -> None:
        """List these arrays from now on."""
        self.leaves, self.machine, self.rows = leaves, machine, rows
        self._kept = (whole, spelling, scratch, leaf_needs, node_needs)
        enter_machine(self._entries, leaves, machine)
        _enter_tables(self._entries, rows, whole.address, spelling, scratch)
        _enter_needs(self._entries, leaf_needs, node_needs)


@compiled
def _enter_fan(table, fan):
    enter(table, 0, fan.byte)
    enter(table, 1, fan.first)
    enter(table, 2, fan.children)
    enter(table, 3, fan.token)
    enter(table, 4, fan.twin)
    table[10] = fan.roots


@compiled
def _enter_tables(directory, rows, whole, spelling, scratch):
    enter(directory, 32, rows.slots)
    enter(directory, 33, rows.records)
    enter(directory, 34, rows.page)
    enter(directory, 35, rows.counts)
    directory[72] = whole
    enter(directory, 48, spelling.data)
    enter(directory, 49, spelling.start)
    enter(directory, 50, spelling.eos)
    enter(directory, 52, scratch.leaf)
    enter(directory, 53, scratch.node)
    enter(directory, 54, scratch.passed)
    enter(directory, 55, scratch.known)
    enter(directory, 56, scratch.cursor)
    enter(directory, 57, scratch.stop)
    enter(directory, 58, scratch.added)
    enter(directory, 59, scratch.touched)
    enter(directory, 60, scratch.row)
    enter(directory, 61, scratch.state)
    enter(directory, 51, scratch.left)
    enter(directory, 37, scratch.living)


@compiled
def _enter_needs(directory, leaf_needs, node_needs):
    enter(directory, 62, leaf_needs)
    enter(directory, 63, node_needs)


@compiled(inline="always")
def leaf_needs(address):
    """For each leaf state the bytes after which it can be left, -1 where it isn't known."""
    return int32_at(opened(address), 62)


@compiled(inline="always")
def node_needs(address):
    """For each node the bytes that complete the text behind its leaf, -1 where it isn't known."""
    return int32_at(opened(address), 63)


@compiled(inline="always")
def row_arrays(address):
    """The row table in the directory at an address."""
    directory = opened(address)
    return RowArrays(
        int32_at(directory, 32),
        int64_at(directory, 33),
        int64_at(directory, 34),
        int64_at(directory, 35),
    )


@compiled(inline="always")
def fan(address, rest):
    """The trie in the table `rest`, or of all tokens where that is 0."""
    table = int64s(rest if rest else opened(address)[72], 12)
    return Fan(
        uint8_at(table, 0),
        int32_at(table, 1),
        int32_at(table, 2),
        int32_at(table, 3),
        int32_at(table, 4),
        table[10],
    )


@compiled(inline="always")
def spelling(address):
    """The vocabulary's tokens."""
    directory = opened(address)
    return Spelling(uint8_at(directory, 48), int64_at(directory, 49), int64_at(directory, 50))


@compiled(inline="always")
def scratch_arrays(address):
    """The walk's scratch."""
    directory = opened(address)
    return Scratch(
        int32_at(directory, 52),
        int32_at(directory, 53),
        int32_at(directory, 54),
        int32_at(directory, 55),
        uint64_at(directory, 37),
        int32_at(directory, 56),
        int32_at(directory, 57),
        int32_at(directory, 58),
        int32_at(directory, 59),
        int32_at(directory, 60),
        int64_at(directory, 51),
        int64_at(directory, 61),
    )
