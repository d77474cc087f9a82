"""A configuration of a grammar, and what has been computed about it."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Final

from maskwright.automaton.machine.exits import Configuration
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
        `mask.names.positions`)."""
    @property
    def moves(self) -> dict[int, Position]:
        """The position after each token that was accepted here, unless it depends on the text."""

class Positions:
    """The positions of a machine, as one grammar's recognizer reaches them, and what can be found
    out about them in compiled code: where the machine lacks nothing for it."""

    def __init__(
        self,
        known: dict[int, Position],
        walk: Walk,
        precomputed: dict[int, PrecomputedMask],
        known_alike: dict[int, int],
        matter: Callable[[int], bool],
        lock: AbstractContextManager[Any],
        /,
    ) -> None:
        """`known`: all positions of the machine but variants, by leaf << 32 | node. `precomputed`:
        by leaf, the part of its masks that ready rows provide, as far as it is known and no context
        matters. `known_alike`: see `VocabularyTables.alike`. `matter`: whether a context is that of
        names that depend on the text."""
    @property
    def walk(self) -> Walk: ...
    @property
    def added(self) -> int:
        """Positions that this grammar was the first to reach on its machine."""
    def at(self, configuration: Configuration, /) -> Position:
        """The position of a configuration, which all grammars of one machine share."""
    def find(self, here: Position, lacking: Callable[[Position, bool], object], /) -> None:
        """Compute the mask row of a position.

        Where the machine lacks something for it, and for a variant, `lacking` is called while the
        lock is held, with the position and whether a walk has stopped for that.
        """
    def after(self, here: Position, token: int, /) -> Position | None:
        """The position after a token, kept as a move, where the machine lacks nothing for it and
        the text doesn't matter. None elsewhere, and for a token that is not allowed or ends the
        text."""
