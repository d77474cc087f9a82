"""What several terms have in common with each character.

A *column* is one of several terms that are combined; a character has a target in some of the
columns. `join` makes one target of these, given by column; `known` keeps its results, by the bytes
of the columns and addresses, as long as the columns live.
"""

from collections.abc import Callable

from maskwright.grammar.regular.terms import Regular

Arc = tuple[int, int, Regular]
Join = Callable[[dict[int, Regular]], Regular]

def joined(current: dict[int, Regular], join: Join, known: dict[bytes, Regular], /) -> Regular:
    """What `join` makes of the targets of a character."""

def spread(columns: list[tuple[Arc, ...]], join: Join, known: dict[bytes, Regular], /) -> list[Arc]:
    """Overlay the transitions of each column by ranges of ASCII, ascending: those of all together,
    without `EMPTY` and with neighbours of one target as one range. At most places most columns have
    a gap. Raises `ValueError` for a range that isn't within ASCII."""
