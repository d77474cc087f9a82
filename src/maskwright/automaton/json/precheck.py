"""Finds at compile time what would end a text in its middle, as far as a count of steps finds it.

Shapes are otherwise built when a text first reaches them. A long `oneOf` may have too many options
that nothing but a search tells apart, and unions may multiply to too many: then all shapes are
built. With other keywords that may exceed a limit, it is asked what every text asks. Either way a
schema is refused before any text is begun, and what has been found is kept for the masks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, islice
from typing import Final

from msgspec import structs

from maskwright.automaton.satisfy.shortest import check_readable
from maskwright.automaton.satisfy.solver import Solver
from maskwright.automaton.value.progress import ArrayProgress, ObjectProgress
from maskwright.errors import LimitError
from maskwright.grammar.regular.terms import EMPTY
from maskwright.grammar.schema.tree import OneOf
from maskwright.grammar.shape.one_of import have_rivals
from maskwright.grammar.shape.shape import Conjunction, ObjectShape
from maskwright.limits import MEASURED, Limits, Work, spend

WIDE: Final = 9
"""A `oneOf` of more options than this is long if more pairs than this may share a value."""
_MOST_VALUES: Final = 1_000
"""Conjunctions that are looked at."""
_MOST_OPTIONS: Final = 16
"""Options of one member that are looked at: each requirement that it may fulfil doubles them."""
MOST_STEPS: Final = 150_000
"""Steps, counted as for the limit `work`."""
FEW_STEPS: Final = 10_000
"""Steps that take less than 50 ms on most machines: for what may turn out to be harmless."""
_OF_SHAPES: Final = MEASURED | {"alternatives"}
"""The limits that building shapes runs into, and those that pass for the whole compile; all others
are counted anew for each mask."""


def is_long(union: OneOf) -> bool:
    """Whether a `oneOf` has many options, and a search has to tell many of them apart: a type, a
    constant or a member does so in linear time."""
    return len(union.options) > WIDE and have_rivals(union.options, WIDE)


def precheck_alternatives(
    root: Conjunction, solver: Solver, limits: Limits, steps: int = MOST_STEPS
) -> None:
    """Build the shapes of all values within `root`, in so many steps. Raises `LimitError` for too
    many alternatives or ways to read a member, which would otherwise end a text in its middle."""
    values = {root: None}
    queue = [root]
    try:
        with Work(replace(limits, work=min(limits.work, steps))):
            for value in queue:  # which grows
                for options in _inside(value, solver):
                    for inner in islice(options, _MOST_OPTIONS):
                        # The first option of a member meets every limit that the others do.
                        if len(values) == _MOST_VALUES:
                            break
                        if inner not in values:
                            values[inner] = None
                            queue.append(inner)
                starts = [*solver.values.containers(value)]
                check_readable(value, starts, limits.alternatives)
    except LimitError as error:
        if error.limit in _OF_SHAPES:
            raise


def precheck_beginning(root: Conjunction, solver: Solver, limits: Limits) -> None:
    """Ask what every text asks, whatever it says, in few steps. Raises the `LimitError` that would
    end every text."""
    values = {root: None}
    queue = [root]
    try:
        with Work(replace(limits, work=min(limits.work, FEW_STEPS))):
            for value in queue:  # which grows
                for inner in _certain(value, solver):
                    if inner not in values:
                        values[inner] = None
                        queue.append(inner)
    except LimitError as error:
        if error.limit != "work":  # which is counted anew for each mask
            raise


def _certain(value: Conjunction, solver: Solver) -> Iterator[Conjunction]:
    """What the items and members have to satisfy that each text of a value contains. It is asked
    whether there are values for them, and for those that may come besides."""
    spend()
    shape = solver.values.shapes.normal_form(value)
    if shape.strings is not EMPTY or shape.scalars is not EMPTY:
        return
    match shape.arrays, shape.objects:
        case (array,), ():
            if array.most != 0:
                options = [option.value for option in ArrayProgress.start(array).options()]
                possible = [each for each in options if solver.satisfiable(each)]
                yield from possible if array.least else ()
        case (), (each,):
            if each.most is None:
                for inner in chain.from_iterable(_members(each, solver)):
                    solver.satisfiable(inner)
            start = ObjectProgress(each)
            for at in start.required_left():
                yield from (option.value for option in start.take(at, solver.values.order))
        case _:
            return


def _inside(value: Conjunction, solver: Solver) -> Iterator[Iterator[Conjunction]]:
    """What each item and member of a value may have to satisfy, wherever it stands in the array or
    object: the conjunctions of its options."""
    shape = solver.values.shapes.normal_form(value)
    for array in shape.arrays:
        stop = len(array.prefix) + 1
        for at in range(stop if array.most is None else min(stop, array.most)):
            start = structs.replace(ArrayProgress.start(array), index=at)
            yield (option.value for option in start.options())
    for each in shape.objects:
        yield from _members(each, solver)


def _members(shape: ObjectShape, solver: Solver) -> Iterator[Iterator[Conjunction]]:
    """What each member of an object may have to satisfy, by its name."""
    start = ObjectProgress(shape)
    if start.is_full:
        return
    if not shape.some:  # then the name alone decides what the value is
        spend(len(shape.values))
        yield iter(shape.values)
        for each in solver.values.names.of(shape.languages):
            spend()
            yield iter((shape.others(each.mask),))
        return
    for at in range(len(shape.names)):
        yield (option.value for option in start.take(at, solver.values.order))
    for each in solver.values.names.of(shape.languages):
        options = start.take_other(each.mask, None, solver.values.order)
        yield (option.value for option in options)
