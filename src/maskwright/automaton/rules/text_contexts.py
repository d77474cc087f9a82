"""The contexts of a grammar that is one regular language of plain text.

There is one context and one leaf; wherever the leaf may be left, the text is complete.
"""

from __future__ import annotations

from collections.abc import Hashable

from maskwright.automaton.leaf.keys import Text
from maskwright.automaton.leaf.table import LeafTable
from maskwright.automaton.machine.contexts import Contexts
from maskwright.automaton.machine.exits import DONE, STAY, Exit
from maskwright.grammar.regular.terms import Regular

_READING = 1


class TextContexts(Contexts):
    """The contexts of the language `term`."""

    def __init__(self, term: Regular, leaves: LeafTable) -> None:
        self._leaf = leaves.state(Text(inside=False, term=term))
        self._dead = leaves.dead

    def start(self) -> tuple[int, int]:
        """The context, and its leaf state."""
        return _READING, self._leaf

    def exit(self, context: int, label: Hashable, text: str | None = None) -> Exit:
        """The end of the text, whatever the label."""
        return Exit(STAY, DONE, self._dead)
