from typing import Final

import numpy as np
import numpy.typing as npt

DEAD: Final = -1
"""Instead of a state: the byte leads nowhere."""
UNBUILT: Final = -2
"""Instead of the number of a row: the state has none yet."""

Int32 = npt.NDArray[np.int32]
UInt8 = npt.NDArray[np.uint8]
Row = dict[int, int]

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
    def weigh(self, state: int, weights: npt.NDArray[np.int64], /) -> int:
        """The sum of the `weights` [256] of the bytes that lead somewhere from a built state."""
    def first_bytes(self, state: int, order: bytes, /) -> list[tuple[int, int]]:
        """Each state that a byte of `order` leads to from a built state, once, after the first such
        byte."""
    def fill(self, state: int, targets: Row, trunk: int | None, /) -> None:
        """Give `state` its row, the next states by byte; other bytes lead nowhere. If `trunk` is a
        row, the row is stored as its differences from that, where they are few."""
    def override(self, state: int, trunk: int, overrides: Row, /) -> None:
        """Give `state` the row `trunk`, but for some bytes."""

class WordPlaces:
    """The places in a list of words, numbered: the root, then for each word the places that the
    words before it don't have."""

    size: Final[int]
    """How many places there are."""

    def __init__(self, words: tuple[str, ...], /) -> None:
        """`words`: sorted, each ASCII."""
    def place(self, word: int, depth: int, /) -> int:
        """The place after `depth` characters of a word that does not share all of them with the
        one before it."""
    def words_at(self, place: int, /) -> tuple[int, int, int]:
        """The first of the words that go on from a place or end there, one more than the last of
        them, and how many characters have been read."""
    def fill(
        self,
        rows: LeafRows,
        state: int,
        ends: list[int],
        trunks: tuple[int, ...],
        alike: tuple[int, ...],
        is_open: bool,
        bare: bool,
        gated: bool,
        /,
    ) -> None:
        """Give the states from `state` on their rows, and what else is known by state. They are of
        five kinds, one for each place in each: between characters, after a backslash, after `\\u`,
        after `\\u0`, and after `\\u00`; the rows of these last states are built elsewhere.

        `ends` [words]: the states after the words' closing quotes. `trunks` [4]: by kind, the row
        that the rows of its states differ from in a few bytes. `alike` [5]: by kind, `ready_leaf`
        of its states. `is_open`: whether other texts are read beside
        the words; `bare`: whether no character of the words may be escaped where it need not be;
        `gated`: whether the states are alive only where one of their words may come."""
