"""A configuration of a grammar, and what has been computed about it."""

from __future__ import annotations

from typing import Final

from maskwright.automaton.machine.exits import Configuration

UNKNOWN: Final = 1 << 60
"""A budget that nobody has: `sufficient_budget` where it has not been computed."""


def unpacked(packed: int) -> Configuration:
    """The configuration that compiled code gives as leaf << 32 | node."""
    return Configuration(packed >> 32, packed & 0xFFFFFFFF)


class Position:
    """Filled in by those who compute. Each configuration of a machine has one position, so two
    positions are equal if they are one object."""

    __slots__ = (
        "accepting",
        "complete",
        "configuration",
        "forced_byte",
        "moves",
        "record",
        "row",
        "sufficient_budget",
    )

    def __init__(self, configuration: Configuration) -> None:
        self.configuration: Final = configuration
        self.moves: Final[dict[int, Position]] = {}
        """Where tokens lead that were accepted here, except where that depends on the text."""
        self.row = -1
        """The number of the mask in the row table, -1 if it hasn't been computed."""
        self.record = 0
        """The address of that row's record (see `walk.row_table`), 0 if it hasn't been computed."""
        self.sufficient_budget = UNKNOWN
        """With a budget of so many tokens or more, the mask is the one without a budget: after any
        of its tokens enough are left to complete the text."""
        self.forced_byte: bytes | None = None
        """The one byte that must come next, b"" if several may, None if it hasn't been asked."""
        self.accepting: bool | None = None
        """Whether the text may end here, None if it hasn't been asked."""
        self.complete: bool | None = None
        """Whether the text may end here and nothing but an end token may follow."""
