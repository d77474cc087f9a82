"""A configuration of a grammar, and what has been computed about it."""

from collections.abc import Callable, Hashable
from threading import RLock
from typing import Final

import numpy as np
import numpy.typing as npt

from maskwright.automaton.machine.exits import Configuration
from maskwright.mask.walk.row_table import RowTable
from maskwright.mask.walk.walk import PrecomputedMask, Walk

UNKNOWN: Final[int]
"""A budget larger than any: the `sufficient_budget` of a position before it is computed."""

def unpacked(packed: int, /) -> Configuration:
    """Return the configuration that compiled code returns as leaf << 32 | node."""

class Position:
    """A configuration with what has been computed about it. Each configuration of a machine has one
    position, so equal positions are one object; but within a property name that must differ from
    others, it has one position for each set of endings that the text excludes, and one for a name
    that no other begins with."""

    leaf: Final[int]
    node: Final[int]
    """The parts of its configuration."""
    variant: int
    """Which of the positions of the configuration this is: 0 is that of most texts."""
    begins_no_name: bool
    """Within a property name: whether no name that the text has begins as the present one."""
    by_text: dict[int, Configuration | None] | None
    """The tokens that were accepted here and after which the position depends on the text, each
    with the configuration, None if that depends on the text too; None if there is no such
    token."""
    row: int
    """The number of the mask in the row table, -1 if it hasn't been computed."""
    sufficient_budget: int
    """A budget, in tokens, from which on a budget doesn't change the mask: after each allowed
    token, enough tokens are left to complete the text."""
    forced_byte: bytes | None
    """The only byte that may come next, b"" if there are several, None if not computed yet."""
    accepting: bool | None
    """Whether the text may end here; None if not computed yet."""
    complete: bool | None
    """Whether the text may end here and nothing but an end token may follow."""

    def __init__(
        self, configuration: Configuration, excluded: frozenset[bytes] = frozenset()
    ) -> None: ...
    @property
    def configuration(self) -> Configuration: ...
    @property
    def excluded(self) -> frozenset[bytes]:
        """Within a property name: the beginnings of tokens, each up to the closing quote, that
        would repeat a name of the object. The mask has no token that begins so (see
        `mask.name_positions`)."""
    def moved(self, token: int, /) -> Position | None:
        """The position after a token that was accepted here; None for others, and where it depends
        on the text."""
    def keep(self, token: int, following: Position, /) -> None:
        """Keep the position after a token, which doesn't depend on the text."""
    def forget(self) -> None:
        """Forget the positions after all tokens. A garbage collection doesn't look for cycles of
        positions, so this has to be called before the last reference to one is gone."""

class Positions:
    """The positions of a machine, as one grammar's recognizer reaches them, and what can be found
    out about them in compiled code: where the machine lacks nothing for it."""

    def __init__(
        self,
        known: dict[int, Position],
        walk: Walk,
        precomputed: dict[int, PrecomputedMask],
        known_alike: dict[int, int],
        labels: list[Hashable],
        matter: Callable[[int], bool],
        lock: RLock,
        /,
    ) -> None:
        """`known`: all positions of the machine but variants, by leaf << 32 | node. `precomputed`:
        by leaf, the part of its masks that ready rows provide, as far as it is known and no context
        matters. `known_alike`: see `VocabularyTables.alike`. `labels`: by number, the labels of
        leaf states. `matter`: whether a context is that of names that depend on the text."""
    @property
    def walk(self) -> Walk: ...
    @property
    def added(self) -> int:
        """Positions that this grammar was the first to reach on its machine."""
    def at(self, configuration: Configuration, /) -> Position:
        """The position of a configuration, which all grammars of one machine share."""
    def find(
        self, here: Position, lacking: Callable[[Position, PrecomputedMask | None], object], /
    ) -> None:
        """Compute the mask row of a position.

        Where the machine lacks something for it, and for a variant, `lacking` is called while the
        lock is held, with the position, and with the part of the mask that is ready if a walk
        besides it has stopped for that.
        """
    def after(self, here: Position, token: int, /) -> Position | None:
        """The position after a token, kept as a move, where the machine lacks nothing for it and
        the text doesn't matter. None elsewhere, and for a token that is not allowed or ends the
        text."""
    def after_every_text(
        self, here: Position, tokens: npt.NDArray[np.int32], /
    ) -> npt.NDArray[np.bool_]:
        """For which of the `tokens`, int32 `[n]`, `after` has a position, bool `[n]`; no moves are
        kept. Raises `IndexError` for what is no token."""

class PositionPath:
    """The positions of a text, from its beginning on: what a matcher has of its grammar, with all
    that is done for each token."""

    _path: list[Position]
    """The position at the beginning and after each step."""
    _steps: list[int | bytes]
    """The accepted tokens, and what was accepted as bytes."""
    @property
    def _rows(self) -> RowTable: ...
    def __init__(
        self, first: Position, positions: Positions | None, rows: RowTable, size: int, /
    ) -> None:
        """`first`: where the text begins. `positions`: None if each mask and each move has to be
        asked for. `rows`: the table of masks. `size`: tokens in the vocabulary."""
    @property
    def row(self) -> int:
        """The number of the current mask in the row table of the vocabulary."""
    def fill_mask(self, out: npt.NDArray[np.int32], budget: int | None = None) -> None:
        """Write the mask to `out`: bit i of word w (int32, ceil(V/32)) allows token 32*w+i.

        `budget`: the number of tokens that may still come, the next one included. Only tokens are
        allowed after which the text can be completed within it. After an end token nothing is
        allowed.

        Raises `BudgetError` if the budget doesn't suffice for any completion, `ValueError` for an
        array of another type or shape, `InputError` for a budget that is no whole number, and
        `UnspellableError` if `accept_bytes` has led to a place from which no tokens of the
        vocabulary can continue.
        """
    def accept(self, token: int) -> bool:
        """Append a token. Returns False, without a change, if the mask doesn't allow it.

        Raises `InputError` for what is no id of the vocabulary.
        """
    def _find_lacking(self, here: Position, stopped: PrecomputedMask | None) -> None:
        """Find the row of a position for which the machine lacks something; see `Positions.find`.
        This and the next two are the matcher's."""
    def _fill(self, out: npt.NDArray[np.int32], budget: int | None) -> None:
        """Do as `fill_mask`, where a budget may make a difference, and for objects of any kind."""
    def _after_lacking(self, token: int) -> Position | None:
        """Do as `_after`, for what the machine lacks something for, and for other tokens."""
    def _after(self, token: int) -> Position | None:
        """Return the position after a token that was not accepted here before; None if the mask
        doesn't allow it."""
