"""Reading a property name where counting decides what may come: most objects there are.

A shape is *plain* if it requires no members by pattern, and if the names that it doesn't list don't
run out. Whether an object can still be completed after a member is then a matter of counting names:
no search is needed. If of these names either all may come or none, all positions of an object share
one term too, and `PlainReader` reads it: the gate keeps out the names that may not come now.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import Final

from maskwright.automaton.json.bit_sets import bits_of
from maskwright.automaton.json.plain_reader import PlainFacts, PlainReader
from maskwright.automaton.json.remembered_names import RememberedNames
from maskwright.automaton.satisfy.solver import Solver
from maskwright.automaton.value.progress import ObjectProgress
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
from maskwright.grammar.schema.options import PropertyOrder
from maskwright.grammar.shape.shape import Conjunction, ObjectShape

PlainShapeOf = Callable[[ObjectShape], "PlainShape | None"]
"""Finds what is shared by the positions of a shape, None if the shape isn't plain."""


class PlainShape:
    """What the positions in objects of a plain shape share: the names that may come at all, and the
    terms that distinguish names. Sets of the shape's names are bits by index."""

    def __init__(
        self,
        shape: ObjectShape,
        order: PropertyOrder,
        possible: int,
        others: bool,
        remembered: RememberedNames,
        some: tuple[Regular, ...] = (),
        read: frozenset[str] = frozenset(),
    ) -> None:
        """`possible`: the names with a value that satisfies what the shape asks of it. `others`:
        whether names that are not among the shape's may come. `some`: their languages, if only some
        of them may. `read`: other names that an object has and that are remembered; the terms
        distinguish them too."""
        self.shape: Final = shape
        self.some: Final = some
        self.order: Final[PropertyOrder] = order
        self.possible: Final = possible
        self.others: Final = others
        self.remembered: Final = remembered
        self.indexes: Final[dict[str | None, int]] = dict(zip(shape.names, count()))
        """The shape's names with their indexes."""
        self._known = word_list((*shape.names, *read) if read else shape.names)
        if read:
            self._known.whole = False  # it serves one place in one text: it isn't worth keeping
        self.words: Final = self._known.strings
        """The names that the terms distinguish, in order."""
        self.facts: Final = PlainFacts(
            shape, order, possible, others, self.words, remembered.leaves_to_text
        )
        """What readers look up."""
        self.languages: Final[dict[Regular, int]] = {ANYTHING: 0}
        """The languages of other names, with their places in a label: that of all comes first."""
        for language in shape.languages:
            self.languages.setdefault(language, len(self.languages))
        self._terms: list[Regular | None] = [None, None]
        self._other_names: dict[frozenset[str], Regular] = {}
        self._other_values: dict[tuple[int, ...], Conjunction] = {}

    @classmethod
    def of(
        cls, shape: ObjectShape, solver: Solver, remembered: RememberedNames
    ) -> PlainShape | None:
        """The shape with what is shared, None if it isn't plain."""
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
        return cls(shape, solver.values.order, possible, others, remembered, some)

    def mask(self, members: Sequence[int]) -> tuple[bool, ...]:
        """In which of the shape's languages another name is, by its label."""
        return tuple(bool(members[self.languages[each]]) for each in self.shape.languages)

    def open_names(self, progress: ObjectProgress) -> tuple[int, bool]:
        """The shape's names that may come now, and whether others may."""
        reader = PlainReader(self, 0, progress, 0)
        return reader.names, reader.others

    def other_names(self, read: frozenset[str]) -> Regular:
        """The other names that may come, if any may, in an object that has these of them."""
        if not self.some:
            return ANYTHING
        known = self._other_names.get(read)
        if known is None:
            listed = words([*self.shape.names, *read])
            known = intersection(alt(*self.some), complement(listed))
            self._other_names[read] = known
        return known

    def other_value(self, members: tuple[int, ...]) -> Conjunction:
        """What the value of another name must satisfy, by its label."""
        known = self._other_values.get(members)
        if known is None:
            known = self._other_values[members] = self.shape.others(self.mask(members))
        return known

    def with_names(self, read: frozenset[str]) -> PlainShape:
        """The shape in an object that has these other names."""
        return PlainShape(
            self.shape, self.order, self.possible, self.others, self.remembered, self.some, read
        )

    def term(self, others: bool) -> Regular:
        """The term where other names may come, or none."""
        known = self._terms[others]
        if known is None:
            names = word_slice(self._known) if self.words else EMPTY
            beside = self.languages if others else (EMPTY,)
            known = self._terms[others] = tagged((names, *beside), named=True)
        return known


def plain_shapes(solver: Solver, remembered: RememberedNames) -> PlainShapeOf:
    """`PlainShape.of` for the shapes of one schema; each is examined once."""

    found: dict[ObjectShape, PlainShape | None] = {}  # made more quickly than a `functools.cache`

    def find(shape: ObjectShape) -> PlainShape | None:
        if shape not in found:
            found[shape] = PlainShape.of(shape, solver, remembered)
        return found[shape]

    return find
