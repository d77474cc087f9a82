"""The contexts of a grammar that is one regular language of plain text.

There is one context and one leaf; wherever the leaf may be left, the text is complete.
"""

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
    """Implements `Contexts` and `Finisher` for the language `term`."""

    def __init__(self, term: Regular, leaves: LeafTable) -> None:
        self._leaf = leaves.state(Text(inside=False, term=term))
        self._dead = leaves.dead

    def start(self) -> tuple[int, int]:
        """The context, and its leaf state."""
        return _READING, self._leaf

    def release(self) -> None:
        """Nothing: there are no cycles."""

    def exit(self, context: int, label: Hashable, text: str | None = None) -> Exit:
        """The end of the text, whatever the label."""
        return Exit(STAY, DONE, self._dead)

    def gate(self, context: int) -> tuple[int, int] | None:
        """None: there are no property names."""
        return None

    def level(self, context: int) -> None:
        """None: there is no JSON."""
        return

    def finish(
        self, contexts: list[int], leaf: int, before: bytes, *, names: bool = True
    ) -> Ending:
        """Nothing is missing once the leaf has been left."""
        return Ending(b"")

    def without_names(self, context: int) -> int:
        """The context itself: there are no names."""
        return context

    def leaf_without_names(self, context: int, leaf: int) -> int | None:
        """The leaf itself: there are no names."""
        return leaf

    def bound(self, context: int) -> Bound | None:
        """Nothing is missing once the leaf has been left."""
        return Bound(0, 0)
