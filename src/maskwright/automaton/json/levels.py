"""The levels of JSON that the grammars of one kind have met, numbered: the contexts of a machine.

Grammars of one kind differ in nothing but their schemas. Values whose schemas are written equally
share one level, and all levels within it. The grammar that met a level first is its *owner*: it
answers the machine's questions with the solver of its own schema, and is kept alive for that.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

from maskwright.automaton.json.plain_exits import LevelNumbers
from maskwright.automaton.machine.contexts import Bound, Contexts, Ending
from maskwright.automaton.machine.exits import Exit
from maskwright.automaton.value.level import Level, LevelPhase, ObjectLevel, Thread
from maskwright.automaton.value.progress import ObjectProgress
from maskwright.grammar.regular.terms import Regular
from maskwright.grammar.schema.tree import Schema
from maskwright.grammar.shape.shape import Conjunction


class Levels(Contexts):
    """The contexts of all owners of levels."""

    def __init__(self) -> None:
        self.numbers: Final = LevelNumbers()
        self.gates = self.numbers.gates
        self.latest: Contexts | None = None
        """The owner of the level at which the texts of the latest schema begin."""
        self.same: dict[bytes, Conjunction] = {}
        """The conjunction that represents all schemas with this `Schema.key`."""
        self.alone: dict[tuple[Conjunction, int], int] = {}
        """By value and depth: the context of a value alone."""
        self.scalars: dict[tuple[Regular, Regular], Conjunction] = {}
        """The conjunction that represents all that allow just these strings and other scalars."""

    def context(self, level: Level, owner: Contexts) -> int:
        """The context of a level; `owner` becomes its owner if it is new."""
        return self.numbers.context(self._key(level), owner)

    def find(self, level: Level) -> int | None:
        """The context of a level, if it has been met."""
        return self.numbers.find(self._key(level))

    def __getitem__(self, context: int) -> Level:
        """The level that a context stands for."""
        known = self.numbers.known[context]
        if isinstance(known, Level):
            return known
        progress = ObjectProgress(
            self.numbers.shapes[known.shape],
            known.position,
            known.seen,
            known.count,
            known.fulfilled,
            known.others,
            known.candidates,
            known.must_equal_one,
            known.has_unremembered,
        )
        threads = (Thread(known.tag, progress),)
        level = self.numbers.known[context] = Level(known.phase, "{", threads, known.depth)
        return level

    def __len__(self) -> int:
        return len(self.numbers.known)

    def _key(self, level: Level) -> Level | ObjectLevel:
        """What stands for a level: of an object in one thread the parts, as `PlainReader.key` gives
        them, which take less to compare than the level."""
        if level.bracket != "{" or len(level.threads) != 1:
            return level
        thread = level.threads[0]
        if thread.value is not None or not isinstance(thread.progress, ObjectProgress):
            return level
        progress = thread.progress
        return ObjectLevel(
            level.phase,
            level.depth,
            thread.tag,
            self.numbers.shape(progress.shape),
            progress.position,
            progress.seen,
            progress.count,
            progress.fulfilled,
            progress.others,
            progress.candidates,
            progress.must_equal_one,
            progress.has_unremembered,
        )

    def knows(self, root: Schema) -> bool:
        """Whether a root schema has been met before."""
        return root.key in self.same and self._root(root) is not None

    def begun(self, root: Schema) -> tuple[int, int] | None:
        """The first context and leaf state of a root schema that has been met before."""
        context = self._root(root)
        leaf = None if context is None else self.numbers.owners[context].value_leaf(context)
        return None if context is None or leaf is None else (context, leaf)

    def _root(self, root: Schema) -> int | None:
        value = None if root.key is None else self.same.get(root.key)
        if value is None:
            return None
        return self.find(Level(LevelPhase.VALUE, "", (Thread(0, None, value),), 0))

    def release(self) -> None:
        for owner in set(self.numbers.owners):
            owner.release()
        self.numbers.owners.clear()
        self.latest = None

    # The machine's questions

    def exit(self, context: int, label: Hashable, text: str | None = None) -> Exit:
        return self.numbers.owners[context].exit(context, label, text)

    def gate(self, context: int) -> tuple[int, int] | None:
        gates = self.numbers.gates
        return gates[context] if context in gates else self.numbers.owners[context].gate(context)

    def level(self, context: int) -> Level | None:
        return self[context]

    def wants_repeat(self, context: int) -> bool:
        known = self.numbers.known[context]
        return isinstance(known, Level) and known.wants_repeat

    def leaves_names_to_text(self, context: int) -> bool:
        return self.numbers.leaves_names_to_text(context)

    def finish(
        self, contexts: list[int], leaf: int, before: bytes, *, names: bool = True
    ) -> Ending:
        return self.numbers.owners[contexts[-1]].finish(contexts, leaf, before, names=names)

    def bound(self, context: int) -> Bound | None:
        return self.numbers.owners[context].bound(context)

    def without_names(self, context: int) -> int:
        return self.numbers.owners[context].without_names(context)

    def leaf_without_names(self, context: int, leaf: int) -> int | None:
        return self.numbers.owners[context].leaf_without_names(context, leaf)
