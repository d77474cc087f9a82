"""A grammar that is one regular language of plain text, as contexts of the byte machine."""

from __future__ import annotations

from collections.abc import Hashable

from maskwright.automaton.finish.bounds import Bound
from maskwright.automaton.finish.levels import Ending
from maskwright.automaton.leaf.keys import Text
from maskwright.automaton.leaf.table import LeafTable
from maskwright.automaton.machine.exits import DONE, STAY, Exit
from maskwright.grammar.regular.terms import Regular

_READING = 1


class TextContexts:
    """Implements `machine.Contexts`: one leaf, and the text is done wherever it may be left."""

    def __init__(self, term: Regular, leaves: LeafTable) -> None:
        self._leaf = leaves.state(Text(inside=False, term=term))
        self._dead = leaves.dead

    def start(self) -> tuple[int, int]:
        return _READING, self._leaf

    def exit(self, context: int, label: Hashable, text: str | None = None) -> Exit:
        return Exit(STAY, DONE, self._dead)

    def gate(self, context: int) -> tuple[int, int] | None:
        return None

    def level(self, context: int) -> None:
        return None

    def finish(self, contexts: list[int], leaf: int, before: bytes) -> Ending:
        """Never asked for: leaving the leaf ends the text."""
        return Ending(b"")

    def bound(self, context: int) -> Bound | None:
        return Bound(0, 0)
