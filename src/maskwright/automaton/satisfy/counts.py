"""How many values there are at least: where there are plenty, nothing has to be searched for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from maskwright.automaton.value.finite_values import MOST_NUMBERS, MOST_STRINGS
from maskwright.automaton.value.progress import ArrayProgress, ObjectProgress, Progress
from maskwright.grammar.shape.shape import Conjunction

if TYPE_CHECKING:
    from maskwright.automaton.satisfy.shortest import Witnesses

MANY: Final = 1 << 20
"""Where counting ends: more than any text has items."""


class Amounts:
    """Lower bounds, each found once."""

    def __init__(self, witnesses: Witnesses) -> None:
        self._witnesses = witnesses
        self._values: dict[Conjunction, int] = {}
        self._open: set[Conjunction] = set()
        self._ends: dict[Progress, int] = {}

    def of(self, value: Conjunction) -> int:
        """Of values."""
        known = self._values.get(value)
        if known is None:
            if value in self._open:
                return 0
            self._open.add(value)
            known = self._values[value] = min(MANY, self._count(value))
            self._open.discard(value)
        return known

    def _count(self, value: Conjunction) -> int:
        witnesses = self._witnesses
        supply = witnesses.supply(value)
        found = len(supply.scalars)
        found += MOST_STRINGS + 1 if supply.strings is None else len(supply.strings)
        found += (MOST_NUMBERS + 1) * supply.many_numbers
        for start in witnesses.containers(value):
            found += self.ends(start)
            if found >= MANY:
                break
        return found

    def ends(self, progress: Progress) -> int:
        """Of ways in which a container may go on from here, whatever its rivals."""
        plain = progress._replace(rivals=frozenset(), confined=False)
        known = self._ends.get(plain)
        if known is None:
            if not self._witnesses.finishes(plain):
                known = 0
            elif isinstance(plain, ObjectProgress):
                known = self._members(plain)
            else:
                known = self._items(plain)
            known = self._ends[plain] = min(MANY, known)
        return known

    def suffice(self, progress: ArrayProgress) -> bool:
        """Whether items that must differ can surely be found until the array may be closed."""
        shape = progress.shape
        if shape.contains:
            return False
        left = shape.least - progress.index
        coming = [*shape.prefix[progress.index : shape.least]]
        if shape.least > max(progress.index, len(shape.prefix)):
            coming.append(shape.rest)
        needed = len(progress.seen) + left
        return all(self.of(value) >= needed for value in coming)

    def _members(self, progress: ObjectProgress) -> int:
        shape, witnesses = progress.shape, self._witnesses
        if shape.some or shape.most is not None or progress.count < shape.least:
            return 1
        left = progress.required_left()
        found = 1
        for at in left:
            found *= self.of(shape.values[at])
            if found >= MANY:
                return found
        for at in progress.names(witnesses.order):
            if at not in left:
                found *= 1 + self.of(shape.values[at])
            if found >= MANY:
                return found
        classes = witnesses.names.of(shape.languages)
        free = (shape.others(each.mask) for each in classes if witnesses.names.few(each) is None)
        return MANY if any(witnesses.possible(value) for value in free) else max(1, found)

    def _items(self, progress: ArrayProgress) -> int:
        shape, at = progress.shape, progress.index
        if shape.contains or progress.wants_repeat:
            return 1
        if shape.unique:
            if shape.most is not None and at >= shape.most:
                return 1
            left = max(0, shape.least - at - 1)
            return max(1, self.of(shape.item(at)) - len(progress.seen) - left)
        found = 1
        for value in shape.prefix[at : shape.least]:
            found *= self.of(value)
            at += 1
        if at < shape.least:
            found *= self.of(shape.rest) ** min(shape.least - at, MANY.bit_length())
            at = shape.least
        if shape.most is None and self._witnesses.possible(shape.rest):
            return MANY
        if shape.most is None or at < shape.most:
            found *= 1 + self.of(shape.item(at))
        return max(1, found)
