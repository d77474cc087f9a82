"""Lower bounds on the number of values: where there are surely enough, no search is needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from maskwright.automaton.satisfy.schema_values import SchemaValues
from maskwright.automaton.value.finite_values import MOST_NUMBERS, MOST_STRINGS, canonical
from maskwright.automaton.value.progress import ArrayProgress, ObjectProgress, Progress
from maskwright.automaton.value.witness_text import Witness, compact
from maskwright.grammar.shape.shape import Conjunction
from maskwright.limits import CHEAP, spend

MANY: Final = 1 << 20
"""Where counting ends: more than any text has items."""


class Cardinality:
    """Lower bounds on numbers of values and of completions, each computed once, up to `MANY`."""

    def __init__(
        self,
        values: SchemaValues,
        satisfiable: Callable[[Conjunction], bool],
        can_complete: Callable[[Progress], bool],
        complete: Callable[[Progress], Witness | None],
    ) -> None:
        """`satisfiable` and `can_complete` decide exactly; `complete` finds a completion. See
        `automaton.satisfy.solver`."""
        self._values = values
        self._satisfiable = satisfiable
        self._can_complete = can_complete
        self._complete = complete
        self._known: dict[Conjunction, int] = {}
        self._open: set[Conjunction] = set()
        self._completions: dict[Progress, int] = {}

    def values(self, value: Conjunction) -> int:
        """Lower bound on the distinct values that satisfy `value`."""
        known = self._known.get(value)
        if known is None:
            if value in self._open:  # a value within itself: 0 is a lower bound in any case
                return 0
            self._open.add(value)
            try:
                known = self._known[value] = min(MANY, self._count(value))
            finally:
                self._open.discard(value)
        return known

    def _count(self, value: Conjunction) -> int:
        spend(CHEAP)
        finite = self._values.finite_values(value)
        count = len(finite.scalars)
        count += MOST_STRINGS + 1 if finite.strings is None else len(finite.strings)
        count += (MOST_NUMBERS + 1) * finite.many_numbers
        starts = [*self._values.containers(value)]
        count += self._union([start for start in starts if isinstance(start, ArrayProgress)])
        return count + self._union([start for start in starts if isinstance(start, ObjectProgress)])

    def _union(self, starts: Sequence[Progress]) -> int:
        """Lower bound on the values of alternatives, which may overlap: those of the largest one,
        or one value of each, as far as these differ."""
        most = max(map(self.completions, starts), default=0)
        if most >= MANY or len(starts) < 2:
            return most
        witnesses = (self._complete(start) for start in starts if self._can_complete(start))
        texts = {canonical(compact(each)) for each in witnesses if each is not None}
        return max(most, len(texts))

    def completions(self, progress: Progress) -> int:
        """Lower bound on the distinct ways to complete a container, its candidates for equality
        left aside."""
        plain = progress._replace(candidates=frozenset(), must_equal_one=False)
        known = self._completions.get(plain)
        if known is None:
            if not self._can_complete(plain):
                known = 0
            elif isinstance(plain, ObjectProgress):
                known = self._members(plain)
            else:
                known = self._items(plain)
            known = self._completions[plain] = min(MANY, known)
        return known

    def suffices(self, progress: ArrayProgress) -> bool:
        """Whether there are surely enough values for the items that must differ until the array
        may be closed."""
        shape = progress.shape
        if shape.contains:
            return False
        left = shape.least - progress.index
        coming = [*shape.prefix[progress.index : shape.least]]
        if shape.least > max(progress.index, len(shape.prefix)):
            coming.append(shape.rest)
        needed = len(progress.seen) + left
        return all(self.values(value) >= needed for value in coming)

    def _members(self, progress: ObjectProgress) -> int:
        shape, names = progress.shape, self._values.names
        if shape.some or shape.most is not None or progress.count < shape.least:
            return 1
        left = progress.required_left()
        count = 1
        for at in left:
            count *= self.values(shape.values[at])
            if count >= MANY:
                return count
        for at in progress.names(self._values.order):
            if at not in left:
                count *= 1 + self.values(shape.values[at])  # 1: the member may be left out
            if count >= MANY:
                return count
        classes = names.of(shape.languages)
        free = (shape.others(each.mask) for each in classes if names.few(each) is None)
        return MANY if any(map(self._satisfiable, free)) else max(1, count)

    def _items(self, progress: ArrayProgress) -> int:
        shape, at = progress.shape, progress.index
        if shape.contains or progress.wants_repeat:
            return 1
        if shape.unique:
            if shape.most is not None and at >= shape.most:
                return 1
            left = max(0, shape.least - at - 1)
            return max(1, self.values(shape.item(at)) - len(progress.seen) - left)
        count = 1
        for value in shape.prefix[at : shape.least]:
            count *= self.values(value)
            at += 1
        if at < shape.least:
            count *= self.values(shape.rest) ** min(shape.least - at, MANY.bit_length())
            at = shape.least
        if shape.most is None and self._satisfiable(shape.rest):
            return MANY
        if shape.most is None or at < shape.most:
            count *= 1 + self.values(shape.item(at))
        return max(1, count)
