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
    MACHINE_TABLE,
    array_table,
    list_arrays,
    list_machine,
    listed_arrays,
)
from maskwright.automaton.machine.arrays import MachineArrays
from maskwright.compiled import compiled
from maskwright.mask.walk.row_table import RowArrays
from maskwright.vocab import Vocabulary
from maskwright.vocab.trie import SiblingTrie

CHAIN: Final = 8
"""Leaves that can be left one after the other without reading a byte."""

MEMO: Final = 64
"""Leaves that a walk remembers to have left, a power of two."""


# Elements of `Scratch.state`.
PHASE: Final = 0
"""What the walk is doing; see `mask.walk.walk`."""
DEPTH: Final = 1
"""Bytes of the present path through the trie."""
WORDS: Final = 2
"""How many words of `Scratch.added` are not zero."""
FINGERPRINT: Final = 3
"""Of the row found so far."""
VISITED: Final = 4
"""Trie nodes looked at."""
MOST_NEEDED: Final = 5
"""The most bytes needed after any of the tokens, if that is measured."""
LISTED: Final = 6
"""Tokens listed."""
SKIPPED_PART: Final = 7
"""Where the part of `PrecomputedMask.skipped` begins that counts after the path's first byte."""
STATES: Final = 8


class Scratch(NamedTuple):
    """What a walk remembers while it stands still, waiting for something that it lacks."""

    leaf: npt.NDArray[np.int32]
    """[depths * CHAIN]: the leaves of a configuration, itself first, then what can be reached by
    leaving leaves without a byte; extended when needed."""
    node: npt.NDArray[np.int32]
    passed: npt.NDArray[np.int32]
    """Which dynamic exits have been passed on the way to each of the chain; see `PASSED`."""
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
    leaf << 32 | node after it, then what has been passed."""
    state: npt.NDArray[np.int64]
    """[STATES]: see `PHASE` and the others."""

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
            state=np.zeros(STATES, np.int64),
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


class Needs(NamedTuple):
    """What a measured walk adds up."""

    leaf: npt.NDArray[np.int32]
    """[leaf states]: the bytes after which each can be left, -1 where it isn't known."""
    node: npt.NDArray[np.int32]
    """[stack nodes]: the bytes that complete the text once its leaf has been left, or -1."""


class Whole(NamedTuple):
    """The trie of all tokens."""

    address: int
    """That of its `SiblingTable`."""


class SiblingTable:
    """Where the arrays of a trie are."""

    __slots__ = ("_entries", "_kept", "address")

    def __init__(self, fan: SiblingTrie) -> None:
        self._entries = np.zeros(array_table(SiblingTrie), np.int64)
        self._kept = fan
        self.address: Final = int(self._entries.ctypes.data)
        """What compiled code is given; valid as long as the table lives."""
        list_arrays(self.address, fan)


class PrecomputedMask(NamedTuple):
    """What of a mask is at hand, and which tokens are still to be walked; all zero is nothing, and
    all tokens."""

    base: int
    """The address of a row of allowed tokens."""
    fingerprint: int
    """That row's; see `mask.walk.row_table`."""
    rest: int
    """The `SiblingTable` of the other tokens that begin with bytes in `skipped`."""
    skipped: int
    """The address of uint8 [3 * 256]: 1 for the bytes with which no further token is to be walked,
    at its start; after a space at its start; after another byte there (always 0)."""


class Directory:
    """Where the arrays of one grammar are."""

    __slots__ = (
        "_entries",
        "_kept",
        "address",
        "leaf_bounds",
        "leaves",
        "machine",
        "node_bounds",
        "rows",
    )

    def __init__(self) -> None:
        self._entries = np.zeros(_ENTRIES, np.int64)
        self._kept: tuple[Any, ...] = ()
        self.leaves: LeafArrays | None = None
        self.machine: MachineArrays | None = None
        self.rows: RowArrays | None = None
        self.leaf_bounds: npt.NDArray[np.int32] | None = None
        self.node_bounds: npt.NDArray[np.int32] | None = None
        self.address: Final = int(self._entries.ctypes.data)
        """What compiled code is given; valid as long as the directory lives."""

    def write(
        self,
        leaves: LeafArrays,
        machine: MachineArrays,
        rows: RowArrays,
        whole: SiblingTable,
        spelling: Spelling,
        scratch: Scratch,
        leaf_bounds: npt.NDArray[np.int32],
        node_bounds: npt.NDArray[np.int32],
    ) -> None:
        """List these arrays from now on."""
        self.leaves, self.machine, self.rows = leaves, machine, rows
        self.leaf_bounds, self.node_bounds = leaf_bounds, node_bounds
        self._kept = (whole, spelling, scratch)
        list_machine(self.address, leaves, machine)
        list_arrays(self.address + _ROWS, rows)
        list_arrays(self.address + _SPELLING, spelling)
        list_arrays(self.address + _SCRATCH, scratch)
        list_arrays(self.address + _NEEDS, Needs(leaf_bounds, node_bounds))
        list_arrays(self.address + _WHOLE, Whole(whole.address))


# The table of a grammar: that of its machine, then what else a walk needs. Offsets in bytes.
_ROWS: Final = 8 * MACHINE_TABLE
_SPELLING: Final = _ROWS + 8 * array_table(RowArrays)
_SCRATCH: Final = _SPELLING + 8 * array_table(Spelling)
_NEEDS: Final = _SCRATCH + 8 * array_table(Scratch)
_WHOLE: Final = _NEEDS + 8 * array_table(Needs)
_ENTRIES: Final = _WHOLE // 8 + array_table(Whole)


@compiled(inline="always")
def row_arrays(address):
    """The row table."""
    return listed_arrays(address + _ROWS, RowArrays)


@compiled(inline="always")
def spelling(address):
    """The vocabulary's tokens."""
    return listed_arrays(address + _SPELLING, Spelling)


@compiled(inline="always")
def scratch_arrays(address):
    """The walk's scratch."""
    return listed_arrays(address + _SCRATCH, Scratch)


@compiled(inline="always")
def needs(address):
    """What a measured walk adds up."""
    return listed_arrays(address + _NEEDS, Needs)


@compiled(inline="always")
def sibling_trie(address, rest):
    """The trie in the table `rest`, or of all tokens where that is 0."""
    return listed_arrays(
        rest if rest else listed_arrays(address + _WHOLE, Whole).address, SiblingTrie
    )
