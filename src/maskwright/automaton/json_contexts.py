"""The structure of JSON under a schema, as contexts of the byte machine.

A context is one level of nesting at one point of its reading: a set of *threads*, one for each way
in which the text so far may still come to satisfy the schema. JSON is visibly pushdown: whatever
branch a thread is in, brackets open and close for all threads at once. So threads push and pop
together, and a child level only has to remember which thread of its parent each of its own threads
belongs to (`tag`). Threads that die are dropped; a level without threads does not exist.

Names that a schema does not list, and items that must be unique, are remembered in the progress of
a thread. Only the text tells them, so the exits behind them are *dynamic*.
"""

from __future__ import annotations

import json
from collections.abc import Hashable
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import NamedTuple

from maskwright.automaton.finish import Finish
from maskwright.automaton.leaf import Choice, End, LeafTable, Literal, Padded, Spaced
from maskwright.automaton.level import Level, Phase, Thread
from maskwright.automaton.machine import BLOCKED, DONE, DYNAMIC, POP, PUSH, STAY, Exit
from maskwright.automaton.names import NameReader
from maskwright.automaton.plain_names import PlainReader, PlainShapes
from maskwright.automaton.progress import ArrayProgress, ObjectProgress
from maskwright.automaton.whitespace import Whitespace
from maskwright.automaton.witness import Witnesses, canonical
from maskwright.grammar.regular import EMPTY, Regular, vector
from maskwright.grammar.shape import Conjunction, Shapes


class Mark(Enum):
    """Labels of structural leaves."""

    SPACE = "whitespace"
    OBJECT = "{"
    ARRAY = "["
    CLOSE = "} or ]"
    COMMA = ","


class Closed(NamedTuple):
    """The result of a level: the tags of the threads that were complete."""

    tags: tuple[int, ...]


class JsonContexts:
    """Implements `machine.Contexts` and `completion.Finisher` for one schema."""

    def __init__(
        self,
        root: Conjunction,
        shapes: Shapes,
        witnesses: Witnesses,
        leaves: LeafTable,
        whitespace: Whitespace,
    ) -> None:
        self.levels: list[Level] = []
        self.witnesses = witnesses
        self.whitespace = whitespace
        self._root = root
        self._shapes = shapes
        self._leaves = leaves
        self._ids: dict[Level, int] = {}
        self._values: dict[int, _ValueReader] = {}
        self._names: dict[int, tuple[NameReader | PlainReader, int]] = {}
        self._plain = PlainShapes(witnesses)
        self._finish = Finish(witnesses, whitespace)
        self._context(Level(Phase.DONE, "", (), 0))

    # The machine's questions

    def start(self) -> tuple[int, int]:
        root = Level(Phase.VALUE, "", (Thread(0, None, self._root),), 0)
        context = self._context(root)
        return context, self._value_reader(context).leaf

    def exit(self, context: int, label: Hashable, text: str | None = None) -> Exit:
        level = self.levels[context]
        match label:
            case Mark.SPACE:
                return Exit(STAY, context, self._behind_space(context))
            case Mark.OBJECT:
                return self._open(context, "{")
            case Mark.ARRAY:
                return self._open(context, "[")
            case Mark.COMMA:
                phase = Phase.NAME if level.bracket == "{" else Phase.VALUE
                threads = level.threads if phase is Phase.NAME else self._items(level.threads)
                following = self._context(Level(phase, level.bracket, threads, level.depth))
                return Exit(STAY, following, self._behind_space(following))
            case Mark.CLOSE:
                tags = sorted({t.tag for t in level.threads if _may_close(t)})
                return Exit(POP, result=Closed(tuple(tags)))
            case Closed(tags=tags):
                owners = self._value_reader(context).threads
                return self._after_value(level, [owners[tag] for tag in tags], text)
            case _:
                pass
        if level.phase is Phase.VALUE or level.bracket == "[":
            satisfied = self._value_reader(context).satisfied(label)
            return self._after_value(level, satisfied, text)
        return self._after_name(context, level, label, text)

    def gate(self, context: int) -> tuple[int, int] | None:
        level = self.levels[context]
        if level.bracket != "{" or level.phase not in (Phase.NAME, Phase.FIRST):
            return None
        reader, _ = self._name_reader(context)
        return None if reader.others else (reader.bits, len(reader.words))

    def finish(self, contexts: list[int], leaf: int) -> bytes | None:
        levels = [self.levels[context] for context in contexts]
        colon = b":" + self.whitespace.after_colon if leaf == self._colon else b""
        rest = self._finish.of(levels)
        return None if rest is None else colon + rest.encode()

    # Levels

    def _context(self, level: Level) -> int:
        known = self._ids.get(level)
        if known is None:
            known = self._ids[level] = len(self.levels)
            self.levels.append(level)
        return known

    def _open(self, context: int, bracket: str) -> Exit:
        """A bracket opens: every thread spawns one for each alternative of its value."""
        level = self.levels[context]
        threads = dict.fromkeys(
            Thread(tag, progress)
            for tag, thread in enumerate(self._value_reader(context).threads)
            if thread.value is not None
            for progress in self.witnesses.containers(thread.value)
            if isinstance(progress, ObjectProgress) is (bracket == "{")
            and self.witnesses.rest_of(progress) is not None
        )
        if not threads:
            return Exit(BLOCKED)
        depth = level.depth + 1 if self.whitespace.lines else 0
        opened = self._context(Level(Phase.FIRST, bracket, tuple(threads), depth))
        return Exit(PUSH, opened, self._spaced(Mark.SPACE))

    def _items(self, threads: tuple[Thread, ...]) -> tuple[Thread, ...]:
        """The threads of an array's next item: what it may be, and the progress behind it."""
        return tuple(
            dict.fromkeys(
                Thread(thread.tag, option.after, option.value)
                for thread in threads
                if isinstance(thread.progress, ArrayProgress)
                for option in self.witnesses.item_options(thread.progress)
            )
        )

    def _after_name(self, context: int, level: Level, label: Hashable, text: str | None) -> Exit:
        reader, _ = self._name_reader(context)
        name = None if text is None else str(json.loads(text))
        threads = reader.threads(label, name)
        if not threads:
            return Exit(BLOCKED)
        following = self._context(Level(Phase.VALUE, "{", threads, level.depth))
        dynamic = DYNAMIC if text is None and reader.is_other(label) else 0
        return Exit(STAY | dynamic, following, self._colon)

    def _after_value(self, level: Level, threads: list[Thread], text: str | None) -> Exit:
        if not threads:
            return Exit(BLOCKED)
        if not level.bracket:
            return Exit(STAY, DONE, self._leaves.dead)
        item = None if text is None else canonical(text)
        moved: dict[Thread, None] = {}
        dynamic = 0
        for thread in threads:
            progress = thread.progress
            if isinstance(progress, ArrayProgress) and progress.unique:
                if item is None:
                    dynamic = DYNAMIC
                else:
                    progress = progress.with_item(item)
                    if self.witnesses.rest_of(progress) is None:
                        continue
            moved[Thread(thread.tag, progress)] = None
        if not moved:
            return Exit(BLOCKED)
        following = Level(Phase.NEXT, level.bracket, tuple(moved), level.depth)
        return Exit(STAY | dynamic, self._context(following), self._next_leaf(following))

    # Leaves

    def _behind_space(self, context: int) -> int:
        level = self.levels[context]
        if level.phase is Phase.VALUE or level.bracket == "[":
            return self._value_reader(context).leaf
        return self._name_reader(context)[1]

    def _spaced(self, label: Mark, after: bytes = b"") -> int:
        leaf = self._leaves.state(Spaced(self.whitespace.room, label))
        return self._leaves.state(Literal(after, leaf)) if after else leaf

    @cached_property
    def _colon(self) -> int:
        space = self.whitespace
        after = self._spaced(Mark.SPACE, space.after_colon)
        colon = self._leaves.state(Choice(EMPTY, EMPTY, ((ord(":"), after),)))
        return self._leaves.state(Padded(space.room, colon)) if space.room else colon

    def _next_leaf(self, level: Level) -> int:
        """A comma, if something may follow it, or the closing bracket."""
        space = self.whitespace
        marks: list[tuple[int, int]] = []
        if self._may_continue(level):
            after = space.comma(level.depth)[1:].encode()
            marks.append((ord(","), self._spaced(Mark.COMMA, after)))
        if any(_may_close(t) for t in level.threads):
            marks.append(self._closing(level, empty=False))
        choice = self._leaves.state(Choice(EMPTY, EMPTY, tuple(marks)))
        return self._leaves.state(Padded(space.room, choice)) if space.room else choice

    def _closing(self, level: Level, *, empty: bool) -> tuple[int, int]:
        end = self._leaves.state(End(Mark.CLOSE))
        bracket = b"}" if level.bracket == "{" else b"]"
        if self.whitespace.lines and not empty:
            line = self.whitespace.line(level.depth - 1).encode() + bracket
            return line[0], self._leaves.state(Literal(line[1:], end))
        return bracket[0], end

    def _may_continue(self, level: Level) -> bool:
        if level.bracket == "[":
            return any(
                any(True for _ in self.witnesses.item_options(thread.progress))
                for thread in level.threads
                if isinstance(thread.progress, ArrayProgress)
            )
        names = self._context(Level(Phase.NAME, "{", level.threads, level.depth))
        reader, _ = self._name_reader(names)
        return reader.others or reader.bits != 0

    def _first_line(self, level: Level, leaf: int) -> tuple[int, int]:
        """Where lines are indented, the first item stands behind a line break."""
        line = self.whitespace.line(level.depth).encode()
        return line[0], self._leaves.state(Literal(line[1:], leaf))

    # Readers

    def _value_reader(self, context: int) -> _ValueReader:
        reader = self._values.get(context)
        if reader is None:
            reader = self._values[context] = self._make_value_reader(self.levels[context])
        return reader

    def _make_value_reader(self, level: Level) -> _ValueReader:
        threads = self._items(level.threads) if level.phase is Phase.FIRST else level.threads
        shapes = [self._shapes.of(t.value) for t in threads if t.value is not None]
        kinds = list(dict.fromkeys((s.strings, s.scalars) for s in shapes))
        of_kind = tuple(kinds.index((s.strings, s.scalars)) for s in shapes)
        strings, scalars = (self._together([kind[at] for kind in kinds]) for at in (0, 1))
        marks: list[tuple[int, int]] = []
        opened = {
            isinstance(progress, ObjectProgress)
            for thread in threads
            if thread.value is not None
            for progress in self.witnesses.containers(thread.value)
            if self.witnesses.rest_of(progress) is not None
        }
        for byte, mark, is_object in (("{", Mark.OBJECT, True), ("[", Mark.ARRAY, False)):
            if is_object in opened:
                marks.append((ord(byte), self._leaves.state(End(mark))))
        leaf = self._leaves.state(Choice(strings, scalars, tuple(marks)))
        if level.phase is Phase.FIRST:
            if self.whitespace.lines:
                marks = [self._first_line(level, leaf)] if threads else []
                strings = scalars = EMPTY
            if any(_may_close(t) for t in level.threads):
                marks.append(self._closing(level, empty=True))
            leaf = self._leaves.state(Choice(strings, scalars, tuple(marks)))
        return _ValueReader(leaf, threads, of_kind)

    def _together(self, terms: list[Regular]) -> Regular:
        live = [t if self.witnesses.language(t) is not None else EMPTY for t in terms]
        return live[0] if len(live) == 1 else vector(tuple(live))

    def _name_reader(self, context: int) -> tuple[NameReader | PlainReader, int]:
        known = self._names.get(context)
        if known is None:
            level = self.levels[context]
            reader = self._plain.reader(level.threads)
            reader = reader or NameReader.of(level.threads, self.witnesses)
            known = self._names[context] = (reader, self._name_leaf(level, reader))
        return known

    def _name_leaf(self, level: Level, reader: NameReader | PlainReader) -> int:
        term = reader.term if reader.bits or reader.others else EMPTY
        if level.phase is not Phase.FIRST:
            return self._leaves.state(Choice(term, EMPTY, ()))
        marks: list[tuple[int, int]] = []
        if self.whitespace.lines and term is not EMPTY:
            leaf = self._leaves.state(Choice(term, EMPTY, ()))
            marks.append(self._first_line(level, leaf))
            term = EMPTY
        if any(_may_close(t) for t in level.threads):
            marks.append(self._closing(level, empty=True))
        return self._leaves.state(Choice(term, EMPTY, tuple(marks)))


@dataclass(frozen=True, slots=True)
class _ValueReader:
    """The leaf of a value, and which threads a scalar of each kind satisfies."""

    leaf: int
    threads: tuple[Thread, ...]
    kinds: tuple[int, ...]

    def satisfied(self, label: Hashable) -> list[Thread]:
        """`label` is 1 where there is one kind, else one entry a kind."""
        if not isinstance(label, tuple):
            return list(self.threads)
        pairs = zip(self.threads, self.kinds, strict=True)
        return [thread for thread, kind in pairs if label[kind]]


def _may_close(thread: Thread) -> bool:
    return thread.progress is not None and thread.progress.may_close()
