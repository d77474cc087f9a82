"""Reading a property name: which names each thread of an object allows, and where they lead.

A shape is *plain* if it requires no members by pattern, and if the names that it doesn't list don't
run out. Whether an object can still be completed after a member is then a matter of counting names:
no search is needed. Most objects are such. If of these names either all may come or none, all
positions of an object share one term too, and `PlainReader` reads it: the gate keeps out the names
that may not come now.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from itertools import chain
from typing import Final

from msgspec.structs import replace

from maskwright.automaton.json.bit_sets import bits_of, numbers_in
from maskwright.automaton.json.plain_reader import PlainShape
from maskwright.automaton.json.remembered_names import RememberedNames
from maskwright.automaton.satisfy.solver import Solver
from maskwright.automaton.value.level import Thread
from maskwright.automaton.value.name_classes import NameClass
from maskwright.automaton.value.progress import MemberOption, ObjectProgress
from maskwright.garbage import hide
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
from maskwright.grammar.shape.shape import ObjectShape
from maskwright.immutable import Acyclic, Immutable
from maskwright.limits import CHEAP, spend


class PlainShapes:
    """What the positions in objects of each shape of one schema share, found once."""

    __slots__ = ("_found", "_remembered", "_solver")

    def __init__(self, solver: Solver, remembered: RememberedNames) -> None:
        self._solver = solver
        self._remembered = remembered
        self._found: dict[ObjectShape, PlainShape | None] = {}

    def __call__(self, shape: ObjectShape) -> PlainShape | None:
        """What is shared, None if the shape isn't plain."""
        if shape not in self._found:
            self._found[shape] = self._find(shape)
        return self._found[shape]

    def _find(self, shape: ObjectShape) -> PlainShape | None:
        solver = self._solver
        if shape.some:
            return None
        some: tuple[Regular, ...] = ()
        if shape.languages:
            names = solver.values.names
            classes = names.of(shape.languages)
            alive = [each for each in classes if solver.satisfiable(shape.others(each.mask))]
            if any(names.few(each) is not None for each in alive):
                return None
            others = bool(alive)
            if len(alive) < len(classes):
                some = tuple([each.language for each in alive])
        else:  # all other names are in one class
            others = solver.satisfiable(shape.others(()))
        possible = (1 << len(shape.values)) - 1
        absent = solver.unsatisfiable(shape.values)
        if absent:
            possible &= ~bits_of(absent)
        return PlainShape(shape, solver.values.order, possible, others, self._remembered, some)


class OpenNames(Acyclic, eq=False):
    """The names that may come next in an object that has been read up to `progress`."""

    progress: ObjectProgress
    allowed: frozenset[int]
    """The indexes of the shape's names that may come now."""
    indexes: dict[str | None, int]
    few: dict[str | None, NameClass]
    """Other names that may come now and that are distinguished: names that may run out, and names
    that some candidates have."""
    taken: frozenset[str | None]
    """Other names that may not come, although names of their class may."""
    language: Regular
    """The other names that may come now, `EMPTY` if none may."""
    inside: tuple[Regular, ...]
    """What is in each of the shape's languages of them."""

    __hash__ = object.__hash__

    def listed_words(self, others: bool) -> tuple[str, ...]:
        """The words that are listed on behalf of this object.

        Where any other name may come, a name that may not come is listed, as an exception. Where
        only some may, it isn't: its beginnings would stay open although they lead nowhere.
        """
        names = self.progress.shape.names
        if self.language is ANYTHING or not others:
            return (*names, *(name for name in self.taken if name is not None), *self.few_names)
        return (*(names[at] for at in self.allowed), *self.few_names)

    @property
    def few_names(self) -> tuple[str, ...]:
        return tuple(name for name in self.few if name is not None)

    def allowed_names(self) -> Iterator[str]:
        """The distinguished names that may come now."""
        names = self.progress.shape.names
        return chain((names[at] for at in self.allowed), self.few_names)


class OpenNamesFinder:
    """The `OpenNames` of one schema, found once for each progress: thousands of threads may have
    read the same."""

    def __init__(self, solver: Solver, plain_shape: PlainShapes) -> None:
        self.solver: Final = solver
        self._plain_shape = plain_shape
        self._known: dict[ObjectProgress, OpenNames] = {}
        self._inside: dict[tuple[tuple[Regular, ...], Regular], tuple[Regular, ...]] = {}
        """What of a language is in each of several."""

    def of(self, progress: ObjectProgress) -> OpenNames:
        """The names that may come next."""
        known = self._known.get(progress)
        if known is None:
            known = self._known[progress] = self._find(progress)
        return known

    def _find(self, progress: ObjectProgress) -> OpenNames:
        solver, shape = self.solver, progress.shape
        spend(1 + len(shape.names))
        is_compared = progress.candidates or progress.must_equal_one
        plain = None if is_compared else self._plain_shape(shape)
        few: dict[str | None, NameClass] = {}
        taken: frozenset[str | None] = progress.others
        if plain is None:
            names = progress.names(solver.values.order)
            options = ((at, solver.named_options(progress, at)) for at in names)
            allowed = hide(frozenset(at for at, found in options if any(True for _ in found)))
            few, taken, language = _other_names(progress, solver)
        else:
            bits, others = plain.open_names(progress)
            allowed = hide(frozenset(numbers_in(bits)))
            language = plain.other_names(progress.others) if others else EMPTY
            if language is not ANYTHING and solver.values.shortest_string(language) is None:
                language = EMPTY
        indexes: dict[str | None, int] = {name: at for at, name in enumerate(shape.names)}
        inside = self._inside.get((shape.languages, language))
        if inside is None:
            inside = tuple([intersection(each, language) for each in shape.languages])
            self._inside[shape.languages, language] = inside
        return OpenNames(progress, allowed, indexes, few, taken, language, inside)


class _ThreadReader(Acyclic):
    tag: int
    names: OpenNames
    open: int | None
    """The part of the tagged term that holds the other names allowed now."""
    languages: tuple[int, ...]
    """The parts that hold the shape's languages."""


class NameReader(Immutable):
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
        cls, threads: tuple[Thread, ...], open_names: OpenNamesFinder, remembered: RememberedNames
    ) -> NameReader:
        parts: dict[Regular, int] = {}
        readers: list[_ThreadReader] = []
        for thread in threads:
            assert isinstance(thread.progress, ObjectProgress)
            names = open_names.of(thread.progress)
            opened, inside = None, ()
            if names.language is not EMPTY:
                opened = parts.setdefault(names.language, len(parts))
                inside = tuple(parts.setdefault(each, len(parts)) for each in names.inside)
            readers.append(_ThreadReader(thread.tag, names, opened, inside))
        spend(CHEAP * len(readers))
        others = any(reader.open is not None for reader in readers)
        distinct = dict.fromkeys(reader.names for reader in readers)
        known = word_list([name for names in distinct for name in names.listed_words(others)])
        allowed = {name for names in distinct for name in names.allowed_names()}
        bits = bits_of(word for word, name in enumerate(known.strings) if name in allowed)
        trie = word_slice(known) if known.strings else EMPTY
        term = tagged((trie, *(parts or (EMPTY,))), named=True)
        return cls(term, known.strings, bits, others, tuple(readers), open_names.solver, remembered)

    def is_other(self, label: Hashable) -> bool:
        """Whether some thread takes the name for one that its shape does not list."""
        word, *members = entries_of(label)
        name = self.words[word - 1] if word else None
        return any(
            reader.names.indexes.get(name) is None
            and name not in reader.names.few
            and name not in reader.names.taken
            and reader.open is not None
            and members[reader.open]
            for reader in self.readers
        )

    def threads(self, label: Hashable, text: str | None) -> tuple[Thread, ...]:
        """Where a name leads; `text` is the name, None if it is not known, and stands for one that
        is not remembered.

        `label`: 1 + the index of the word (0 for another name), then one entry a language.
        """
        word, *members = entries_of(label)
        name = self.words[word - 1] if word else None
        options: dict[OpenNames, list[MemberOption]] = {}
        found: dict[Thread, None] = {}
        for reader in self.readers:
            known = options.get(reader.names)
            if known is None:
                known = options[reader.names] = self._options(reader, name, members, text)
            for option in known:
                found[Thread(reader.tag, option.after, option.value, option.by_value)] = None
        return tuple(found)

    def _options(
        self, reader: _ThreadReader, name: str | None, members: list[int], text: str | None
    ) -> list[MemberOption]:
        names = reader.names
        index, progress = names.indexes.get(name), names.progress
        if index is not None:
            if index not in names.allowed:
                return []
            return list(self.solver.named_options(progress, index))
        if name in names.few:
            return list(self.solver.other_options(progress, names.few[name], name))
        if reader.open is None or not members[reader.open] or name in names.taken:
            return []
        mask = tuple(bool(members[at]) for at in reader.languages)
        name = name if text is None else text
        options = self.solver.other_options(progress, NameClass(mask, ANYTHING), name)
        return [replace(each, after=self.remembered.reduced(each.after)) for each in options]


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


def entries_of(label: Hashable) -> tuple[int, ...]:
    """What the label of a tagged term says of each of its parts."""
    assert isinstance(label, tuple)
    return label
