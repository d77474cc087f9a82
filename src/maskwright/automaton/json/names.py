"""Reading a property name: which names each thread of an object allows, and where they lead."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from itertools import chain

from maskwright.automaton.json.bit_sets import bits_of, numbers_in
from maskwright.automaton.json.plain_names import PlainShapeOf
from maskwright.automaton.json.remembered_names import RememberedNames
from maskwright.automaton.satisfy.solver import Solver
from maskwright.automaton.value.level import Thread
from maskwright.automaton.value.name_classes import NameClass
from maskwright.automaton.value.progress import MemberOption, ObjectProgress
from maskwright.grammar.regular.terms import (
    ANYTHING,
    EMPTY,
    Regular,
    alt,
    complement,
    intersection,
    tagged,
    word_list,
    word_slice,
    words,
)
from maskwright.limits import spend


@dataclass(frozen=True, slots=True)
class NameReader:
    """The language of a name, and where each name leads each thread.

    The term is a named `Tagged`: first the words, which are all names that some thread knows (also
    the ones that aren't allowed now, so that they are distinguished), then the languages of the
    other names.
    """

    term: Regular
    words: tuple[str, ...]
    bits: int
    """The words that some thread allows."""
    others: bool
    """Whether some thread allows other names."""
    readers: tuple[_ThreadReader, ...]
    solver: Solver
    remembered: RememberedNames

    @classmethod
    def of(
        cls,
        threads: tuple[Thread, ...],
        solver: Solver,
        plain_shape: PlainShapeOf,
        remembered: RememberedNames,
    ) -> NameReader:
        parts: dict[Regular, int] = {}
        readers = tuple(_reader(thread, solver, plain_shape, parts) for thread in threads)
        others = any(reader.open is not None for reader in readers)
        known = word_list([name for reader in readers for name in reader.listed_words(others)])
        allowed = {name for reader in readers for name in reader.allowed_names()}
        bits = bits_of(word for word, name in enumerate(known.strings) if name in allowed)
        trie = word_slice(known) if known.strings else EMPTY
        term = tagged((trie, *(parts or (EMPTY,))), named=True)
        return cls(term, known.strings, bits, others, readers, solver, remembered)

    def is_other(self, label: Hashable) -> bool:
        """Whether some thread takes the name for one that its shape does not list."""
        word, *members = _entries(label)
        name = self.words[word - 1] if word else None
        return any(
            reader.indexes.get(name) is None
            and name not in reader.few
            and name not in reader.taken
            and reader.open is not None
            and members[reader.open]
            for reader in self.readers
        )

    def threads(self, label: Hashable, text: str | None) -> tuple[Thread, ...]:
        """Where a name leads; `text` is the name, None if it is not known, and stands for one that
        is not remembered.

        `label`: 1 + the index of the word (0 for another name), then one entry a language.
        """
        word, *members = _entries(label)
        name = self.words[word - 1] if word else None
        found: dict[Thread, None] = {}
        for reader in self.readers:
            for option in self._options(reader, name, members, text):
                found[Thread(reader.tag, option.after, option.value, option.by_value)] = None
        return tuple(found)

    def _options(
        self, reader: _ThreadReader, name: str | None, members: list[int], text: str | None
    ) -> list[MemberOption]:
        index = reader.indexes.get(name)
        progress = reader.progress
        if index is not None:
            if index not in reader.allowed:
                return []
            return list(self.solver.named_options(progress, index))
        if name in reader.few:
            return list(self.solver.other_options(progress, reader.few[name], name))
        if reader.open is None or not members[reader.open] or name in reader.taken:
            return []
        mask = tuple(bool(members[at]) for at in reader.languages)
        name = name if text is None else text
        options = self.solver.other_options(progress, NameClass(mask, ANYTHING), name)
        return [each._replace(after=self.remembered.reduced(each.after)) for each in options]


@dataclass(frozen=True, slots=True)
class _ThreadReader:
    tag: int
    progress: ObjectProgress
    allowed: frozenset[int]
    """The indexes of the shape's names that may come now."""
    indexes: dict[str | None, int]
    open: int | None
    """The part of the tagged term that holds the other names allowed now."""
    languages: tuple[int, ...]
    """The parts that hold the shape's languages."""
    few: dict[str | None, NameClass]
    """Other names that may come now and that are distinguished: names that may run out, and names
    that some candidates have."""
    taken: frozenset[str | None]
    """Other names that may not come, although names of their class may."""
    anything: bool
    """Whether any name may come that isn't distinguished."""

    def listed_words(self, others: bool) -> tuple[str, ...]:
        """The words that are listed on behalf of this thread.

        Where any other name may come, a name that may not come is listed, as an exception. Where
        only some may, it isn't: its beginnings would stay open although they lead nowhere.
        """
        names = self.progress.shape.names
        if self.anything or not others:
            return (*names, *(name for name in self.taken if name is not None), *self.few_names)
        return (*(names[at] for at in self.allowed), *self.few_names)

    @property
    def few_names(self) -> tuple[str, ...]:
        return tuple(name for name in self.few if name is not None)

    def allowed_names(self) -> Iterator[str]:
        """The distinguished names that may come now."""
        names = self.progress.shape.names
        return chain((names[at] for at in self.allowed), self.few_names)


def _reader(
    thread: Thread, solver: Solver, plain_shape: PlainShapeOf, parts: dict[Regular, int]
) -> _ThreadReader:
    progress = thread.progress
    assert isinstance(progress, ObjectProgress)
    shape = progress.shape
    spend(1 + len(shape.names))
    is_compared = progress.candidates or progress.must_equal_one
    plain = None if is_compared else plain_shape(shape)
    few: dict[str | None, NameClass] = {}
    taken: frozenset[str | None] = progress.others
    if plain is None:
        allowed = frozenset(
            at
            for at in progress.names(solver.values.order)
            if any(True for _ in solver.named_options(progress, at))
        )
        few, taken, language = _other_names(progress, solver)
    else:
        bits, others = plain.open_names(progress)
        allowed = frozenset(numbers_in(bits))
        language = ANYTHING if others else EMPTY
    opened: int | None = None
    members: tuple[int, ...] = ()
    if language is not EMPTY:
        opened = parts.setdefault(language, len(parts))
        inside = [intersection(each, language) for each in shape.languages]
        members = tuple(parts.setdefault(each, len(parts)) for each in inside)
    indexes: dict[str | None, int] = {name: at for at, name in enumerate(shape.names)}
    anything = language is ANYTHING
    return _ThreadReader(
        thread.tag, progress, allowed, indexes, opened, members, few, taken, anything
    )


def _other_names(
    progress: ObjectProgress, solver: Solver
) -> tuple[dict[str | None, NameClass], frozenset[str | None], Regular]:
    """The names that the shape does not list and that may come now.

    Names of classes that may run out, and names that candidates have, one by one; the names of the
    other classes that are taken; and the language of these classes, `EMPTY` if there are none."""
    few: dict[str | None, NameClass] = {}
    taken: frozenset[str | None] = progress.others
    if not progress.others_may_come(solver.values.order):
        return few, taken, EMPTY
    candidates = dict(solver.values.names.of_candidates(progress))
    classes = solver.values.names.of(progress.shape.languages)
    alive: list[NameClass] = []
    for each in classes:
        names = solver.values.names.few(each)
        if names is None:
            if any(True for _ in solver.other_options(progress, each, None)):
                alive.append(each)
            names = [name for name, its in candidates.items() if its is each]
        free = (n for n in names if n not in progress.shape.names and n not in progress.others)
        few |= {
            name: each
            for name in free
            if any(True for _ in solver.other_options(progress, each, name))
        }
    taken |= candidates.keys() - few.keys()
    if len(alive) == len(classes):
        return few, taken, ANYTHING
    listed = words([*progress.shape.names, *progress.others, *candidates])
    language = intersection(alt(*(each.language for each in alive)), complement(listed))
    return few, taken, language if solver.values.shortest_string(language) is not None else EMPTY


def _entries(label: Hashable) -> tuple[int, ...]:
    assert isinstance(label, tuple)
    return label
