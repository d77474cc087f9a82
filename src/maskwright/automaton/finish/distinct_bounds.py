"""Upper bounds in bytes on a value that must be distinct from a number of others.

The others are not known, only how many they are. Of a list of values, one more than there are
others contains a distinct one. An array or object is distinct if it can be completed in more ways
than there are others, by one of its parts or by several together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from maskwright.automaton.satisfy.solver import Solver
from maskwright.automaton.value.progress import ArrayProgress, ObjectProgress, Progress
from maskwright.automaton.value.whitespace import Whitespace
from maskwright.automaton.value.witness_text import byte_count, rendered, spelled
from maskwright.grammar.regular.derivative import arcs
from maskwright.grammar.regular.terms import ANYTHING, EMPTY, Regular
from maskwright.grammar.shape.shape import Conjunction
from maskwright.limits import spend

UNKNOWN: Final = float("inf")
"""A bound that only a search can tell: none that says anything."""
UNFINISHED: Final = 12
"""Bytes that at most finish a character begun in a string: the rest of two `\\uXXXX`."""
DISTINGUISHING: Final = 6
"""Bytes that make a free name or string distinct from all others, with its quotes: four characters
of an alphabet of dozens are enough for more strings than any text has room for."""
_MOST_LENGTH: Final = 512
"""Characters up to which the longest string of a language is looked for, and the most states."""


class DistinctCostBounds:
    """The bounds on distinct values that a solver finds, written with one style of whitespace."""

    def __init__(self, solver: Solver, whitespace: Whitespace) -> None:
        self._solver = solver
        self._whitespace = whitespace
        self.comma: Final = 1 + len(whitespace.after_comma)
        self.around_names: Final = self.comma + 1 + len(whitespace.after_colon)
        """A comma before a name and a colon after it."""
        self._known: dict[tuple[Conjunction, int], float] = {}
        self._open: set[Conjunction] = set()
        """Conjunctions whose bounds are being computed: one that contains itself has none."""
        self._longest: dict[Regular, float] = {}

    def value(self, value: Conjunction, others: int) -> float:
        """Upper bound on a value that is distinct from `others` other ones, whichever they are."""
        key = (value, others)
        if key not in self._known:
            if value in self._open:
                return UNKNOWN
            spend()
            self._open.add(value)
            try:
                self._known[key] = self._find(value, others)
            finally:
                self._open.discard(value)
        return self._known[key]

    def _find(self, value: Conjunction, others: int) -> float:
        if others == 0:
            witness = self._solver.shortest.unless_too_long(value)
            if witness is None:
                return UNKNOWN
            return byte_count(rendered(witness, self._whitespace, 0))
        listed = self._solver.search.distinct.scalars(value, others + 1)
        least = listed[others].size if len(listed) > others else UNKNOWN
        for start in self._solver.values.containers(value):
            least = min(least, 1 + self.closing(start, others, begun=False))
        return least

    def closing(self, progress: Progress, others: int, *, begun: bool = True) -> float:
        """Upper bound from the end of a member or item to the end of its container, which is to be
        distinct from `others` other ones.

        With `begun`, another member or item may have been begun; then the members that aren't
        required may have been passed and don't count.
        """
        if progress.must_equal_one:
            return UNKNOWN
        if isinstance(progress, ArrayProgress):
            return self._items(progress, others)
        return self._members(progress, others, begun=begun)

    def _items(self, progress: ArrayProgress, others: int) -> float:
        shape, at = progress.shape, progress.index
        if shape.contains or progress.wants_repeat:
            return UNKNOWN
        stop = max(at, shape.least)
        if others and stop == at and (shape.most is None or at < shape.most):
            stop += 1  # no item is required, but one more can make the difference
        items = [*shape.prefix[at:stop]]
        if not shape.unique:
            items += [shape.rest] * (stop - at - len(items))
            return 1 + self._together(items, others) + self.comma * len(items)
        if others and stop == at:
            return UNKNOWN
        # Each item is distinct from those remembered, from the one that is being read, from the
        # other items to come, and from what would make the array equal to one of the others.
        being_read, to_come = 1, stop - at - 1
        besides = others + len(progress.seen) + being_read + to_come
        further = stop - at - len(items)
        total = sum([self.value(item, besides) for item in items])
        if further:
            total += further * self.value(shape.rest, besides)
        return 1 + self.comma * (stop - at) + total

    def _members(self, progress: ObjectProgress, others: int, *, begun: bool) -> float:
        shape = progress.shape
        left = progress.required_left()
        if shape.some or progress.count + len(left) < shape.least:
            return UNKNOWN
        names = sum(self.name(shape.names[at]) for at in left)
        total = self._together([shape.values[at] for at in left], others)
        if total == UNKNOWN and shape.most is None:
            total = self._together([shape.values[at] for at in left], 0)
            if total != UNKNOWN:
                total += self._optional_member(progress, others, begun=begun)
        return 1 + names + total

    def _optional_member(self, progress: ObjectProgress, others: int, *, begun: bool) -> float:
        """A member that isn't required and makes the difference."""
        shape, solver = progress.shape, self._solver
        least = UNKNOWN
        if shape.languages in ((), (ANYTHING,)):  # any name will do
            for each in solver.values.names.of(shape.languages):
                cost = self.value(shape.others(each.mask), 0)
                least = min(least, self.around_names + DISTINGUISHING + cost)
        if not begun:
            for name, value in zip(shape.names, shape.values, strict=True):
                if solver.satisfiable(value):
                    least = min(least, self.name(name) + self.value(value, others))
        return least

    def name(self, name: str) -> int:
        """A comma, a name and a colon."""
        return self.around_names + byte_count(spelled(name))

    def _together(self, values: Sequence[Conjunction], others: int) -> float:
        """Values that together are distinct from `others` other combinations: the product of the
        numbers of their different values has to exceed `others`."""
        ways, total = others + 1, 0.0
        cardinality = self._solver.cardinality
        for value in sorted(values, key=cardinality.values, reverse=True) if others else values:
            taken = min(ways, max(1, cardinality.values(value))) if ways > 1 else 1
            cost = self.value(value, taken - 1)
            if cost == UNKNOWN and taken > 1:
                taken, cost = 1, self.value(value, 0)
            if cost == UNKNOWN:
                return UNKNOWN
            total += cost
            ways = -(-ways // taken)
        return total if ways == 1 else UNKNOWN

    def string_rest(self, value: Conjunction, *, distinguished: bool) -> float:
        """Upper bound on the rest of a string, whatever part of it has been read, beyond what the
        bound of its leaf says.

        `distinguished`: some strings are distinguished from the others of their language, so that
        the leaf's own bound may be that of another string.
        """
        strings = self._solver.values.shapes.normal_form(value).strings
        if strings is EMPTY:
            return 0
        if strings is ANYTHING:
            return UNFINISHED + DISTINGUISHING
        few = self._solver.values.finite_values(value).strings
        if few is not None:
            return UNFINISHED + max((byte_count(spelled(text)) for text in few), default=0)
        if not distinguished:
            return 0
        if strings not in self._longest:
            self._longest[strings] = _longest(strings)
        return UNFINISHED * (self._longest[strings] + 1)


def _longest(term: Regular) -> float:
    """The number of characters of a language's longest string; `UNKNOWN` if there is none, or if it
    takes long to find."""
    states, looked = {term}, 0
    for length in range(_MOST_LENGTH):
        following = {target for state in states for _, _, target in arcs(state)}
        if not following:
            return length
        looked += len(following)
        if looked > _MOST_LENGTH:
            break
        states = following
    return UNKNOWN
