"""The structure of JSON under a schema, as contexts of the byte machine.

A context is one level of nesting at one point of its reading: a set of *threads*, one for each way
in which the text so far may still come to satisfy the schema. JSON is visibly pushdown: a bracket
opens or closes a level for all threads at once, whichever branch of the schema they are in. So
threads push and pop together, and a child level only has to remember which thread of its parent
each of its own threads belongs to (`tag`). Threads that die are dropped; a level without threads
does not exist.

The value of a member, or an item that need not differ from others, is a level of its own, pushed
over the level that continues after it. It knows nothing of the object or array around it, so that
values under equal schemas share their contexts, wherever they stand. Its threads have no progress.

Items that must be unique are remembered in the progress of a thread, and so are some of the names
that a schema does not list (see `remembered_names`); the others are read off the text where that
matters. All of these are known only from the text, so the exits after them are *dynamic*.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import cached_property
from typing import Final

from msgspec.structs import replace

from maskwright.automaton.finish.bounds import LevelBounds, Price
from maskwright.automaton.finish.levels import Endings, LevelCompletion
from maskwright.automaton.json.distinguish import DistinguishedValues
from maskwright.automaton.json.labels import Closed, Satisfied, StructuralLabel
from maskwright.automaton.json.levels import Levels
from maskwright.automaton.json.names import NameReader, OpenNamesFinder, PlainShapes
from maskwright.automaton.json.plain_exits import PlainExits
from maskwright.automaton.json.plain_reader import PlainReader
from maskwright.automaton.json.remembered_names import RememberedNames
from maskwright.automaton.json.values import ReadThread, ValueReader, drop_dominated
from maskwright.automaton.leaf.keys import ChoiceState, End, LiteralState, Padded, Spaced, Text
from maskwright.automaton.leaf.table import LeafTable
from maskwright.automaton.machine.contexts import Bound, Contexts, Ending
from maskwright.automaton.machine.exits import (
    BLOCKED,
    DONE,
    DYNAMIC,
    POP,
    PUSH,
    STAY,
    Exit,
    Further,
)
from maskwright.automaton.satisfy.quick import QuickCheck
from maskwright.automaton.satisfy.schema_values import SchemaValues
from maskwright.automaton.satisfy.solver import Solver
from maskwright.automaton.value.equality import ended
from maskwright.automaton.value.finite_values import canonical
from maskwright.automaton.value.level import Level, LevelPhase, Thread
from maskwright.automaton.value.names_read import name_of
from maskwright.automaton.value.progress import NO_NAMES, ArrayProgress, ObjectProgress
from maskwright.automaton.value.whitespace import Whitespace
from maskwright.errors import Construct
from maskwright.garbage import hide, hide_group
from maskwright.grammar.regular.derivative import derivative
from maskwright.grammar.regular.terms import EMPTY, Regular, Tagged, Words
from maskwright.grammar.regular.word_lists import with_minimal_escapes
from maskwright.grammar.shape.shape import ArrayShape, Conjunction, construct_of
from maskwright.grammar.shape.shapes import Shapes
from maskwright.grammar.shape.unions import Branches, ExclusiveUnions

BRACKETS: Final = (("{", StructuralLabel.OBJECT), ("[", StructuralLabel.ARRAY))
"""With the labels of the leaves that they end."""


class JsonContexts(Contexts):
    """The contexts of one schema.

    Without a `root`, for values within something else: each is begun by `begin`, and ends by a
    `POP` with `Satisfied`.
    """

    def __init__(
        self,
        root: Conjunction | None,
        solver: Solver,
        leaves: LeafTable,
        whitespace: Whitespace,
        price: Price = len,
        *,
        bare: bool = False,
        table: Levels | None = None,
        within_tokens: frozenset[str] | None = None,
    ) -> None:
        """`price`: an upper bound on the tokens of a text (see `automaton.finish.bounds`). `bare`:
        listed names and strings are written without escapes that JSON doesn't ask for. `table`:
        numbers the levels; contexts that differ in nothing but the root share one. `within_tokens`:
        see `remembered_names.names_within`; without it all names are remembered."""
        self.levels: Final = Levels() if table is None else table
        self._solver = solver
        self.whitespace = whitespace
        self._root = root
        self._bare = bare
        self.leaves: Final = leaves
        self._values: dict[int, tuple[ValueReader, int]] = {}
        self._nameless: dict[int, int] = {}
        self._new_names: dict[tuple[int, Hashable], tuple[tuple[Thread, ...], Exit]] = {}
        """By context and label: what follows a name that is in none of the lists, if it differs
        from all before it: the threads that wait for its value, and the exit."""
        self._distinguished = DistinguishedValues(solver)
        self._remembered = hide(RememberedNames(solver.values.names, within_tokens))
        self._plain_shape = PlainShapes(solver, self._remembered)
        self._plain: Final = PlainExits(self.levels, self, solver, self._plain_shape)
        self._names: Final = self._plain.readers
        self._price = price
        if not len(self.levels):
            self._context(Level(LevelPhase.DONE, "", (), 0))

    @cached_property
    def _open_names(self) -> OpenNamesFinder:
        return OpenNamesFinder(self._solver, self._plain_shape)

    @cached_property
    def _completion(self) -> LevelCompletion:
        return LevelCompletion(self._solver, self.whitespace, self._owners)

    @cached_property
    def _after_root(self) -> Exit:
        """The exit after a value that one thread has read, on a level below all others."""
        if self._root is None:
            return hide(Exit(POP, result=Satisfied((0,))))
        return hide(Exit(STAY, DONE, self.leaves.dead))

    @cached_property
    def _bounds(self) -> LevelBounds:
        return LevelBounds(self._solver, self.whitespace, self._price)

    # The machine's questions

    def start(self) -> tuple[int, int]:
        assert self._root is not None
        context, leaf = self.begin((self._root,))
        before = self.levels.latest
        if before is not None:  # mostly all of it has been made by now
            hide_group(before, _GROUP)
        self.levels.latest = self if self.levels.numbers.owners[context] is self else None
        return context, leaf

    def begin(self, roots: tuple[Conjunction, ...]) -> tuple[int, int]:
        """The first context and leaf state of a value that satisfies one of `roots`."""
        threads = tuple(
            Thread(tag, None, self._plain.representative(root)) for tag, root in enumerate(roots)
        )
        context = self._context(Level(LevelPhase.VALUE, "", threads, 0))
        return context, self.value_leaf(context)

    def exit(self, context: int, label: Hashable, text: str | None = None) -> Exit:
        found = self._plain.exit(context, label, text)
        if found is not None:
            return found
        level = self.levels[context]
        match label:
            case StructuralLabel.SPACE:
                leaf = self._after_space(context)
                return Exit(STAY, context, leaf, then=self._opening(context, level))
            case StructuralLabel.OBJECT:
                return self._open(context, level, "{")
            case StructuralLabel.ARRAY:
                return self._open(context, level, "[")
            case StructuralLabel.COMMA:
                return self._after_comma(level)
            case StructuralLabel.CLOSE:
                tags = {(t.tag, _value(t)) for t in level.threads if _may_close(t)}
                return Exit(POP, result=Closed(tuple(sorted(tags, key=repr))))
            case Closed(tags=tags):
                threads = self._value_reader(context)[0].threads
                read = [ReadThread(threads[tag], value) for tag, value in tags]
                return self._after_value(level, read, text)
            case Satisfied(which=which):
                return self._satisfied(context, level, which)
            case _ if level.phase is LevelPhase.VALUE or level.bracket == "[":
                reader, _ = self._value_reader(context)
                return self._after_value(level, reader.read(label), text)
            case _:
                return self._after_name(context, level, label, text)

    def gate(self, context: int) -> tuple[int, int] | None:
        level = self.levels[context]
        if (
            level.bracket == "["
            and level.phase in (LevelPhase.VALUE, LevelPhase.FIRST)
            and level.remembers_items
        ):
            return self._value_reader(context)[0].gate
        if level.bracket != "{" or level.phase not in (LevelPhase.NAME, LevelPhase.FIRST):
            return None
        self._name_reader(context)
        return self.levels.numbers.gates[context]

    def level(self, context: int) -> Level | None:
        return self.levels[context]

    def construct(self, context: int) -> Construct | None:
        """What an error names whose cause is a value on a level; None for a level within one."""
        values = (thread.value for thread in self.levels[context].threads)
        return next((construct_of(value) for value in values if value), None)

    def finish(
        self, contexts: list[int], leaf: int, before: bytes, *, names: bool = True
    ) -> Ending:
        found = self.endings(contexts, leaf, before, names=names)
        text = min(found.texts.values(), key=len, default=None)
        return Ending(None if text is None else text.encode(), found.by_text)

    def endings(
        self, contexts: list[int], leaf: int, before: bytes, *, names: bool = True
    ) -> Endings:
        """For each of the value's schemas, the shortest text that completes it so; see
        `Contexts.finish` for the arguments."""
        levels = [self.levels[context] for context in contexts]
        colon = ":" + self.whitespace.after_colon.decode() if leaf == self.colon else ""
        found = self._completion.by_tag(levels, before + colon.encode(), names=names)
        return replace(found, texts={tag: colon + rest for tag, rest in found.texts.items()})

    def value_leaf(self, context: int) -> int:
        level = self.levels[context]
        leaf = None
        if level.depth == 0 and not level.bracket and len(level.threads) == 1:
            leaf = self._plain.root_leaf(context, self._after_root)
        return self._value_reader(context)[1] if leaf is None else leaf

    def _owners(self, level: Level) -> tuple[Thread, ...]:
        return self._value_reader(self._context(level))[0].threads

    def bound(self, context: int) -> Bound | None:
        return self._bounds.of_level(self.levels[context])

    def without_names(self, context: int) -> int:
        known = self._nameless.get(context)
        if known is None:
            level = self.levels[context]
            threads = level.threads
            if level.bracket == "{" and level.needs_no_names():
                threads = tuple(
                    replace(thread, progress=replace(thread.progress, others=NO_NAMES))
                    for thread in threads
                    if isinstance(thread.progress, ObjectProgress)
                )
            known = self._nameless[context] = self._context(replace(level, threads=threads))
        return known

    def leaf_without_names(self, context: int, leaf: int) -> int | None:
        level, plain = self.levels[context], self.without_names(context)
        if plain == context or level.phase is not LevelPhase.NAME:
            return leaf
        reader, start = self._name_reader(plain)
        if leaf == self._name_reader(context)[1]:
            return start
        match self.leaves.keys[leaf]:
            case Text(term=Tagged(parts=(Words() as words, *_))):
                begun = words.table.strings[words.low][: words.depth]
                term = derivative(self.written(reader.term), begun)
                return self.leaves.state(Text(True, term))
            case Text(term=Tagged()):
                return leaf
            case _:
                return None

    def release(self) -> None:
        if vars(self):  # values of one grammar may share it
            self._solver.release()
            vars(self).clear()

    # Levels

    def _context(self, level: Level) -> int:
        return self.levels.context(level, self)

    def _open(self, context: int, level: Level, bracket: str) -> Exit:
        """A bracket opens: each thread starts one thread for each alternative of its value."""
        threads = self._value_reader(context)[0].opened[bracket]
        if not threads:
            return Exit(BLOCKED)
        depth = level.depth + 1 if self.whitespace.lines else 1
        opened = self._context(Level(LevelPhase.FIRST, bracket, threads, depth))
        return Exit(PUSH, opened, self.spaced)

    def _opening(self, context: int, level: Level) -> tuple[Further, ...]:
        """The exits with the brackets with which a value may begin: tokens hold them together with
        what comes before and after."""
        if level.phase is not LevelPhase.VALUE:
            return ()
        found: list[Further] = []
        for bracket, label in BRACKETS:
            if self._value_reader(context)[0].opened[bracket]:
                exit = self._open(context, level, bracket)
                found.append((context, label, exit))
                first = Exit(STAY, exit.context, self._after_space(exit.context))
                found.append((exit.context, StructuralLabel.SPACE, first))
        return tuple(found)

    def _items(self, threads: tuple[Thread, ...]) -> tuple[Thread, ...]:
        """The threads of an array's next item: one for each option."""
        return tuple(
            dict.fromkeys(
                Thread(thread.tag, option.after, option.value, option.by_value)
                for thread in threads
                if isinstance(thread.progress, ArrayProgress)
                for option in self._solver.item_options(thread.progress)
            )
        )

    def _after_name(self, context: int, level: Level, label: Hashable, text: str | None) -> Exit:
        is_new = context not in self._names
        reader, _ = self._name_reader(context)
        found = self._plain.exit(context, label, text) if is_new else None
        if found is not None:
            return found
        if text is not None:
            name = name_of(text)
            known = self._new_names.get((context, label))
            if known is not None and self._are_left_to_text(level, known[0], name):
                return known[1]._replace(kind=known[1].kind & ~DYNAMIC)
            return self._after_threads(level, reader.threads(label, name))
        threads = reader.threads(label, None)
        dynamic = DYNAMIC if reader.is_other(label) else 0
        found = self._after_threads(level, threads, dynamic)
        if dynamic and isinstance(label, tuple) and label[0] == 0:
            self._new_names[context, label] = threads, found
        return found

    def _are_left_to_text(self, level: Level, after: tuple[Thread, ...], name: str) -> bool:
        """Whether the threads after a new name show nothing of it: none of them remembers it, nor
        needs names that its shape doesn't list, and there was no candidate that might have it."""
        before = [each.progress for each in level.threads]
        if any(each is not None and (each.candidates or each.must_equal_one) for each in before):
            return False
        return all(
            isinstance(each.progress, ObjectProgress)
            and self._remembered.is_left_to_text(each.progress, name)
            for each in after
        )

    def is_left_to_text(self, after: ObjectProgress, text: str) -> bool:
        """Whether a name, as JSON, is not remembered in the progress after it."""
        return self._remembered.is_left_to_text(after, name_of(text))

    def _after_threads(self, level: Level, threads: tuple[Thread, ...], dynamic: int = 0) -> Exit:
        """A name has been read that leaves these threads, which wait for its value."""
        if not threads:
            return Exit(BLOCKED)
        if all(thread.is_free for thread in threads):
            return self._value_above(level, threads, self.colon, dynamic)
        following = self._context(Level(LevelPhase.VALUE, "{", threads, level.depth))
        return Exit(STAY | dynamic, following, self.colon)

    def _after_comma(self, level: Level) -> Exit:
        if level.bracket == "{":
            following = self._context(replace(level, phase=LevelPhase.NAME))
            return Exit(STAY, following, self._name_reader(following)[1])
        threads = self._items(level.threads)
        if not threads:  # the options depend on an item that this walk hasn't looked at
            unknown = self._context(Level(LevelPhase.VALUE, "[", (), level.depth))
            return Exit(STAY, unknown, self.leaves.state(ChoiceState(EMPTY, EMPTY, ())))
        if all(thread.is_free for thread in threads):
            return self._value_above(level, threads)
        following = self._context(Level(LevelPhase.VALUE, "[", threads, level.depth))
        return Exit(STAY, following, self._value_reader(following)[1])

    def _value_above(
        self, level: Level, threads: tuple[Thread, ...], leaf: int | None = None, dynamic: int = 0
    ) -> Exit:
        """A value begins on a level of its own, above the level that waits for it; in `leaf`, if
        that is given, before its first byte. Threads that wait for one value read it once."""
        places = {Thread(each.tag, each.progress): 0 for each in threads}
        for place, thread in enumerate(places):
            places[thread] = place
        waiting: dict[Conjunction, dict[int, None]] = {}
        for each in threads:
            if each.value is not None:
                place = places[Thread(each.tag, each.progress)]
                waiting.setdefault(self._plain.representative(each.value), {})[place] = None
        groups = tuple(dict.fromkeys(map(tuple, waiting.values())))
        if len(waiting) == 1:
            above = self._plain.value_alone(next(iter(waiting)), level.depth)
        else:
            tags = {group: tag for tag, group in enumerate(groups)}
            alike = [Thread(tags[tuple(group)], None, value) for value, group in waiting.items()]
            above = self._context(Level(LevelPhase.VALUE, "", tuple(alike), level.depth))
        if groups == tuple((place,) for place in range(len(places))):
            groups = ()
        frame = self._context(
            Level(LevelPhase.NEXT, level.bracket, tuple(places), level.depth, groups)
        )
        if leaf is None:
            leaf = self._value_reader(above)[1]
        return Exit(PUSH | dynamic, above, leaf, frame=frame)

    # Values that have been read

    def _satisfied(self, context: int, level: Level, which: tuple[int, ...]) -> Exit:
        """The value above a level has been read, by some of its threads."""
        threads = drop_dominated(
            dict.fromkeys(thread for tag in which for thread in level.threads_of(tag))
        )
        if level.waiting or len(threads) < len(level.threads):
            context = self._context(replace(level, threads=threads, waiting=()))
        return Exit(STAY, context, self._next_leaf(context))

    def _after_value(self, level: Level, read: list[ReadThread], text: str | None) -> Exit:
        if not read:
            return Exit(BLOCKED)
        if not level.bracket and (level.depth or self._root is None):
            return Exit(POP, result=Satisfied(tuple(sorted({each.thread.tag for each in read}))))
        if not level.bracket:
            return self._after_root
        whole = None if text is None else canonical(text)
        moved: dict[Thread, None] = {}
        dynamic = 0
        for each in read:
            thread, value = each.thread, each.value
            if thread.is_watched and value is None:
                value = whole
                dynamic = DYNAMIC if value is None else dynamic
            following = thread.after_value(value)
            if following is not None and (
                value is None
                or following.progress is None
                or self._solver.can_complete(following.progress)
            ):
                moved[following] = None
        if not moved:
            return Exit(BLOCKED)
        threads = drop_dominated(moved)
        following = self._context(Level(LevelPhase.NEXT, level.bracket, threads, level.depth))
        return Exit(STAY | dynamic, following, self._next_leaf(following))

    # Leaves

    def _after_space(self, context: int) -> int:
        level = self.levels[context]
        if level.phase is LevelPhase.VALUE or level.bracket == "[":
            return self._value_reader(context)[1]
        return self._name_reader(context)[1]

    def _spaced(self, label: StructuralLabel, after: bytes = b"") -> int:
        leaf = self.leaves.state(Spaced(self.whitespace.room, label))
        return self.leaves.state(LiteralState(after, leaf)) if after else leaf

    @property
    def spaced(self) -> int:
        """The leaf state after an opening bracket."""
        known = self.levels.numbers.spaced
        if known is None:
            known = self.levels.numbers.spaced = self._spaced(StructuralLabel.SPACE)
        return known

    @property
    def colon(self) -> int:
        """The leaf state between a name and its value."""
        known = self.levels.numbers.colon
        if known is None:
            after = self._spaced(StructuralLabel.SPACE, self.whitespace.after_colon)
            known = self.levels.numbers.colon = self._sign(((ord(":"), after),))
        return known

    def _next_leaf(self, context: int) -> int:
        """A comma, if something may follow it, or the closing bracket."""
        level = self.levels[context]
        closes = any(map(_may_close, level.threads))
        return self.comma_leaf(level.bracket, level.depth, self._may_continue(context), closes)

    def comma_leaf(self, bracket: str, depth: int, goes_on: bool, closes: bool) -> int:
        """The leaf state after a member or item, which `_next_leaf` describes."""
        key = (goes_on, closes, bracket, depth)
        known = self.levels.numbers.commas.get(key)
        if known is None:
            marks: list[tuple[int, int]] = []
            if goes_on:
                after = self.whitespace.comma(depth)[1:].encode()
                marks.append((ord(","), self._spaced(StructuralLabel.COMMA, after)))
            if closes:
                marks.append(self._closing(bracket, depth, empty=False))
            known = self.levels.numbers.commas[key] = self._sign(tuple(marks))
        return known

    def _sign(self, marks: tuple[tuple[int, int], ...]) -> int:
        """The leaf state before one of `marks`, with whitespace before it where that may stand."""
        choice, room = self.leaves.state(ChoiceState(EMPTY, EMPTY, marks)), self.whitespace.room
        return self.leaves.state(Padded(room, choice)) if room else choice

    def _closing(self, bracket: str, depth: int, *, empty: bool) -> tuple[int, int]:
        end = self.leaves.state(End(StructuralLabel.CLOSE))
        mark = b"}" if bracket == "{" else b"]"
        if self.whitespace.lines and not empty:
            line = self.whitespace.line(depth - 1).encode() + mark
            return line[0], self.leaves.state(LiteralState(line[1:], end))
        return mark[0], end

    def _may_continue(self, context: int) -> bool:
        known = self._plain.goes_on.get(context)
        if known is None:
            level = self.levels[context]
            if level.bracket == "[":
                known = any(
                    thread.progress.promised_repeat is not None
                    or any(True for _ in self._solver.item_options(thread.progress))
                    for thread in level.threads
                    if isinstance(thread.progress, ArrayProgress)
                )
            else:
                naming = self._context(replace(level, phase=LevelPhase.NAME))
                reader, _ = self._name_reader(naming)
                known = reader.others or reader.bits != 0
            self._plain.goes_on[context] = known
        return known

    def _first_line(self, level: Level, leaf: int) -> tuple[int, int]:
        """The line break before a first item, where lines are indented: its first byte, and the
        leaf of its rest."""
        line = self.whitespace.line(level.depth).encode()
        return line[0], self.leaves.state(LiteralState(line[1:], leaf))

    # Readers

    def _value_reader(self, context: int) -> tuple[ValueReader, int]:
        known = self._values.get(context)
        if known is None:
            level = self.levels[context]
            is_first = level.phase is LevelPhase.FIRST
            threads = self._items(level.threads) if is_first else level.threads
            reader = ValueReader.of(threads, self._solver, self._distinguished)
            known = self._values[context] = reader, self._value_leaf(level, reader)
        return known

    def first_name(self, progress: ObjectProgress) -> tuple[int, int]:
        """The context of an object alone before its first name, and the leaf state there."""
        context = self._context(Level(LevelPhase.FIRST, "{", (Thread(0, progress),), 1))
        return context, self._name_reader(context)[1]

    def first_item(self, array: ArrayShape) -> tuple[int, int]:
        """The context of an array alone before its first item, and the leaf state there."""
        thread = Thread(0, ArrayProgress.start(array))
        context = self._context(Level(LevelPhase.FIRST, "[", (thread,), 1))
        return context, self._value_reader(context)[1]

    def leaf_of_value(
        self,
        strings: Regular,
        scalars: Regular,
        is_object: bool,
        is_array: bool,
        closes: bool = False,
    ) -> int:
        """The leaf state before a value, or before a first item in whose place the array `closes`
        (where lines aren't indented)."""
        marks = [
            (ord(bracket), self.leaves.state(End(mark)))
            for (bracket, mark), is_open in zip(BRACKETS, (is_object, is_array), strict=True)
            if is_open
        ]
        if closes:
            marks.append(self._closing("[", 1, empty=True))
        return self.leaves.state(ChoiceState(self.written(strings), scalars, tuple(marks)))

    @cached_property
    def closing_brace(self) -> tuple[int, int]:
        """The brace after no members, where lines aren't indented, with the leaf state after it."""
        return self._closing("{", 1, empty=True)

    def _value_leaf(self, level: Level, reader: ValueReader) -> int:
        is_first = level.phase is LevelPhase.FIRST
        closes = is_first and any(map(_may_close, level.threads))
        opens = bool(reader.opened["{"]), bool(reader.opened["["])
        if not (is_first and self.whitespace.lines):
            return self.leaf_of_value(reader.strings, reader.scalars, *opens, closes)
        marks: list[tuple[int, int]] = []
        if reader.threads:
            leaf = self.leaf_of_value(reader.strings, reader.scalars, *opens)
            marks.append(self._first_line(level, leaf))
        if closes:
            marks.append(self._closing("[", level.depth, empty=True))
        return self.leaves.state(ChoiceState(EMPTY, EMPTY, tuple(marks)))

    def _name_reader(self, context: int) -> tuple[NameReader | PlainReader, int]:
        known = self._names.get(context)
        if known is None:
            level = self.levels[context]
            reader = PlainReader.of(level.threads, self._plain_shape, level.depth)
            reader = reader or NameReader.of(level.threads, self._open_names, self._remembered)
            self._plain.enter(context, reader, self._name_leaf(level, reader))
            known = self._names[context]
        return known

    def _name_leaf(self, level: Level, reader: NameReader | PlainReader) -> int:
        term = self.written(reader.term) if reader.bits or reader.others else EMPTY
        if level.phase is not LevelPhase.FIRST:
            return self.leaves.state(ChoiceState(term, EMPTY, ()))
        marks: list[tuple[int, int]] = []
        if self.whitespace.lines and term is not EMPTY:
            leaf = self.leaves.state(ChoiceState(term, EMPTY, ()))
            marks.append(self._first_line(level, leaf))
            term = EMPTY
        is_plain = isinstance(reader, PlainReader)
        if reader.may_close if is_plain else any(map(_may_close, level.threads)):
            marks.append(self._closing(level.bracket, level.depth, empty=True))
        return self.leaves.state(ChoiceState(term, EMPTY, tuple(marks)))

    def written(self, strings: Regular) -> Regular:
        return with_minimal_escapes(strings) if self._bare else strings


def _may_close(thread: Thread) -> bool:
    return thread.progress is not None and thread.progress.may_close()


def _value(thread: Thread) -> str | None:
    """The value of an array or object that ends here, where it is distinguished."""
    return None if thread.progress is None else ended(thread.progress.candidates)


_GROUP: Final = frozenset(
    {JsonContexts, PlainExits, PlainShapes, DistinguishedValues, Solver, SchemaValues}
    | {QuickCheck, Shapes, Branches, ExclusiveUnions}
)
"""What decides for one schema. Its members refer to each other, until `release` parts them: so the
collector needn't look at them where an owner of levels is among them, which is released with the
tables of its vocabulary. Nothing of them may lead back to these, or they would never be freed."""
