"""Whether it shows at a glance that there is a value: so it does for most schemas."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from maskwright.automaton.value.progress import ObjectProgress, Progress
from maskwright.automaton.value.required import gains, needed
from maskwright.grammar.shape.disjoint import is_easy
from maskwright.grammar.shape.shape import Conjunction
from maskwright.grammar.shape.shapes import Shapes

if TYPE_CHECKING:
    from maskwright.automaton.satisfy.shortest import Witnesses

_MOST_GLANCES: Final = 64
"""Conjunctions looked at before a value is looked for in earnest."""
_MOST_TRIED: Final = 4
"""Ways of being wanted in which one member is tried at a glance."""


class Glances:
    def __init__(
        self, shapes: Shapes, witnesses: Witnesses, known: dict[Conjunction, bool]
    ) -> None:
        """`known`: what has been found out for good, here or by a search."""
        self._shapes = shapes
        self._witnesses = witnesses
        self._known = known

    def shows(self, conjunction: Conjunction) -> bool:
        """Whether a value shows; if not, there may be one all the same."""
        return self._has_value(conjunction, [_MOST_GLANCES])

    def shows_end(self, progress: Progress) -> bool:
        """Whether it shows that a container can be completed."""
        return self._finishes(progress, [_MOST_GLANCES])

    def _has_value(self, conjunction: Conjunction, fuel: list[int]) -> bool:
        """Whether it shows at a glance that there is a value."""
        known = self._known.get(conjunction)
        if known is not None:
            return known
        fuel[0] -= 1
        if fuel[0] < 0:
            return False
        if len(conjunction) < 2 and all(map(is_easy, conjunction)):
            self._known[conjunction] = True
            return True
        shape = self._shapes.of(conjunction)
        found = (
            self._witnesses.is_live(shape.strings)
            or self._witnesses.is_live(shape.scalars)
            or any(self._finishes(each, fuel) for each in self._witnesses.containers(conjunction))
        )
        if found:
            self._known[conjunction] = True
        return found

    def _finishes(self, progress: Progress, fuel: list[int]) -> bool:
        lacking = needed(progress)
        if lacking is not None:
            return all(self._has_value(value, fuel) for value in lacking)
        return isinstance(progress, ObjectProgress) and self._meets(progress, fuel)

    def _meets(self, here: ObjectProgress, fuel: list[int]) -> bool:
        """Whether it shows that an object with all that it wants is found by taking, name by name,
        the first value that brings the end nearer."""
        for at in range(here.position, len(here.shape.names)):
            if here.may_close():
                return True
            if here.seen >> at & 1 or here.is_full:
                continue
            for option in islice(here.take(at, self._witnesses.order), _MOST_TRIED):
                nearer = at in here.shape.required or gains(here, option.after)
                if nearer and self._has_value(option.value, fuel):
                    here = option.after
                    break
        if here.may_close() or not here.others_may_come(self._witnesses.order):
            return here.may_close()
        for each in self._witnesses.names.of(here.shape.languages):
            name = self._witnesses.names.fresh(here, each)
            if name is not None and not here.is_full:
                option = next(here.take_other(each.mask, name, self._witnesses.order))
                if gains(here, option.after) and self._has_value(option.value, fuel):
                    here = option.after
        return here.may_close()
