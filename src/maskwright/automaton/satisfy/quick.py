"""A cheap sufficient test for satisfiability, which most schemas pass.

What it can't confirm within a small count of steps is left to a search.
"""

from __future__ import annotations

from itertools import islice
from typing import Final

from msgspec.structs import replace

from maskwright.automaton.satisfy.counted_parts import needed_items
from maskwright.automaton.satisfy.schema_values import SchemaValues
from maskwright.automaton.value.progress import ArrayProgress, ObjectProgress, Progress
from maskwright.grammar.schema.tree import Schema
from maskwright.grammar.shape.evident import EvidentValues
from maskwright.grammar.shape.shape import Conjunction, ObjectShape
from maskwright.immutable import Acyclic
from maskwright.limits import spend

_MOST_CONJUNCTIONS: Final = 64
"""Conjunctions looked at before the question is left to a search."""
_WORTHWHILE: Final = _MOST_CONJUNCTIONS // 2
"""Conjunctions that must have been confirmed for a further look, which begins with what is known:
an object of many members needs several."""
_MOST_OPTIONS: Final = 4
"""Options of one member that are tried."""


def needed_values(progress: Progress) -> list[Conjunction] | None:
    """What the values must satisfy that are all a container still lacks.

    None if more than such a list decides, or if no member may come any more that is required."""
    if isinstance(progress, ArrayProgress):
        return needed_items(progress)
    left = progress.required_left()
    most = progress.shape.most
    if most is not None and progress.count + len(left) > most:
        return None
    if not _lacks_only(progress, left):
        return None
    return [progress.shape.values[at] for at in left]


def is_simple(progress: ObjectProgress) -> bool:
    """Whether an object lacks nothing but the required names that are still to come."""
    return _lacks_only(progress, progress.required_left())


def _lacks_only(progress: ObjectProgress, left: list[int]) -> bool:
    coming = sum([1 << at for at in left])
    enough = progress.count + len(left) >= progress.shape.least
    return enough and not progress.is_wanting(coming)


def makes_progress(before: ObjectProgress, after: ObjectProgress) -> bool:
    """Whether a member that isn't required brings the end nearer, or rules out a candidate."""
    return (
        bool(before.candidates)
        or after.fulfilled != before.fulfilled
        or before.count < before.shape.least
    )


def _is_any(schemas: tuple[Schema, ...]) -> bool:
    """Whether a requirement takes every value."""
    return any(not schema.assertions and not schema.never for schema in schemas)


class _Plan(Acyclic):
    """The members that completed an object of some shape, by ascending names."""

    names: int
    """Their names, as a bit set."""
    fulfilled: tuple[tuple[int, int], ...]
    """By name, the requirements that its value fulfils, as a bit set."""

    def completes(self, here: ObjectProgress) -> bool:
        """Whether what is left of the members completes another object of the shape."""
        shape = here.shape
        if here.candidates or here.must_equal_one:
            return False
        coming = self.names >> here.position << here.position & ~here.seen
        count = here.count + coming.bit_count()
        if count < shape.least or (shape.most is not None and count > shape.most):
            return False
        if not all(coming >> at & 1 for at in here.required_left()):
            return False
        fulfilled = here.fulfilled
        for at, requirements in self.fulfilled:
            if coming >> at & 1:
                fulfilled |= requirements
        return not replace(here, fulfilled=fulfilled).is_wanting(coming)


class _Attempt:
    """One question, and all that it leads to."""

    __slots__ = ("failed", "fuel", "open")

    def __init__(self) -> None:
        self.fuel = _MOST_CONJUNCTIONS
        self.open: set[Conjunction] = set()
        """What is being asked: what needs a value of itself within has none that is found here."""
        self.failed: dict[Conjunction, int] = {}
        """What wasn't confirmed, with how many conjunctions were known then."""


class QuickCheck:
    """Confirms that values and completions exist. A negative answer means nothing."""

    def __init__(self, values: SchemaValues, evident: EvidentValues) -> None:
        """`evident`: also what is decided for good, by this check or by a search."""
        self._values = values
        self._evident = evident
        self._known = evident.known
        self._plans: dict[ObjectShape, _Plan] = {}
        """By shape, the members that were found last to complete such an object: what completes it
        after one name mostly does after another."""

    def has_value(self, conjunction: Conjunction) -> bool:
        """Whether the conjunction surely has a value."""
        while True:
            before = len(self._known)
            if self._has_value(conjunction, _Attempt()):
                return True
            if len(self._known) < before + _WORTHWHILE:
                return False
            spend(_WORTHWHILE)

    def can_complete(self, progress: Progress) -> bool:
        """Whether the container can surely be completed."""
        return self._can_complete(progress, _Attempt())

    def _has_value(self, conjunction: Conjunction, attempt: _Attempt) -> bool:
        known = self._known.get(conjunction)
        if known is not None:
            return known
        if conjunction in attempt.open or attempt.failed.get(conjunction) == len(self._known):
            return False
        attempt.fuel -= 1
        if attempt.fuel < 0:
            return False
        if self._evident.has_value(conjunction):
            return True
        values = self._values
        shape = values.shapes.normal_form(conjunction)
        attempt.open.add(conjunction)
        has_value = (
            values.is_live(shape.strings)
            or values.is_live(shape.scalars)
            or any(self._can_complete(each, attempt) for each in values.containers(conjunction))
        )
        attempt.open.discard(conjunction)
        if has_value:
            self._known[conjunction] = True
        else:
            attempt.failed[conjunction] = len(self._known)
        return has_value

    def _can_complete(self, progress: Progress, attempt: _Attempt) -> bool:
        lacking = needed_values(progress)
        if lacking is not None:
            return all(self._has_value(value, attempt) for value in lacking)
        if not isinstance(progress, ObjectProgress):
            return False
        plan = self._plans.get(progress.shape)
        return (
            (plan is not None and plan.completes(progress))
            or self._takes_wanted(progress, attempt)
            or self._takes_members(progress, attempt)
        )

    def _takes_wanted(self, here: ObjectProgress, attempt: _Attempt) -> bool:
        """Whether an object is completed by all required names and one of each set of names that
        needs one, whatever their values."""
        shape = here.shape
        coming = sum(1 << at for at in here.required_left())
        for k, wanted in enumerate(shape.some):
            if not here.fulfilled >> k & 1:
                free = (
                    at for at in wanted.names if at >= here.position and not here.seen >> at & 1
                )
                found = next((at for at in free if _is_any(wanted.names[at])), None)
                if found is None:
                    return False
                coming |= 1 << found
        count = here.count + coming.bit_count()
        if count < shape.least or (shape.most is not None and count > shape.most):
            return False
        return all(
            self._has_value(value, attempt)
            for at, value in enumerate(shape.values)
            if coming >> at & 1
        )

    def _takes_members(self, here: ObjectProgress, attempt: _Attempt) -> bool:
        """Whether an object is completed greedily: name by name, by the first option that makes
        progress and surely has a value; if the name is required, also by one that makes none."""
        order, names = self._values.order, self._values.names
        needed = here.shape.required.union(*(wanted.names for wanted in here.shape.some))
        taken, fulfilled = 0, list[tuple[int, int]]()
        may_close = here.may_close()
        for at in range(here.position, len(here.shape.names)):
            if may_close:
                break
            if here.seen >> at & 1 or here.is_full:
                continue
            counts = bool(here.candidates) or here.count < here.shape.least
            if not counts and at not in needed:
                continue
            read = here.with_member(at, order)  # what its value fulfils is open
            options = list(islice(here.take(at, order), _MOST_OPTIONS))
            nearer = [each for each in options if counts or each.after.fulfilled != read.fulfilled]
            if at in here.shape.required:
                nearer += [each for each in options if each not in nearer]
            for option in nearer:
                if self._has_value(option.value, attempt):
                    taken |= 1 << at
                    fulfilled.append((at, option.after.fulfilled & ~read.fulfilled))
                    here = option.after
                    may_close = here.may_close()
                    break
            else:
                if at in here.shape.required:  # in order "schema" later names would pass it over
                    return False
        if may_close:
            self._plans[here.shape] = _Plan(taken, tuple(fulfilled))
            return True
        if not here.others_may_come(order):
            return False
        for each in names.of(here.shape.languages):
            name = names.fresh(here, each)
            if name is not None and not here.is_full:
                option = next(here.take_other(each.mask, name, order))
                if makes_progress(here, option.after) and self._has_value(option.value, attempt):
                    here = option.after
        return here.may_close()
