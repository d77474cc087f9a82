from collections.abc import Callable, Iterable, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from maskwright.automaton.machine.machine import Machine
from maskwright.automaton.machine.step import MachineArrays
from maskwright.mask.walk.row_table import Ready, RowTable
from maskwright.vocab.trie import SiblingTrie

UNMEASURED: Final = -5
"""Instead of a limit of bounds: they are not computed."""
LEAF_NEED: Final = -11
NODE_NEED: Final = -12
"""The second halves of requests of a measured walk: for the bound of a leaf state, of a node."""

class Scratch:
    """The state of a walk, which it keeps while it is stopped for something that it lacks."""

    def __init__(self, height: int, words: int, /) -> None:
        """`height`: length of the longest token in bytes. `words`: of a mask row."""
    @property
    def visited(self) -> int:
        """How many nodes of the trie the last walk has visited."""
    @property
    def most_needed(self) -> int:
        """The most bytes needed after any of the tokens, if that was measured."""
    @property
    def listed(self) -> int:
        """How many tokens were listed."""

class Spelling:
    """The vocabulary's tokens as the machine reads them: token i is data[start[i]:start[i + 1]]."""

    def __init__(self, spellings: Sequence[bytes], eos: Iterable[int], /) -> None: ...
    @property
    def data(self) -> npt.NDArray[np.uint8]: ...
    @property
    def start(self) -> npt.NDArray[np.int64]: ...
    @property
    def eos(self) -> npt.NDArray[np.int64]: ...

class UpperBounds:
    """A bound for each leaf state or node; -1 if it isn't known."""

    def __init__(self) -> None: ...
    def __getitem__(self, at: int, /) -> int: ...
    def __setitem__(self, at: int, bound: int, /) -> None: ...

class PrecomputedMask:
    """The part of a mask that a ready row provides, and the tokens that must still be walked."""

    def __init__(
        self,
        ready: Ready | None,
        rests: tuple[SiblingTrie, ...],
        skipped: npt.NDArray[np.uint8] | None,
        leaf: int = ...,
        /,
    ) -> None:
        """`ready`: a row of allowed tokens; None if no row provides any, and all tokens must be
        walked. `rests`: the other tokens that begin with bytes in `skipped`. `skipped` [3 * 256]: 1
        for a byte with which no further token must be walked: at the beginning of a token, after a
        space there, and after another byte there (always 0). `leaf`: a state in which the same of
        the other tokens may follow, whatever the context; they are walked from there, unless they
        are listed or measured. `DEAD` for none."""
    @property
    def ready(self) -> Ready | None: ...
    @property
    def rests(self) -> tuple[SiblingTrie, ...]: ...
    @property
    def skipped(self) -> npt.NDArray[np.uint8] | None: ...
    @property
    def leaf(self) -> int: ...

NOTHING: Final[PrecomputedMask]
"""No row provides any tokens."""

class Walk:
    """Walks of one machine over one vocabulary. Raises `IndexError` for what is no configuration.

    Not thread-safe: its owner serialises, since a walk of many nodes releases Python's lock.
    """

    def __init__(
        self,
        machine: MachineArrays,
        rows: RowTable,
        trie: SiblingTrie,
        spelling: Spelling,
        scratch: Scratch,
        leaf_bounds: UpperBounds,
        node_bounds: UpperBounds,
        /,
    ) -> None:
        """`trie`: of all tokens. `leaf_bounds`: upper bounds in bytes on leaving each leaf state;
        `node_bounds`: on completing the text after the leaf on top of each node."""
    @property
    def scratch(self) -> Scratch: ...
    def find_row(
        self,
        leaf: int,
        node: int,
        known: PrecomputedMask,
        limit: int,
        resumed: bool,
        found: npt.NDArray[np.int32] | None,
        /,
    ) -> int:
        """The number of the mask row at a configuration.

        `PENDING` if something has to be supplied first: requests of the machine, or bounds. Then it
        is called again with the same arguments and `resumed`.

        In `found` (int32 [3, V]) each token that is walked and allowed is listed with the leaf and
        node after it; the scratch says how many there are. With a `limit` other than `UNMEASURED`,
        an upper bound of the bytes needed after each token is computed (`mask.shared.leaf_bounds`):
        `most_needed` in the scratch is the largest of these bounds, and only tokens whose bound
        exceeds the limit are listed.
        """
    def supplied_row(
        self,
        leaf: int,
        node: int,
        known: PrecomputedMask,
        limit: int,
        stopped: bool,
        found: npt.NDArray[np.int32] | None,
        machine: Machine,
        bound: Callable[[int, int], object],
        /,
    ) -> int:
        """Like `find_row`, once all is supplied that is lacking: by `machine`, whose arrays are the
        walk's, and bounds by `bound`, which is called with a leaf state or node and `LEAF_NEED` or
        `NODE_NEED`. `stopped`: whether the same walk has stopped before."""
    def take_token(self, leaf: int, node: int, token: int, /) -> int:
        """The configuration after a token, as `MachineArrays.take_bytes` returns it."""
    def read_endings(
        self,
        leaf: int,
        node: int,
        tokens: npt.NDArray[np.int32],
        first: int,
        lengths: npt.NDArray[np.int32],
        /,
    ) -> int:
        """Write to `lengths` (int32 [n]) with how many of its bytes each of the `tokens` (int32
        [n]) ends the name that is being read, 0 if it doesn't: from the index `first` on.

        Returns the index of a token for which the machine lacks something, n after the last one.
        """
