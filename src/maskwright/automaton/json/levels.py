"""The levels of JSON that the grammars of one kind have met, numbered: the contexts of a machine.

Grammars of one kind differ in nothing but their schemas. Values whose schemas are written equally
share one level, and all levels within it. The grammar that met a level first is its *owner*: it
answers the machine's questions with the solver of its own schema, and is kept alive for that.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from maskwright.automaton.json.plain_reader import PlainReader
from maskwright.automaton.machine.contexts import Bound, Contexts, Ending
from maskwright.automaton.machine.exits import Exit
from maskwright.automaton.value.level import Level, LevelPhase, Thread
from maskwright.automaton.value.progress import ObjectProgress
from maskwright.grammar.regular.terms import Regular
from maskwright.grammar.schema.tree import Schema
from maskwright.grammar.shape.shape import Conjunction, ObjectShape

_Key = tuple[Any, ...]
"""Phase, depth and tag, the number of the shape, and the other fields of the progress."""


class Levels(Contexts):
    """The contexts of all owners of levels."""

    def __init__(self) -> None:
        self._known: list[Level | _Key] = []
        """By context: the level, or the key from which it is made when it is asked for."""
        self.same: dict[bytes, Conjunction] = {}
        """The conjunction that represents all schemas with this `Schema.key`."""
        self.scalars: dict[tuple[Regular, Regular], Conjunction] = {}
        """The conjunction that represents all that allow just these strings and other scalars."""
        self._contexts: dict[Level | _Key, int] = {}
        self._owners: list[Contexts] = []
        self._shapes: list[ObjectShape] = []
        self._numbers: dict[ObjectShape, int] = {}
        """The numbers of shapes of objects, indexes of `_shapes`; equal shapes have one."""
        self._numbers_by_id: dict[int, tuple[int, ObjectShape]] = {}
        """The number of a shape by its identity, which is looked up more quickly."""

    def context(self, level: Level, owner: Contexts) -> int:
        """The context of a level; `owner` becomes its owner if it is new."""
        return self._context(self._key(level), owner)

    def before_name(self, phase: LevelPhase, reader: PlainReader, owner: Contexts) -> int:
        """The context of the level of an object in which `reader` reads the next name."""
        return self._context(reader.key(phase, self._number(reader.shape)), owner)

    def _context(self, key: Level | _Key, owner: Contexts) -> int:
        known = self._contexts.get(key)
        if known is None:
            known = self._contexts[key] = len(self._known)
            self._known.append(key)
            self._owners.append(owner)
        return known

    def find(self, level: Level) -> int | None:
        """The context of a level, if it has been met."""
        return self._contexts.get(self._key(level))

    def __getitem__(self, context: int) -> Level:
        """The level that a context stands for."""
        level = self._known[context]
        if not isinstance(level, Level):
            phase, depth, tag, shape, *rest = level
            progress = ObjectProgress(self._shapes[shape], *rest)
            level = self._known[context] = Level(phase, "{", (Thread(tag, progress),), depth)
        return level

    def __len__(self) -> int:
        return len(self._known)

    def _key(self, level: Level) -> Level | _Key:
        """What stands for a level: of an object in one thread the parts, as `PlainReader.key` gives
        them, which take less to compare than the level."""
        if level.bracket != "{" or len(level.threads) != 1:
            return level
        thread = level.threads[0]
        if thread.value is not None or not isinstance(thread.progress, ObjectProgress):
            return level
        shape, *rest = thread.progress
        return (level.phase, level.depth, thread.tag, self._number(shape), *rest)

    def _number(self, shape: ObjectShape) -> int:
        known = self._numbers_by_id.get(id(shape))
        if known is not None:
            return known[0]
        number = self._numbers.setdefault(shape, len(self._shapes))
        if number == len(self._shapes):
            self._shapes.append(shape)
        self._numbers_by_id[id(shape)] = number, shape
        return number

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
        level = self._known[context]
        if level[0] is LevelPhase.NEXT:
            return None
        return self._owners[context].gate(context)

    def level(self, context: int) -> Level | None:
        return self[context]

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
