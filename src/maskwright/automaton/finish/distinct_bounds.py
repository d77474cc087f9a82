"""What a value takes at most that must differ from some others, found without a search.

Upper bounds in bytes: of values that are listed anyway, and of arrays and objects in which one part
or several make the difference. None where only a search can tell.
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
from maskwright.grammar.shape.shapes import Shapes
from maskwright.limits import spend

BEGUN: Final = 12
"""Bytes that finish a character begun inside a string: the rest of two `\\uXXXX`."""
FRESH: Final = 6
"""Bytes that make a free name or string differ from any others, with its quotes."""
_SPARE: Final = 2
"""Items that may have been read beyond those seen: the one being read, and one that a token
ends."""


_MOST_LENGTH: Final = 512
"""Characters of a string whose length is looked at."""


class Plenty:
    def __init__(self, shapes: Shapes, solver: Solver, whitespace: Whitespace) -> None:
        self._shapes = shapes
        self._solver = solver
        self._whitespace = whitespace
        self._comma = 1 + len(whitespace.after_comma)
        self._colon = 1 + len(whitespace.after_colon)
        self._known: dict[tuple[Conjunction, int], int | None] = {}
        self._open: set[Conjunction] = set()
        self._longest: dict[Regular, int | None] = {}

    def of(self, value: Conjunction, others: int) -> int | None:
        """A value besides `others` of them, whichever these are."""
        key = (value, others)
        if key not in self._known:
            if value in self._open:
                return None
            spend()
            self._open.add(value)
            try:
                self._known[key] = self._find(value, others)
            finally:
                self._open.discard(value)
        return self._known[key]

    def _find(self, value: Conjunction, others: int) -> int | None:
        if others == 0:
            witness = self._solver.shortest.of(value)
            return None if witness is None else byte_count(rendered(witness, self._whitespace, 0))
        found: list[int] = []
        listed = self._solver.search.shortest_scalars(value, others + 1)
        if len(listed) > others:
            found.append(int(listed[others].size))
        for start in self._solver.values.containers(value):
            rest = self.rest(start, others, begun=False)
            if rest is not None:
                found.append(1 + rest)
        return min(found, default=None)

    def rest(self, progress: Progress, others: int, *, begun: bool = True) -> int | None:
        """From behind a member or item to behind the closing bracket, in a way besides `others`;
        with `begun` a member or item may have been begun, so that options may have been passed."""
        if progress.must_equal_one:
            return None
        if isinstance(progress, ArrayProgress):
            return self._items(progress, others)
        return self._members(progress, others, begun=begun)

    def _items(self, progress: ArrayProgress, others: int) -> int | None:
        shape, at = progress.shape, progress.index
        if shape.contains or progress.wants_repeat:
            return None
        stop = max(at, shape.least)
        if others and stop == at and (shape.most is None or at < shape.most):
            stop += 1
        items = [*shape.prefix[at:stop]]
        if not shape.unique:
            items += [shape.rest] * (stop - at - len(items))
            total = self._spread(items, others)
            return None if total is None else 1 + total + self._comma * len(items)
        if others and stop == at:
            return None
        besides = others + len(progress.seen) + stop - at + _SPARE
        further = stop - at - len(items)
        costs = [self.of(item, besides) for item in items]
        rest = self.of(shape.rest, besides) if further else 0
        known = [cost for cost in costs if cost is not None]
        if rest is None or len(known) < len(costs):
            return None
        return 1 + self._comma * (stop - at) + sum(known) + further * rest

    def _members(self, progress: ObjectProgress, others: int, *, begun: bool) -> int | None:
        shape = progress.shape
        left = progress.required_left()
        if shape.some or progress.count + len(left) < shape.least:
            return None
        names = sum(self._name(shape.names[at]) for at in left)
        total = self._spread([shape.values[at] for at in left], others)
        if total is not None:
            return 1 + names + total
        required = self._spread([shape.values[at] for at in left], 0)
        if required is None or shape.most is not None:
            return None
        more = self._option(progress, others, begun=begun)
        return None if more is None else 1 + names + required + more

    def _option(self, progress: ObjectProgress, others: int, *, begun: bool) -> int | None:
        """A member that isn't required and makes the difference."""
        shape, solver = progress.shape, self._solver
        found: list[int] = []
        if shape.languages in ((), (ANYTHING,)):  # any name will do
            for each in solver.values.names.of(shape.languages):
                cost = self.of(shape.others(each.mask), 0)
                if cost is not None:
                    found.append(self._comma + FRESH + self._colon + cost)
        if not begun:
            for name, value in zip(shape.names, shape.values, strict=True):
                cost = self.of(value, others) if solver.satisfiable(value) else None
                if cost is not None:
                    found.append(self._name(name) + cost)
        return min(found, default=None)

    def _name(self, name: str) -> int:
        return self._comma + byte_count(spelled(name)) + self._colon

    def _spread(self, values: Sequence[Conjunction], others: int) -> int | None:
        """Values that together are one way besides `others`."""
        ways, total = others + 1, 0
        cardinality = self._solver.cardinality
        for value in sorted(values, key=cardinality.values, reverse=True) if others else values:
            taken = min(ways, max(1, cardinality.values(value))) if ways > 1 else 1
            cost = self.of(value, taken - 1)
            if cost is None and taken > 1:
                taken, cost = 1, self.of(value, 0)
            if cost is None:
                return None
            total += cost
            ways = -(-ways // taken)
        return total if ways == 1 else None

    def string(self, value: Conjunction, *, told: bool) -> int | None:
        """What ends a string that has been begun, whatever of it has been read; `told`: if some of
        the strings are told apart, of which the need of a leaf says nothing."""
        strings = self._shapes.of(value).strings
        if strings is EMPTY:
            return 0
        if strings is ANYTHING:
            return BEGUN + FRESH
        few = self._solver.values.finite_values(value).strings
        if few is not None:
            return BEGUN + max((byte_count(spelled(text)) for text in few), default=0)
        if not told:
            return 0
        if strings not in self._longest:
            self._longest[strings] = _longest(strings)
        longest = self._longest[strings]
        return None if longest is None else BEGUN * (longest + 1)


def _longest(term: Regular) -> int | None:
    """The characters of a language's longest string; None if that takes long to find."""
    states, looked = {term}, 0
    for length in range(_MOST_LENGTH):
        following = {target for state in states for _, _, target in arcs(state)}
        if not following:
            return length
        looked += len(following)
        if looked > _MOST_LENGTH:
            return None
        states = following
    return None
