"""Which values of items that must differ are distinguished one by one, because they may run out.

While an item is read, the leaf's label shows which of these values it is (for an array or object,
its candidates do). So what may follow is known without looking at the text. Where a conjunction has
more values than are distinguished, they don't run out.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Final

from maskwright.automaton.satisfy.solver import Solver
from maskwright.automaton.value.finite_values import canonical
from maskwright.automaton.value.progress import ArrayProgress
from maskwright.grammar.schema.tree import negated
from maskwright.grammar.shape.shape import ArrayShape, Conjunction, ObjectShape
from maskwright.immutable import Acyclic
from maskwright.limits import spend

MOST_CONTAINERS: Final = 32
"""Arrays and objects that are distinguished; where there are more, they don't run out."""
_MOST_TOGETHER: Final = 4
"""Up to so many `contains`, items that several of them count are looked at too."""
_MOST_DEPTH: Final = 4
"""Levels of nesting that are searched for a part with many values."""


class Distinguished(Acyclic):
    scalars: Mapping[str, str]
    """A spelling without an exponent, by canonical JSON."""
    containers: tuple[str, ...]
    """As canonical JSON."""
    fewest: float
    """The smallest number of values of any item to come; infinite where none can run out."""


class DistinguishedValues:
    """The distinguished values of each array shape, by the index of an item, each found once."""

    def __init__(self, solver: Solver) -> None:
        self._solver = solver
        self._known: dict[tuple[ArrayShape, int], Distinguished] = {}
        self._containers: dict[Conjunction, tuple[str, ...] | None] = {}

    def after(self, after: ArrayProgress) -> Distinguished:
        """The values that make a difference to the items that follow after `after`."""
        at = min(after.index, len(after.shape.prefix))
        key = (after.shape, at)
        if key not in self._known:
            self._known[key] = self._distinguished(after.shape, at)
        return self._known[key]

    def _distinguished(self, shape: ArrayShape, start: int) -> Distinguished:
        scalars: dict[str, str] = {}
        containers: dict[str, None] = {}
        fewest = float("inf")
        for item in _items(shape, start):
            finite = self._solver.values.finite_values(item)
            few = self.containers(item)
            scalars.update((canonical(text), text) for text in finite.texts())
            containers.update(dict.fromkeys(few or ()))
            if finite.strings is not None and not finite.many_numbers and few is not None:
                fewest = min(fewest, finite.size + len(few))
        return Distinguished(scalars, tuple(containers) if fewest < float("inf") else (), fewest)

    def containers(self, item: Conjunction) -> tuple[str, ...] | None:
        """The arrays and objects of a conjunction, None if there are many."""
        if item not in self._containers:
            found = None
            if not self._has_many(item, 0):
                found = self._solver.search.distinct.containers(item, MOST_CONTAINERS + 1)
            are_few = found is not None and len(found) <= MOST_CONTAINERS
            self._containers[item] = found if are_few else None
        return self._containers[item]

    def _has_many(self, item: Conjunction, depth: int) -> bool:
        """Whether some part of the conjunction's containers has many values."""
        if depth == _MOST_DEPTH:
            return True
        spend()
        shape = self._solver.values.shapes.normal_form(item)
        parts = [*map(self._values_of_array, shape.arrays), *map(self._values, shape.objects)]
        return any(
            value is None or self._many_values(value, depth) for part in parts for value in part
        )

    def _many_values(self, value: Conjunction, depth: int) -> bool:
        finite = self._solver.values.finite_values(value)
        return finite.strings is None or finite.many_numbers or self._has_many(value, depth + 1)

    def _values_of_array(self, shape: ArrayShape) -> list[Conjunction | None]:
        """The conjunctions of its items; None stands for items without end."""
        values: list[Conjunction | None] = list(shape.prefix[: shape.most])
        goes_on = shape.most is None or shape.most > len(shape.prefix)
        if goes_on and self._solver.satisfiable(shape.rest):
            values.append(None if shape.most is None else shape.rest)
        return [each for each in values if each is None or self._solver.satisfiable(each)]

    def _values(self, shape: ObjectShape) -> list[Conjunction | None]:
        """The conjunctions of its members; None stands for names that it doesn't list."""
        if shape.most == 0:
            return []
        possible = self._solver.satisfiable
        values: list[Conjunction | None] = [each for each in shape.values if possible(each)]
        classes = self._solver.values.names.of(shape.languages)
        if any(possible(shape.others(each.mask)) for each in classes):
            values.append(None)
        return values


def _items(shape: ArrayShape, start: int) -> list[Conjunction]:
    """The conjunctions of the items from `start` on, counted by each `contains` or not."""
    bases = [*shape.prefix[start : shape.most]]
    if shape.most is None or shape.most > len(shape.prefix):
        bases.append(shape.rest)
    ways: list[list[Conjunction]] = []
    for each in shape.contains:
        missed = [frozenset([negated(each.schema)])] if each.most is not None else []
        ways.append([frozenset(), frozenset([each.schema]), *missed])
    if len(ways) > _MOST_TOGETHER:
        ways = [[way for each in ways for way in each]]
    return list(dict.fromkeys(base.union(*some) for base in bases for some in product(*ways)))
