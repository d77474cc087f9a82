"""Reading a property name where counting decides what may come: most objects there are.

A shape is *plain* if it requires no members by pattern, and if of the names that it doesn't list
either all may come or none. Whether an object can still be completed after a member is then a
matter of counting names: no search is needed, and all positions of an object share one term. The
gate keeps out the names that may not come now.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from functools import cached_property
from typing import Final

from maskwright.automaton.satisfy.solver import Solver
from maskwright.automaton.value.level import Thread
from maskwright.automaton.value.progress import ObjectProgress
from maskwright.grammar.regular.terms import (
    ANYTHING,
    EMPTY,
    Regular,
    tagged,
    word_list,
    word_slice,
)
from maskwright.grammar.shape.shape import ObjectShape


class PlainShapes:
    """The shapes of one schema that are plain; each shape is examined once."""

    def __init__(self, solver: Solver) -> None:
        self._solver = solver
        self._known: dict[ObjectShape, PlainShape | None] = {}

    def reader(self, threads: tuple[Thread, ...]) -> PlainReader | None:
        """The reader of a name in a level of one thread, if its shape is plain."""
        if len(threads) != 1:
            return None
        progress = threads[0].progress
        assert isinstance(progress, ObjectProgress)
        if progress.candidates or progress.must_equal_one:
            return None
        plain = self.of(progress.shape)
        return None if plain is None else PlainReader(plain, threads[0].tag, progress, None)

    def of(self, shape: ObjectShape) -> PlainShape | None:
        """The shape as a plain one, None if it isn't plain."""
        if shape not in self._known:
            self._known[shape] = PlainShape.of(shape, self._solver)
        return self._known[shape]


class PlainShape:
    """What all positions of a plain shape share. Sets of its names are bits by index."""

    def __init__(self, shape: ObjectShape, solver: Solver, others: bool) -> None:
        self.order: Final = solver.values.order
        self.others: Final = others
        """Whether names that are not among the shape's may come."""
        self.indexes: Final[dict[str | None, int]] = {
            name: at for at, name in enumerate(shape.names)
        }
        self.shape: Final = shape
        possible = (at for at, value in enumerate(shape.values) if solver.satisfiable(value))
        self.possible: Final = _bits(possible)
        self._required = _bits(shape.required)

    @classmethod
    def of(cls, shape: ObjectShape, solver: Solver) -> PlainShape | None:
        """None if the shape isn't plain."""
        if shape.some:
            return None
        classes = solver.values.names.of(shape.languages)
        alive = [each for each in classes if solver.satisfiable(shape.others(each.mask))]
        if len(alive) not in (0, len(classes)):
            return None
        if any(solver.values.names.few(each) is not None for each in alive):
            return None
        return cls(shape, solver, others=bool(alive))

    @cached_property
    def terms(self) -> NameTerms:
        """The terms of an object that has no names beyond the shape's."""
        return NameTerms(self, frozenset())

    @cached_property
    def languages(self) -> dict[Regular, int]:
        """The languages of other names, with their places in a label: that of all comes first."""
        found = {ANYTHING: 0}
        for language in self.shape.languages:
            found.setdefault(language, len(found))
        return found

    def mask(self, members: list[int]) -> tuple[bool, ...]:
        """In which of the shape's languages another name is, by its label."""
        return tuple(bool(members[self.languages[each]]) for each in self.shape.languages)

    def open_names(self, progress: ObjectProgress) -> tuple[int, bool]:
        """The shape's names that may come now, and whether others may."""
        shape = self.shape
        left, needed = self.possible & ~progress.seen, self._required & ~progress.seen
        found, others = left, self.others
        if self.order == "schema":
            here = -1 << progress.position
            left, needed = left & here, needed & here
            first = needed & -needed
            found = left
            if first and not first >> shape.declared:
                found, others = left & (2 * first - 1), False
        if shape.most is not None and progress.count + needed.bit_count() >= shape.most:
            found, others = found & needed, False
        if not self.others and progress.count < shape.least and self.order == "schema":
            # A name that comes bars the ones before it, so enough must be left from it on. All that
            # are left are declared: any other name has no value here.
            missing = shape.least - progress.count
            found = _bits(at for at in places(found) if (left >> at).bit_count() >= missing)
        return found, others

    def may_close(self, progress: ObjectProgress) -> bool:
        """Whether an object may end here."""
        missing = self._required & ~progress.seen
        return progress.count >= self.shape.least and not missing >> progress.position


class NameTerms:
    """The terms that distinguish some names: a shape's own, then others that an object has."""

    def __init__(self, shape: PlainShape, others: frozenset[str]) -> None:
        names = (*shape.shape.names, *others)
        known = word_list(names)
        if others:
            known.whole = False  # such a list serves one place in one text: it isn't worth keeping
        places = {word: 1 << at for at, word in enumerate(known.strings)}
        self.words: Final = known.strings
        self._shape = shape
        self._trie: Regular = word_slice(known) if names else EMPTY
        self._bits = [places[name] for name in names]

    @cached_property
    def open(self) -> Regular:
        """Where other names may come."""
        return tagged((self._trie, *self._shape.languages), named=True)

    @cached_property
    def closed(self) -> Regular:
        """Where none may."""
        return tagged((self._trie, EMPTY), named=True)

    def bit(self, name: int) -> int:
        """One of the shape's names as a word."""
        return self._bits[name]

    def bits(self, names: int) -> int:
        """A set of the shape's names as one of words."""
        gone = self._shape.possible & ~names
        if gone.bit_count() < names.bit_count():
            return self._possible & ~self._sum(gone)
        return self._sum(names)

    @cached_property
    def _possible(self) -> int:
        return self._sum(self._shape.possible)

    def _sum(self, names: int) -> int:
        return sum(self._bits[at] for at in places(names))


class PlainReader:
    """Reads a name as `NameReader` does, for a single thread in a plain shape."""

    __slots__ = ("_terms", "bits", "names", "others", "plain", "progress", "tag", "term", "words")

    def __init__(
        self, plain: PlainShape, tag: int, progress: ObjectProgress, before: PlainReader | None
    ) -> None:
        """`before`: the reader of the name of the member before, if the shape lists it."""
        self.plain: Final = plain
        self.tag: Final = tag
        self.progress: Final = progress
        self.names, self.others = plain.open_names(progress)
        """The shape's names that may come now, as bits, and whether other names may."""
        if before is not None:
            terms = before._terms
        else:
            terms = NameTerms(plain, progress.others) if progress.others else plain.terms
        self._terms = terms
        self.term = terms.open if self.others else terms.closed
        self.words = terms.words
        self.bits = terms.bits(self.names)

    def index(self, label: Hashable) -> int | None:
        """The index of the shape's name that a label stands for, None for another name."""
        word = _entries(label)[0]
        return self.plain.indexes.get(self.words[word - 1]) if word else None

    def reader_after(self, at: int) -> PlainReader:
        """The reader of the next name, after the member with one of the shape's names."""
        after = self.progress.with_member(at, self.plain.order)
        return PlainReader(self.plain, self.tag, after, self)

    @property
    def may_close(self) -> bool:
        """Whether the object may end instead."""
        return self.plain.may_close(self.progress)

    def is_other(self, label: Hashable) -> bool:
        """See `NameReader.is_other`."""
        word, *members = _entries(label)
        name = self.words[word - 1] if word else None
        return (
            self.others
            and members[0] != 0
            and name not in self.plain.indexes
            and name not in self.progress.others
        )

    def threads(self, label: Hashable, text: str | None) -> tuple[Thread, ...]:
        """See `NameReader.threads`."""
        progress, plain = self.progress, self.plain
        word, *members = _entries(label)
        name = self.words[word - 1] if word else None
        at = plain.indexes.get(name)
        if at is not None:
            if not self.names >> at & 1:
                return ()
            option = next(progress.take(at, plain.order))
        elif not self.others or not members[0] or name in progress.others:
            return ()
        else:
            mask = plain.mask(members)
            option = next(progress.take_other(mask, name if text is None else text, plain.order))
        return (Thread(self.tag, option.after, option.value),)


def _entries(label: Hashable) -> tuple[int, ...]:
    assert isinstance(label, tuple)
    return label


def _bits(places: Iterable[int]) -> int:
    found = 0
    for at in places:
        found |= 1 << at
    return found


def places(bits: int) -> Iterator[int]:
    """The places of the ones."""
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low
