"""The levels of JSON that the grammars of one kind have met, numbered: the contexts of a machine.

Grammars of one kind differ in nothing but their schemas. Values whose schemas are written equally
share one level, and all levels within it. The grammar that met a level first is its *owner*: it
answers the machine's questions with the solver of its own schema, and is kept alive for that.
"""

from __future__ import annotations

from collections.abc import Hashable

from maskwright.automaton.machine.contexts import Bound, Contexts, Ending
from maskwright.automaton.machine.exits import Exit
from maskwright.automaton.value.level import Level, LevelPhase, Thread
from maskwright.grammar.regular.terms import Regular
from maskwright.grammar.schema.tree import Schema
from maskwright.grammar.shape.shape import Conjunction


class Levels(Contexts):
    """The contexts of all owners of levels."""

    def __init__(self) -> None:
        self.known: list[Level] = []
        """Each level, by its context."""
        self.same: dict[bytes, Conjunction] = {}
        """The conjunction that represents all schemas with this `Schema.key`."""
        self.scalars: dict[tuple[Regular, Regular], Conjunction] = {}
        """The conjunction that represents all that allow just these strings and other scalars."""
        self._contexts: dict[Level, int] = {}
        self._owners: list[Contexts] = []

    def context(self, level: Level, owner: Contexts) -> int:
        """The context of a level; `owner` becomes its owner if it is new."""
        known = self._contexts.get(level)
        if known is None:
            known = self.add(level, owner)
        return known

    def find(self, level: Level) -> int | None:
        """The context of a level, if it has been met."""
        return self._contexts.get(level)

    def add(self, level: Level, owner: Contexts) -> int:
        """The context of a level that is new."""
        context = self._contexts[level] = len(self.known)
        self.known.append(level)
        self._owners.append(owner)
        return context

    def knows(self, root: Schema) -> bool:
        """Whether a root schema has been met before."""
        return self._root(root) is not None

    def begun(self, root: Schema) -> tuple[int, int] | None:
        """The first context and leaf state of a root schema that has been met before."""
        context = self._root(root)
        leaf = None if context is None else self._owners[context].value_leaf(context)
        return None if context is None or leaf is None else (context, leaf)

    def _root(self, root: Schema) -> int | None:
        value = None if root.key is None else self.same.get(root.key)
        if value is None:
            return None
        return self.find(Level(LevelPhase.VALUE, "", (Thread(0, None, value),), 0))

    def release(self) -> None:
        for owner in set(self._owners):
            owner.release()
        self._owners.clear()

    # The machine's questions

    def exit(self, context: int, label: Hashable, text: str | None = None) -> Exit:
        return self._owners[context].exit(context, label, text)

    def gate(self, context: int) -> tuple[int, int] | None:
        return self._owners[context].gate(context)

    def level(self, context: int) -> Level | None:
        return self.known[context]

    def finish(
        self, contexts: list[int], leaf: int, before: bytes, *, names: bool = True
    ) -> Ending:
        return self._owners[contexts[-1]].finish(contexts, leaf, before, names=names)

    def bound(self, context: int) -> Bound | None:
        return self._owners[context].bound(context)

    def without_names(self, context: int) -> int:
        return self._owners[context].without_names(context)

    def leaf_without_names(self, context: int, leaf: int) -> int | None:
        return self._owners[context].leaf_without_names(context, leaf)
