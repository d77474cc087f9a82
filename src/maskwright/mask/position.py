"""A configuration of a grammar, and what has been computed about it."""

from __future__ import annotations

from typing import Final

from maskwright.automaton.machine.exits import Configuration

UNKNOWN: Final = 1 << 60
"""A budget larger than any: the `sufficient_budget` of a position before it is computed."""


def unpacked(packed: int) -> Configuration:
    """Return the configuration that compiled code returns as leaf << 32 | node."""
    return Configuration(packed >> 32, packed & 0xFFFFFFFF)


class Position:
    """A configuration with what has been computed about it. Each configuration of a machine has one
    position, so equal positions are one object; but within a property name that must differ from
    others, it has one position for each set of endings that the text excludes, and one for a name
    that no other begins with."""

    __slots__ = (
        "accepting",
        "begins_no_name",
        "by_text",
        "complete",
        "configuration",
        "excluded",
        "forced_byte",
        "moves",
        "row",
        "sufficient_budget",
        "variant",
    )

    def __init__(
        self, configuration: Configuration, excluded: frozenset[bytes] = frozenset()
    ) -> None:
        self.configuration: Final = configuration
        self.excluded: Final = excluded
        """Within a property name: the beginnings of tokens, each up to the closing quote, that
        would repeat a name of the object. The mask has no token that begins so (see
        `mask.names.positions`)."""
        self.variant = 0
        """Which of the positions of the configuration this is: 0 is that of most texts."""
        self.begins_no_name = False
        """Within a property name: whether no name that the text has begins as the present one."""
        self.moves: Final[dict[int, Position]] = {}
        """The position after each token that was accepted here, unless it depends on the text."""
        self.by_text: dict[int, Configuration | None] | None = None
        """The tokens that were accepted here and after which the position depends on the text, each
        with the configuration, None if that depends on the text too; None if there is no such
        token."""
        self.row = -1
        """The number of the mask in the row table, -1 if it hasn't been computed."""
        self.sufficient_budget = UNKNOWN
        """A budget, in tokens, from which on a budget doesn't change the mask: after each allowed
        token, enough tokens are left to complete the text."""
        self.forced_byte: bytes | None = None
        """The only byte that may come next, b"" if there are several, None if not computed yet."""
        self.accepting: bool | None = None
        """Whether the text may end here; None if not computed yet."""
        self.complete: bool | None = None
        """Whether the text may end here and nothing but an end token may follow."""
