"""A configuration of a grammar, and what has been found out about it."""

from __future__ import annotations

from typing import Final

from maskwright.automaton.machine.exits import Configuration

UNKNOWN: Final = 1 << 60


class Position:
    """Filled in by its grammar. Each configuration has one, so positions are equal if they are the
    same object."""

    __slots__ = (
        "accepting",
        "complete",
        "configuration",
        "enough",
        "forced",
        "moves",
        "record",
        "row",
    )

    def __init__(self, configuration: Configuration) -> None:
        self.configuration: Final = configuration
        self.moves: Final[dict[int, Position]] = {}
        """Where tokens lead, but for those that end a name or item that must be new."""
        self.row = -1
        """The number of the mask's row."""
        self.record = 0
        """Where that row is (see `rows.write_row`), 0 if it isn't known yet."""
        self.enough = UNKNOWN
        """With this many tokens left, every token of the mask leaves enough for a completion."""
        self.forced: bytes | None = None
        """The one byte that must come next, empty if none must, None if it hasn't been asked."""
        self.accepting: bool | None = None
        """Whether the text may end here, None if it hasn't been asked."""
        self.complete: bool | None = None
        """Whether, besides, nothing but an end token may follow."""
