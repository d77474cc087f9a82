"""The arrays that a walk over a vocabulary reads and writes, in one directory with the
machine's."""

# In compiled code array elements are plain numbers, which numpy's type stubs don't express.
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
"""Most leaves that can be left one after another without reading a byte."""

MEMO: Final = 64
"""Entries of a walk's cache of exits, a power of two."""


# Elements of `Scratch.state`.
PHASE: Final = 0
"""The phase of the walk; see `mask.walk.walk`."""
DEPTH: Final = 1
"""Bytes of the current path through the trie."""
WORDS: Final = 2
"""The number of words of `Scratch.added` that are not zero."""
FINGERPRINT: Final = 3
"""The fingerprint of the row so far."""
VISITED: Final = 4
"""The number of trie nodes visited."""
MOST_NEEDED: Final = 5
"""The most bytes needed after any of the tokens, if that is measured."""
LISTED: Final = 6
"""The number of tokens listed."""
SKIPPED_PART: Final = 7
"""The place in `PrecomputedMask.skipped` of the part that applies after the first byte of the
path."""
STATES: Final = 8


class Scratch(NamedTuple):
    """The state of a walk, which it keeps while it is stopped for something that it lacks."""

    leaf: npt.NDArray[np.int32]
    """[depths * CHAIN]: the configuration at each depth, followed by those that can be reached by
    leaving leaves without reading a byte; extended when needed."""
    node: npt.NDArray[np.int32]
    passed: npt.NDArray[np.int32]
    """The dynamic exits passed on the way to each element of the chain; see `PASSED`."""
    known: npt.NDArray[np.int32]
    """[depths]: the number of known elements of the chain; negative if there are no others."""
    living: npt.NDArray[np.uint64]
    """[depths * 4]: bit b of 256 is set if some leaf of the chain accepts byte b."""
    cursor: npt.NDArray[np.int32]
    """[depths]: the next trie node to visit, and the end of its siblings."""
    stop: npt.NDArray[np.int32]
    added: npt.NDArray[np.int32]
    """[words]: the tokens added to the ready row so far; zero between walks."""
    touched: npt.NDArray[np.int32]
    """[words]: the numbers of the words of `added` that are not zero."""
    row: npt.NDArray[np.int32]
    """[2 * words]: two whole rows, for a comparison."""
    left: npt.NDArray[np.int64]
    """[3 * MEMO]: exits taken in this walk: label << 32 | node (-1 is empty), then leaf << 32 |
    node after the exit, then the dynamic exits passed."""
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
    """The bounds that a measuring walk adds up."""

    leaf: npt.NDArray[np.int32]
    """[leaf states]: upper bounds in bytes on leaving each; -1 if not computed yet."""
    node: npt.NDArray[np.int32]
    """[stack nodes]: upper bounds in bytes on completing the text after its leaf; -1 if not
    computed yet."""


class Whole(NamedTuple):
    """The trie of all tokens."""

    address: int
    """The address of its `SiblingTable`."""


class SiblingTable:
    """The addresses of the arrays of a trie."""

    __slots__ = ("_entries", "_kept", "address")

    def __init__(self, fan: SiblingTrie) -> None:
        self._entries = np.zeros(array_table(SiblingTrie), np.int64)
        self._kept = fan
        self.address: Final = int(self._entries.ctypes.data)
        """What compiled code is given; valid as long as the table lives."""
        list_arrays(self.address, fan)


class PrecomputedMask(NamedTuple):
    """The part of a mask that a ready row provides, and the tokens that must still be walked. All
    fields are zero if no row provides any, so that all tokens must be walked."""

    base: int
    """The address of a row of allowed tokens."""
    fingerprint: int
    """The fingerprint of that row; see `mask.walk.row_table`."""
    rest: int
    """The `SiblingTable` of the other tokens that begin with bytes in `skipped`."""
    skipped: int
    """The address of uint8 [3 * 256]: 1 for a byte with which no further token must be walked: at
    the beginning of a token, after a space there, and after another byte there (always 0)."""


class Directory:
    """The addresses of the arrays of one grammar."""

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
        """Store the addresses of these arrays."""
        self.leaves, self.machine, self.rows = leaves, machine, rows
        self.leaf_bounds, self.node_bounds = leaf_bounds, node_bounds
        self._kept = (whole, spelling, scratch)
        list_machine(self.address, leaves, machine)
        list_arrays(self.address + _ROWS, rows)
        list_arrays(self.address + _SPELLING, spelling)
        list_arrays(self.address + _SCRATCH, scratch)
        list_arrays(self.address + _NEEDS, Needs(leaf_bounds, node_bounds))
        list_arrays(self.address + _WHOLE, Whole(whole.address))


# The table of a grammar: that of its machine, then the other arrays of a walk. Offsets in bytes.
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
