"""Builds all shapes at compile time when a `oneOf` is long, or unions may multiply to too many.

Shapes are otherwise built when a text first reaches them. A long `oneOf` may have too many options
that exclude each other only by a search; such a schema is refused before any text is begun, as far
as a count of steps finds that out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from maskwright.automaton.satisfy.solver import Solver
from maskwright.automaton.value.progress import ArrayProgress, ObjectProgress
from maskwright.errors import LimitError
from maskwright.grammar.shape.shape import Conjunction, ObjectShape
from maskwright.limits import Limits, Work

WIDE: Final = 10
"""A `oneOf` of more options than this is long."""
_MOST_VALUES: Final = 1_000
"""Conjunctions that are looked at."""
MOST_STEPS: Final = 150_000
"""Steps, counted as those of the limit `work`."""
FEW_STEPS: Final = 10_000
"""Steps that take less than 50 ms on most machines: for what may turn out to be harmless."""
_OF_SHAPES: Final = frozenset(("alternatives", "seconds", "bytes"))
"""The limits that building shapes runs into, and those that pass for the whole compile; all others
are counted anew for each mask."""


def precheck_alternatives(
    root: Conjunction, solver: Solver, limits: Limits, steps: int = MOST_STEPS
) -> None:
    """Build the shapes of all values within `root`, in so many steps. Raises `LimitError` for too
    many alternatives, which would otherwise end a text in its middle."""
    values = {root: None}
    queue = [root]
    try:
        with Work(replace(limits, work=min(limits.work, steps))):
            for value in queue:  # which grows
                for inner in _inside(value, solver):
                    if inner not in values and len(values) < _MOST_VALUES:
                        values[inner] = None
                        queue.append(inner)
    except LimitError as error:
        if error.limit in _OF_SHAPES:
            raise


def _inside(value: Conjunction, solver: Solver) -> Iterator[Conjunction]:
    """The conjunctions of all items and members, wherever they stand in the array or object."""
    shape = solver.values.shapes.normal_form(value)
    for array in shape.arrays:
        stop = len(array.prefix) + 1
        for at in range(stop if array.most is None else min(stop, array.most)):
            start = ArrayProgress.start(array)._replace(index=at)
            yield from (option.value for option in start.options())
    for each in shape.objects:
        yield from _members(each, solver)


def _members(shape: ObjectShape, solver: Solver) -> Iterator[Conjunction]:
    start = ObjectProgress(shape)
    if start.is_full:
        return
    for at in range(len(shape.names)):
        yield from (option.value for option in start.take(at, solver.values.order))
    for each in solver.values.names.of(shape.languages):
        options = start.take_other(each.mask, None, solver.values.order)
        yield from (option.value for option in options)
