"""Transitions by classes of characters, the form in which derivatives are computed, and what
several terms have in common with each character.

A class of Unicode has hundreds of ranges, and they move together: `\\w` in a dozen terminals side
by side is one set with a dozen targets. So beyond ASCII, transitions are pairs of a set and a
target, and where terms are combined it is their sets that are overlaid, each combination once.

A *column* is one of several terms that are combined; a character has a target in some of the
columns. `join` makes one target of these, given by column; `known` keeps its results, by the bytes
of the columns and addresses, as long as the columns live.
"""

from collections.abc import Callable, Sequence
from typing import Final

from maskwright.grammar.regular.terms import Chars, Regular

Arc = tuple[int, int, Regular]
Pair = tuple[Chars, Regular]
Join = Callable[[dict[int, Regular]], Regular]

class Split:
    """The transitions of a term: disjoint and ascending ranges of ASCII, and disjoint sets of
    characters beyond."""

    ascii: Final[tuple[Arc, ...]]
    beyond: Final[tuple[Pair, ...]]

    def __init__(self, ascii: tuple[Arc, ...], beyond: tuple[Pair, ...], /) -> None: ...
    @property
    def targets(self) -> list[Regular]:
        """Each target once."""
    def arcs(self) -> list[Arc]:
        """The transitions by ranges, ascending; neighbours with one target are one range."""
    def after(self, point: int, /) -> Regular:
        """The target of one character."""
    def within(self, low: int, high: int, /) -> list[tuple[Regular, int, int]]:
        """The targets of the characters from `low` to `high`, each with the first character that
        leads there and how many do; a target may occur more than once."""

NOWHERE: Final[Split]
"""No transitions."""

def parted(arcs: Sequence[Arc], /) -> Split:
    """Transitions that are listed by ranges."""

def overlaid(columns: Sequence[Split], join: Join, /) -> Split:
    """Several at once: `join` gets the columns that have a target for a character."""

def joined(current: dict[int, Regular], join: Join, known: dict[bytes, Regular], /) -> Regular:
    """What `join` makes of the targets of a character."""

def spread(columns: list[tuple[Arc, ...]], join: Join, known: dict[bytes, Regular], /) -> list[Arc]:
    """Overlay the transitions of each column by ranges of ASCII, ascending: those of all together,
    without `EMPTY` and with neighbours of one target as one range. At most places most columns have
    a gap. Raises `ValueError` for a range that isn't within ASCII."""
