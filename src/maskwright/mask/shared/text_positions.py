"""The positions of a machine that depend on the text, and not on its configuration alone.

They are kept for all grammars of the machine, so that a schema that is compiled again knows those
of the texts that were read before.
"""

from __future__ import annotations

from hashlib import blake2b
from itertools import count
from typing import Final

from maskwright.automaton.machine.exits import Configuration
from maskwright.mask.position import Position

MOST_TEXTS: Final = 10_000
"""Texts whose position is kept: the ones read last."""
LONGEST_TEXT: Final = 4_096
"""Bytes of the longest of them: to look a longer one up takes as long as to find its position."""
_MOST_VARIANTS: Final = 10_000
_TEXT_BYTES: Final = 260
"""Estimated bytes that a kept text takes: its digest, and the entry of the dictionary."""
_VARIANT_BYTES: Final = 700
"""Estimated bytes of a position within a name, with its moves and what it excludes."""


class TextPositions:
    """Those of one machine. Not thread-safe: the lock of the vocabulary's tables guards it."""

    def __init__(self) -> None:
        self._numbers = count(1)
        self._variants: dict[tuple[Configuration, frozenset[bytes] | None], Position] = {}
        """By configuration, and what is excluded; None where the name is certainly a new one."""
        self._after: dict[tuple[Configuration, bytes], Position] = {}
        """By the configuration in which the text began, and the digest of the text, the oldest
        first. Drafts that are rolled back, and the next answers, have many texts again."""

    @property
    def nbytes(self) -> int:
        """Estimated bytes of all positions and texts."""
        return _TEXT_BYTES * len(self._after) + _VARIANT_BYTES * len(self._variants)

    def variant(self, here: Configuration, excluded: frozenset[bytes] | None) -> Position:
        """The position of a configuration within a name, for what the text excludes there; None
        where no name that the text has begins as the present one."""
        key = (here, excluded)
        known = self._variants.get(key)
        if known is None:
            if len(self._variants) >= _MOST_VARIANTS:
                self._variants.clear()
            known = self._variants[key] = Position(here, excluded or frozenset())
            known.begins_no_name = excluded is None
            known.variant = next(self._numbers)
        return known

    def after(self, start: Configuration, text: bytes) -> Position | None:
        """The position after a text that began in the configuration `start`, if it is known."""
        return self._after.get((start, _digest(text))) if len(text) <= LONGEST_TEXT else None

    def keep(self, start: Configuration, text: bytes, position: Position) -> None:
        """Remember the position after a text that began in the configuration `start`."""
        if len(text) > LONGEST_TEXT:
            return
        self._after[start, _digest(text)] = position
        if len(self._after) > MOST_TEXTS:
            del self._after[next(iter(self._after))]

    def release(self) -> None:
        """Break the cycles of references between positions."""
        for position in self._variants.values():
            position.moves.clear()


def _digest(text: bytes) -> bytes:
    """Stands for a text: that two texts have the same digest is not to be expected."""
    return blake2b(text, digest_size=16).digest()
