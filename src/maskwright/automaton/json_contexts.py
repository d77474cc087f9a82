"""The structure of JSON under a schema, as contexts of the byte machine.

A context is one level of nesting at one point of its reading: a set of *threads*, one for each way
in which the text so far may still come to satisfy the schema. JSON is visibly pushdown: whatever
branch a thread is in, brackets open and close for all threads at once. So threads push and pop
together, and a child level only has to remember which thread of its parent each of its own threads
belongs to (`tag`). Threads that die are dropped; a level without threads does not exist.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from itertools import count
from typing import NamedTuple

from maskwright.automaton.leaf import Choice, End, LeafTable, Literal, Padded, Spaced
from maskwright.automaton.machine import BLOCKED, DONE, POP, PUSH, STAY, Exit
from maskwright.automaton.progress import (
    ArrayProgress,
    ObjectProgress,
    Progress,
    PropertyOrder,
)
from maskwright.automaton.whitespace import Whitespace
from maskwright.automaton.witness import (
    Items,
    Members,
    Witness,
    Witnesses,
    compact,
    enclosed,
    member,
    rendered,
)
from maskwright.grammar.regular import (
    ANYTHING,
    EMPTY,
    Regular,
    vector,
    word_list,
    word_slice,
)
from maskwright.grammar.shape import Conjunction, Shapes


class Mark(Enum):
    """Labels of structural leaves."""

    SPACE = "whitespace"
    OBJECT = "{"
    ARRAY = "["
    CLOSE = "} or ]"
    COMMA = ","


class Phase(Enum):
    """What a level waits for."""

    FIRST = "the first item or name, or the closing bracket"
    NEXT = "a comma or the closing bracket"
    NAME = "a name"
    VALUE = "a value"
    DONE = "nothing more"


class Closed(NamedTuple):
    """The result of a level: the tags of the threads that were complete."""

    tags: tuple[int, ...]


class Thread(NamedTuple):
    tag: int
    """The thread of the parent level that this one belongs to."""
    progress: Progress | None
    """None at the root."""
    value: Conjunction | None = None
    """In phase VALUE (and FIRST of an array): what the coming value must satisfy."""


@dataclass(frozen=True, slots=True)
class Level:
    phase: Phase
    bracket: str
    """`{`, `[`, or nothing at the root."""
    threads: tuple[Thread, ...]
    depth: int
    """Brackets open, counted only where lines are indented."""


class JsonContexts:
    """Implements `machine.Contexts` for one schema."""

    def __init__(
        self,
        root: Conjunction,
        shapes: Shapes,
        witnesses: Witnesses,
        leaves: LeafTable,
        order: PropertyOrder,
        whitespace: Whitespace,
    ) -> None:
        self.levels: list[Level] = []
        self.witnesses = witnesses
        self.order: PropertyOrder = order
        self.whitespace = whitespace
        self._root = root
        self._shapes = shapes
        self._leaves = leaves
        self._ids: dict[Level, int] = {}
        self._readers: dict[int, _ValueReader | _NameReader] = {}
        self._context(Level(Phase.DONE, "", (), 0))

    # The machine's questions

    def start(self) -> tuple[int, int]:
        root = Level(Phase.VALUE, "", (Thread(0, None, self._root),), 0)
        context = self._context(root)
        return context, self._value_reader(context).leaf

    def exit(self, context: int, label: Hashable) -> Exit:
        level = self.levels[context]
        match label:
            case Mark.SPACE:
                return Exit(STAY, context, self._behind_space(context))
            case Mark.OBJECT:
                return self._open(level, "{")
            case Mark.ARRAY:
                return self._open(level, "[")
            case Mark.COMMA:
                return self._after_comma(level)
            case Mark.CLOSE:
                tags = sorted({t.tag for t in level.threads if _may_close(t)})
                return Exit(POP, result=Closed(tuple(tags)))
            case Closed(tags=tags):
                return self._after_value(level, [level.threads[tag] for tag in tags])
            case _:
                return self._after_leaf(context, level, label)

    def gate(self, context: int) -> tuple[int, int] | None:
        level = self.levels[context]
        if level.bracket != "{" or level.phase not in (Phase.NAME, Phase.FIRST):
            return None
        reader = self._name_reader(context)
        return (reader.allowed_bits, len(reader.words)) if not reader.others else None

    # Levels

    def _context(self, level: Level) -> int:
        known = self._ids.get(level)
        if known is None:
            known = self._ids[level] = len(self.levels)
            self.levels.append(level)
        return known

    def _open(self, level: Level, bracket: str) -> Exit:
        """A bracket opens: every thread spawns one for each alternative of its value."""
        depth = level.depth + 1 if self.whitespace.lines else 0
        threads: list[Thread] = []
        for tag, thread in enumerate(level.threads):
            if thread.value is None:
                continue
            shape = self._shapes.of(thread.value)
            for each in shape.objects if bracket == "{" else ():
                threads.append(Thread(tag, ObjectProgress(each)))
            for each in shape.arrays if bracket == "[" else ():
                progress = ArrayProgress(each)
                threads.append(Thread(tag, progress, progress.next_item(self.witnesses.possible)))
        alive = tuple(t for t in dict.fromkeys(threads) if self._can_finish(t))
        if not alive:
            return Exit(BLOCKED)
        context = self._context(Level(Phase.FIRST, bracket, alive, depth))
        return Exit(PUSH, context, self._spaced(Mark.SPACE))

    def _can_finish(self, thread: Thread) -> bool:
        return thread.progress is None or self.witnesses.rest_of(thread.progress) is not None

    def _after_comma(self, level: Level) -> Exit:
        if level.bracket == "{":
            return self._at(Level(Phase.NAME, "{", level.threads, level.depth))
        threads: list[Thread] = []
        for thread in level.threads:
            if isinstance(thread.progress, ArrayProgress):
                item = thread.progress.next_item(self.witnesses.possible)
                if item is not None:
                    threads.append(thread._replace(value=item))
        return self._at(Level(Phase.VALUE, "[", tuple(threads), level.depth))

    def _at(self, level: Level) -> Exit:
        """Stay on this level, right at the start of what it waits for."""
        context = self._context(level)
        return Exit(STAY, context, self._behind_space(context))

    def _after_leaf(self, context: int, level: Level, label: Hashable) -> Exit:
        """A scalar or a name has been read."""
        if level.phase is Phase.VALUE or level.bracket == "[":
            reader = self._value_reader(context)
            return self._after_value(level, reader.threads(label))
        return self._after_name(context, level, label)

    def _after_name(self, context: int, level: Level, label: Hashable) -> Exit:
        threads: list[Thread] = []
        reader = self._name_reader(context)
        word = label[0] if isinstance(label, tuple) else 0
        name = reader.words[word - 1] if word else None
        for at, thread in enumerate(level.threads):
            progress = thread.progress
            assert isinstance(progress, ObjectProgress)
            index = reader.index(at, name)
            if index is None:
                if progress.next_other(self.order, self.witnesses.possible):
                    after = progress.after_other(self.order)
                    threads.append(Thread(thread.tag, after, progress.shape.additional))
            elif index in reader.allowed[at]:
                after = progress.after_name(index, self.order)
                threads.append(Thread(thread.tag, after, progress.shape.values[index]))
        if not threads:
            return Exit(BLOCKED)
        after_name = Level(Phase.VALUE, "{", tuple(dict.fromkeys(threads)), level.depth)
        return Exit(STAY, self._context(after_name), self._colon)

    def _after_value(self, level: Level, threads: list[Thread]) -> Exit:
        if not threads:
            return Exit(BLOCKED)
        if not level.bracket:
            return Exit(STAY, DONE, self._leaves.dead)
        moved: list[Thread] = []
        for thread in threads:
            progress = thread.progress
            if isinstance(progress, ArrayProgress):
                progress = progress.after_item()
            moved.append(Thread(thread.tag, progress))
        following = Level(Phase.NEXT, level.bracket, tuple(dict.fromkeys(moved)), level.depth)
        return Exit(STAY, self._context(following), self._next_leaf(following))

    # Finishing

    def finish(self, contexts: list[int], leaf: int) -> bytes | None:
        """See `completion.Finisher`."""
        level, below = self.levels[contexts[0]], contexts[1:]
        options = [self._finish_thread(level, thread, below) for thread in level.threads]
        texts = [text.encode() for text in options if text is not None]
        if not texts:
            return None
        colon = b":" + self.whitespace.after_colon if leaf == self._colon else b""
        return colon + min(texts, key=len)

    def _finish_thread(self, level: Level, thread: Thread, below: list[int]) -> str | None:
        """The shortest text that completes one thread, and the levels below with it."""
        rest = self._rest_of_level(level, thread)
        if rest is None or not level.bracket:
            return rest
        parent = self.levels[below[0]]
        owner = parent.threads[thread.tag]
        progress = owner.progress
        if isinstance(progress, ArrayProgress):
            progress = progress.after_item()
        after = Level(Phase.NEXT if parent.bracket else Phase.DONE, parent.bracket, (), parent.depth)
        tail = self._finish_thread(after, Thread(owner.tag, progress), below[1:])
        return None if tail is None else rest + tail

    def _rest_of_level(self, level: Level, thread: Thread) -> str | None:
        """The shortest text from the present phase to the closing bracket."""
        space, depth = self.whitespace, level.depth
        progress = thread.progress
        text = ""
        if level.phase is Phase.DONE:
            return text
        if level.phase is Phase.VALUE:
            value = None if thread.value is None else self.witnesses.of(thread.value)
            if value is None:
                return None
            text = rendered(value, space, depth)
            if progress is None:
                return text
            if isinstance(progress, ArrayProgress):
                progress = progress.after_item()
        assert progress is not None
        if level.phase is Phase.NAME:
            assert isinstance(progress, ObjectProgress)
            first = self._shortest_member(progress)
            if first is None:
                return None
            text, progress = member(first[0], first[1], space, depth), first[2]
        rest = self.witnesses.rest_of(progress)
        if rest is None:
            return None
        if isinstance(rest, Items):
            parts = [rendered(v, space, depth) for v in rest.values]
        else:
            assert isinstance(rest, Members)
            parts = [member(n, v, space, depth) for n, v in rest.values]
        closing = "}" if level.bracket == "{" else "]"
        if level.phase is Phase.FIRST:
            return enclosed("", parts, closing, space, depth - 1)
        return text + "".join(space.comma(depth) + p for p in parts) + space.line(depth - 1) + closing

    def _shortest_member(
        self, progress: ObjectProgress
    ) -> tuple[str, Witness, ObjectProgress] | None:
        """A name that must come now (behind a comma), its value, and the progress behind it."""
        shape = progress.shape
        options: list[tuple[str, Witness, ObjectProgress]] = []
        for at in progress.next_names(self.order, self.witnesses.possible):
            value = self.witnesses.of(shape.values[at])
            if value is not None:
                options.append((shape.names[at], value, progress.after_name(at, self.order)))
        if progress.next_other(self.order, self.witnesses.possible):
            value = self.witnesses.of(shape.additional)
            name = next(n for n in _short_names() if n not in shape.names)
            if value is not None:
                options.append((name, value, progress.after_other(self.order)))

        def size(option: tuple[str, Witness, ObjectProgress]) -> int:
            name, value, after = option
            rest = self.witnesses.rest_of(after)
            return len(name) + len(compact(value)) + (10**9 if rest is None else len(compact(rest)))

        return min(options, key=size, default=None)

    # Leaves

    def _behind_space(self, context: int) -> int:
        level = self.levels[context]
        if level.phase is Phase.VALUE:
            return self._value_reader(context).leaf
        if level.bracket == "[":
            return self._value_reader(context).leaf
        return self._name_reader(context).leaf

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
        possible = self.witnesses.possible
        for thread in level.threads:
            progress = thread.progress
            if isinstance(progress, ArrayProgress):
                if progress.next_item(possible) is not None:
                    return True
            elif isinstance(progress, ObjectProgress) and (
                progress.next_names(self.order, possible)
                or progress.next_other(self.order, possible)
            ):
                return True
        return False

    def _first_line(self, level: Level, leaf: int) -> tuple[int, int]:
        """Where lines are indented, the first item stands behind a line break."""
        line = self.whitespace.line(level.depth).encode()
        return line[0], self._leaves.state(Literal(line[1:], leaf))

    # Readers

    def _value_reader(self, context: int) -> _ValueReader:
        reader = self._readers.get(context)
        if reader is None:
            reader = self._readers[context] = self._make_value_reader(self.levels[context])
        assert isinstance(reader, _ValueReader)
        return reader

    def _make_value_reader(self, level: Level) -> _ValueReader:
        threads = [t for t in level.threads if t.value is not None]
        shapes = [self._shapes.of(t.value) for t in threads if t.value is not None]
        kinds = list(dict.fromkeys((s.strings, s.scalars) for s in shapes))
        marks: list[tuple[int, int]] = []
        for byte, mark, arrays in ((ord("{"), Mark.OBJECT, False), (ord("["), Mark.ARRAY, True)):
            progresses = [
                ArrayProgress(a) if arrays else ObjectProgress(a)
                for s in shapes
                for a in (s.arrays if arrays else s.objects)
            ]
            if any(self.witnesses.rest_of(p) is not None for p in progresses):
                marks.append((byte, self._leaves.state(End(mark))))
        strings, scalars = (self._together([k[at] for k in kinds]) for at in (0, 1))
        leaf = self._leaves.state(Choice(strings, scalars, tuple(marks)))
        if level.phase is Phase.FIRST:
            if self.whitespace.lines:
                marks = [self._first_line(level, leaf)] if threads else []
                strings = scalars = EMPTY
            if any(_may_close(t) for t in level.threads):
                marks.append(self._closing(level, empty=True))
            leaf = self._leaves.state(Choice(strings, scalars, tuple(marks)))
        of_kind = [kinds.index((s.strings, s.scalars)) for s in shapes]
        return _ValueReader(leaf, tuple(zip(threads, of_kind, strict=True)))

    def _together(self, terms: list[Regular]) -> Regular:
        live = [t if self.witnesses.language(t) is not None else EMPTY for t in terms]
        return live[0] if len(live) == 1 else vector(tuple(live))

    def _name_reader(self, context: int) -> _NameReader:
        reader = self._readers.get(context)
        if reader is None:
            reader = self._readers[context] = self._make_name_reader(self.levels[context])
        assert isinstance(reader, _NameReader)
        return reader

    def _make_name_reader(self, level: Level) -> _NameReader:
        possible = self.witnesses.possible
        progresses = [t.progress for t in level.threads if isinstance(t.progress, ObjectProgress)]
        names = word_list([n for p in progresses for n in p.shape.names])
        allowed = tuple(frozenset(p.next_names(self.order, possible)) for p in progresses)
        others = any(p.next_other(self.order, possible) for p in progresses)
        indexes = tuple({n: at for at, n in enumerate(p.shape.names)} for p in progresses)
        bits = 0
        for place, indices in zip(allowed, indexes, strict=True):
            for word, name in enumerate(names.strings):
                if indices.get(name) in place:
                    bits |= 1 << word
        trie = word_slice(names) if names.strings else EMPTY
        term = vector((trie, ANYTHING if others else EMPTY), named=True)
        marks: list[tuple[int, int]] = []
        if level.phase is Phase.FIRST:
            if self.whitespace.lines:
                leaf = self._leaves.state(Choice(term, EMPTY, ()))
                marks = [self._first_line(level, leaf)] if bits or others else []
                term = EMPTY
            elif not bits and not others:
                term = EMPTY
            if any(_may_close(t) for t in level.threads):
                marks.append(self._closing(level, empty=True))
        leaf = self._leaves.state(Choice(term, EMPTY, tuple(marks)))
        return _NameReader(leaf, names.strings, allowed, indexes, bits, others)


@dataclass(frozen=True, slots=True)
class _ValueReader:
    """The leaf of a value, and which threads a scalar of each kind satisfies."""

    leaf: int
    kinds: tuple[tuple[Thread, int], ...]

    def threads(self, label: Hashable) -> list[Thread]:
        """`label` is 1 where there is one kind, else one entry a kind."""
        if not isinstance(label, tuple):
            return [thread for thread, _ in self.kinds]
        return [thread for thread, kind in self.kinds if label[kind]]


@dataclass(frozen=True, slots=True)
class _NameReader:
    """The leaf of a name, and what each thread makes of each name."""

    leaf: int
    words: tuple[str, ...]
    allowed: tuple[frozenset[int], ...]
    indexes: tuple[dict[str, int], ...]
    allowed_bits: int
    others: bool

    def index(self, thread: int, name: str | None) -> int | None:
        """The index of `name` in the shape of a thread; None if it is not among its names."""
        return None if name is None else self.indexes[thread].get(name)


def _short_names() -> Iterator[str]:
    """Names from the shortest on: the empty one, then letters, then numbers."""
    yield ""
    yield from "abcdefghijklmnopqrstuvwxyz"
    yield from map(str, count())


def _may_close(thread: Thread) -> bool:
    return thread.progress is not None and thread.progress.may_close()
