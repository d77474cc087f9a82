from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

DEAD: Final = -1
"""Instead of a state: the byte leads nowhere."""
UNBUILT: Final = -2
"""Instead of the number of a row: the state has none yet."""

Int32 = npt.NDArray[np.int32]
UInt8 = npt.NDArray[np.uint8]
Row = dict[int, int]

class Overrides(NamedTuple):
    """The bytes by which the rows of states differ from another, one state after the other."""

    start: Int32
    """[states + 1]"""
    byte: UInt8
    target: Int32

class LeafRows:
    """Grows only. An array is replaced by a longer one when it has to grow."""

    rows: Final[int]
    """How many there are."""
    targets: Final[Int32]
    """[rows, 256]: next state by byte."""
    living: Final[npt.NDArray[np.uint64]]
    """[rows, 4]: bit b of a row's 256 is set where byte b has a next state."""
    base: Final[Int32]
    """[states]: row of a state, or UNBUILT."""
    override_start: Final[Int32]
    override_stop: Final[Int32]
    override_byte: Final[UInt8]
    override_next: Final[Int32]
    label: Final[Int32]
    """[states]: label id, 0 if the state can't be left."""
    gate_low: Final[Int32]
    gate_high: Final[Int32]
    """[states]: names that can still be reached; high 0 is no gate."""
    eager: Final[UInt8]
    """[states]: 1 where the leaf is left as soon as the state is reached; see `leaving`."""
    ready_leaf: Final[Int32]
    """[states]: for a place in a list of words the state whose `PrecomputedMask` serves it too; 0
    elsewhere."""

    def __init__(self) -> None: ...
    def is_built(self, state: int, /) -> bool: ...
    def make_room(self, state: int, /) -> None:
        """Make room for a state."""
    def next_states(self, state: int, /) -> Row:
        """Byte → next state of a built state."""
    def store(self, state: int, row: Int32, trunk: int | None, /) -> None:
        """Give `state` its row (int32 [256]), if `trunk` is one as its differences from that."""
    def override(self, state: int, trunk: int, overrides: Row, /) -> None:
        """Give `state` the row `trunk`, but for some bytes."""
    def override_all(self, state: int, trunks: tuple[int, ...], rows: Overrides, /) -> None:
        """Give states from `state` on the rows `trunks`, each to an equal part of the states one
        after the other, but for some bytes."""

class WordPlaces:
    """The places in a list of words, numbered: the root, then those of each word that the words
    before it don't have."""

    size: Final[int]
    """How many places there are."""
    low: Final[Int32]
    """By place: the first of the words that go on from it, or end there."""
    high: Final[Int32]
    """By place: one more than the last of them."""
    ended: Final[Int32]
    """By place: 1 where a word ends."""
    depth: Final[Int32]
    """By place: how many bytes have been read."""
    first: Final[Int32]
    """By word: the place after the first byte that it does not share with the one before it."""
    shared: Final[Int32]
    """By word: how many bytes it shares with the one before it."""

    def __init__(self, text: bytes, stop: Int32, /) -> None:
        """`text`: the words one after the other, each ASCII. `stop`: where each ends there."""
    def rows(self, state: int, ends: Int32, is_open: bool, bare: bool, /) -> Overrides:
        """Fill in what is known by place, and return the overrides of all places, then of those
        after a backslash.

        `state`: the first of the states: one for each place, then one after a backslash at each,
        then one after `\\u` at each. `ends` [words]: the states after the words' closing quotes.
        `is_open`: whether other texts are read beside the words; `bare`: whether no character of
        the words may be escaped where it need not be."""
