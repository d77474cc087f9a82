"""Reading a property name where counting decides what may come: most objects there are.

A shape is *plain* if it requires no members by pattern, and if of the names that it doesn't list
either all may come or none. Whether an object can still be completed after a member is then a
matter of counting names: no search is needed, and all positions of an object share one term. The
gate keeps out the names that may not come now.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from maskwright.automaton.json.bit_sets import bits_of, numbers_in
from maskwright.automaton.json.remembered_names import RememberedNames
from maskwright.automaton.satisfy.solver import Solver
from maskwright.automaton.value.level import Thread
from maskwright.automaton.value.progress import ObjectProgress
from maskwright.grammar.regular.terms import (
    ANYTHING,
    EMPTY,
    Regular,
    WordList,
    tagged,
    word_list,
    word_slice,
)
from maskwright.grammar.schema.options import PropertyOrder
from maskwright.grammar.shape.shape import ObjectShape

PlainShapeOf = Callable[[ObjectShape], "PlainShape | None"]
"""Finds what is shared by the positions of a shape, None if the shape isn't plain."""


@dataclass(frozen=True, eq=False)
class PlainShape:
    """What the positions in objects of a plain shape share: the names that may come at all, and the
    terms that distinguish names. Sets of the shape's names are bits by index."""

    shape: ObjectShape
    order: PropertyOrder
    possible: int
    """The names with a value that satisfies what the shape asks of it."""
    others: bool
    """Whether names that are not among the shape's may come."""
    remembered: RememberedNames
    read: frozenset[str] = frozenset()
    """Other names that an object has and that are remembered; the terms distinguish them too."""

    @classmethod
    def of(
        cls, shape: ObjectShape, solver: Solver, remembered: RememberedNames
    ) -> PlainShape | None:
        """The shape with what is shared, None if it isn't plain."""
        if shape.some:
            return None
        if shape.languages:
            names = solver.values.names
            classes = names.of(shape.languages)
            alive = [each for each in classes if solver.satisfiable(shape.others(each.mask))]
            if len(alive) not in (0, len(classes)):
                return None
            if any(names.few(each) is not None for each in alive):
                return None
            others = bool(alive)
        else:  # all other names are in one class
            others = solver.satisfiable(shape.others(()))
        possible = (at for at, value in enumerate(shape.values) if solver.satisfiable(value))
        return cls(shape, solver.values.order, bits_of(possible), others, remembered)

    @cached_property
    def indexes(self) -> dict[str | None, int]:
        """The shape's names with their indexes."""
        return {name: at for at, name in enumerate(self.shape.names)}

    @cached_property
    def _required(self) -> int:
        return bits_of(self.shape.required)

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
            found = bits_of(at for at in numbers_in(found) if (left >> at).bit_count() >= missing)
        return found, others

    def may_close(self, progress: ObjectProgress) -> bool:
        """Whether an object may end here."""
        missing = self._required & ~progress.seen
        return progress.count >= self.shape.least and not missing >> progress.position

    # Terms

    @cached_property
    def _known(self) -> WordList:
        known = word_list((*self.shape.names, *self.read))
        if self.read:
            known.whole = False  # such a list serves one place in one text: it isn't worth keeping
        return known

    @property
    def words(self) -> tuple[str, ...]:
        """The names that the terms distinguish, in order."""
        return self._known.strings

    @cached_property
    def _trie(self) -> Regular:
        return word_slice(self._known) if self.words else EMPTY

    @cached_property
    def open(self) -> Regular:
        """The term where other names may come."""
        return tagged((self._trie, *self.languages), named=True)

    @cached_property
    def closed(self) -> Regular:
        """The term where none may."""
        return tagged((self._trie, EMPTY), named=True)

    def bits(self, names: int) -> int:
        """A set of the shape's names as one of words."""
        gone = self.possible & ~names
        if gone.bit_count() < names.bit_count():
            return self._possible_words & ~self._sum(gone)
        return self._sum(names)

    @cached_property
    def _possible_words(self) -> int:
        return self._sum(self.possible)

    @cached_property
    def _words_of_names(self) -> list[int]:
        """By name of the shape: the index of its word."""
        index = {word: at for at, word in enumerate(self.words)}
        return [index[name] for name in self.shape.names]

    def _sum(self, names: int) -> int:
        return bits_of(self._words_of_names[at] for at in numbers_in(names))


def plain_shapes(solver: Solver, remembered: RememberedNames) -> PlainShapeOf:
    """`PlainShape.of` for the shapes of one schema; each is examined once."""

    found: dict[ObjectShape, PlainShape | None] = {}  # made more quickly than a `functools.cache`

    def find(shape: ObjectShape) -> PlainShape | None:
        if shape not in found:
            found[shape] = PlainShape.of(shape, solver, remembered)
        return found[shape]

    return find


class PlainReader:
    """Reads a name as `NameReader` does, for a single thread in a plain shape."""

    __slots__ = ("bits", "names", "others", "plain", "progress", "tag", "term", "words")

    def __init__(self, plain: PlainShape, tag: int, progress: ObjectProgress) -> None:
        """`plain` has the other names that `progress` has."""
        self.plain: Final = plain
        self.tag: Final = tag
        self.progress: Final = progress
        self.names, self.others = plain.open_names(progress)
        """The shape's names that may come now, as bits, and whether other names may."""
        self.term = plain.open if self.others else plain.closed
        self.words = plain.words
        self.bits = plain.bits(self.names)

    @classmethod
    def of(cls, threads: tuple[Thread, ...], plain_shape: PlainShapeOf) -> PlainReader | None:
        """The reader of a name in a level of one thread, None if its shape isn't plain."""
        if len(threads) != 1:
            return None
        progress = threads[0].progress
        assert isinstance(progress, ObjectProgress)
        if progress.candidates or progress.must_equal_one:
            return None
        plain = plain_shape(progress.shape)
        if plain is None:
            return None
        if progress.others:
            plain = replace(plain, read=progress.others)
        return cls(plain, threads[0].tag, progress)

    def index(self, label: Hashable) -> int | None:
        """The index of the shape's name that a label stands for, None for another name."""
        word = _entries(label)[0]
        return self.plain.indexes.get(self.words[word - 1]) if word else None

    def reader_after(self, at: int) -> PlainReader:
        """The reader of the next name, after the member with one of the shape's names."""
        after = self.progress.with_member(at, self.plain.order)
        return PlainReader(self.plain, self.tag, after)

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
            option = option._replace(after=plain.remembered.reduced(option.after))
        return (Thread(self.tag, option.after, option.value),)


def _entries(label: Hashable) -> tuple[int, ...]:
    assert isinstance(label, tuple)
    return label
