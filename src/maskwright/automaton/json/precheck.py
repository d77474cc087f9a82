"""What masks will ask for, asked for beforehand: what has too many alternatives is refused before
any text is begun.

Shapes are made when a text first reaches them. Where a `oneOf` is long, its options may turn out to
be too many to be told apart; then all shapes are made once, value by value, as far as a count of
steps allows.
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
"""Values looked at."""
_MOST_WORK: Final = 150_000
"""Steps, counted as those of the limit `work`."""
_OF_SHAPES: Final = "alternatives"
"""The limit that shapes and what is read of them meet; others are counted anew for each mask."""


def precheck_alternatives(root: Conjunction, solver: Solver, limits: Limits) -> None:
    """Raises `LimitError` where a text that begins well may lead to too many alternatives."""
    found = {root: None}
    queue = [root]
    try:
        with Work(replace(limits, work=min(limits.work, _MOST_WORK))):
            for value in queue:  # which grows
                for inner in _inside(value, solver):
                    if inner not in found and len(found) < _MOST_VALUES:
                        found[inner] = None
                        queue.append(inner)
    except LimitError as error:
        if error.limit == _OF_SHAPES:
            raise


def _inside(value: Conjunction, solver: Solver) -> Iterator[Conjunction]:
    """What items and members may be, whatever has been read of the array or object."""
    shape = solver.values.shapes.of(value)
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
