"""What is known of the values of a schema without a search; all of this room builds on it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from maskwright.automaton.value.equality import NONE, equality_candidates
from maskwright.automaton.value.finite_values import FiniteValues, finite_values
from maskwright.automaton.value.name_classes import NameClasses
from maskwright.automaton.value.progress import ArrayProgress, ObjectProgress, Progress
from maskwright.automaton.value.witness_text import ScalarWitness, Witness, byte_count, spelled
from maskwright.errors import TooLongError
from maskwright.garbage import hide
from maskwright.grammar.regular.derivative import is_live
from maskwright.grammar.regular.length_bounds import counted
from maskwright.grammar.regular.shortest import shortest
from maskwright.grammar.regular.terms import Regular
from maskwright.grammar.schema.options import PropertyOrder
from maskwright.grammar.shape.shape import Conjunction
from maskwright.grammar.shape.shapes import Shapes
from maskwright.limits import Limits

NOTHING: Final[frozenset[str]] = frozenset()


class SchemaValues:
    """Scalars, names and unread containers of each conjunction of one schema."""

    def __init__(self, shapes: Shapes, order: PropertyOrder, limits: Limits) -> None:
        self.shapes: Final = shapes
        self.order: Final[PropertyOrder] = order
        self.limits: Final = limits
        self.names: Final = hide(NameClasses(limits))
        self._finite: dict[Conjunction, FiniteValues] = {}

    def is_live(self, term: Regular) -> bool:
        """Whether a regular language has any string."""
        if term.live is not None:  # of most terms it is seen when they are made
            return term.live
        return is_live(counted(term), self.limits.witness_search)

    def shortest_string(self, term: Regular) -> str | None:
        """The shortest string of a regular language, None if the language is empty."""
        return shortest(term, self.limits.witness_search) if self.is_live(term) else None

    def shortest_scalar(self, conjunction: Conjunction) -> Witness | None:
        """The scalar that takes the fewest bytes, None if there are no scalars."""
        shape = self.shapes.normal_form(conjunction)
        other = self.shortest_string(shape.scalars)
        try:
            string = self.shortest_string(shape.strings)
        except TooLongError:
            if other is None:
                raise
            string = None
        found = [] if string is None else [spelled(string)]
        found += [] if other is None else [other]
        return ScalarWitness(min(found, key=byte_count)) if found else None

    def finite_values(self, conjunction: Conjunction) -> FiniteValues:
        """The scalars of a conjunction, listed as far as they are few."""
        known = self._finite.get(conjunction)
        if known is None:
            known = self._finite[conjunction] = finite_values(self.shapes.normal_form(conjunction))
        return known

    def containers(
        self, conjunction: Conjunction, excluded: frozenset[str] = NOTHING
    ) -> Iterator[Progress]:
        """The arrays and objects that a value of the conjunction may be, before their first item
        or member. `excluded`: values that it must not equal, as canonical JSON."""
        shape = self.shapes.normal_form(conjunction)
        for array in shape.arrays:
            start = ArrayProgress.start(array)
            candidates = equality_candidates(excluded, (), "[") if excluded else NONE
            yield replace(start, candidates=candidates) if excluded else start
        for each in shape.objects:
            candidates = equality_candidates(excluded, (), "{") if excluded else NONE
            yield ObjectProgress(each, candidates=candidates)
