"""Reading a property name where counting decides what may come: most objects there are.

A shape is *plain* if it requires no members by pattern, and if the names that it doesn't list don't
run out. Whether an object can still be completed after a member is then a matter of counting names:
no search is needed. If of these names either all may come or none, all positions of an object share
one term too, and `PlainReader` reads it: the gate keeps out the names that may not come now.
"""

from __future__ import annotations

from collections.abc import Callable

from maskwright.automaton.json.bit_sets import bits_of
from maskwright.automaton.json.plain_reader import PlainShape
from maskwright.automaton.json.remembered_names import RememberedNames
from maskwright.automaton.satisfy.solver import Solver
from maskwright.grammar.regular.terms import Regular
from maskwright.grammar.shape.shape import ObjectShape

PlainShapeOf = Callable[[ObjectShape], PlainShape | None]
"""Finds what is shared by the positions of a shape, None if the shape isn't plain."""


def plain_shape(
    shape: ObjectShape, solver: Solver, remembered: RememberedNames
) -> PlainShape | None:
    """The shape with what the positions in its objects share, None if it isn't plain."""
    if shape.some:
        return None
    some: tuple[Regular, ...] = ()
    if shape.languages:
        names = solver.values.names
        classes = names.of(shape.languages)
        alive = [each for each in classes if solver.satisfiable(shape.others(each.mask))]
        if any(names.few(each) is not None for each in alive):
            return None
        others = bool(alive)
        if len(alive) < len(classes):
            some = tuple([each.language for each in alive])
    else:  # all other names are in one class
        others = solver.satisfiable(shape.others(()))
    possible = (1 << len(shape.values)) - 1
    absent = solver.unsatisfiable(shape.values)
    if absent:
        possible &= ~bits_of(absent)
    return PlainShape(shape, solver.values.order, possible, others, remembered, some)


class PlainShapes:
    """`plain_shape` for the shapes of one schema; each is examined once."""

    __slots__ = ("_found", "_remembered", "_solver")

    def __init__(self, solver: Solver, remembered: RememberedNames) -> None:
        self._solver = solver
        self._remembered = remembered
        self._found: dict[ObjectShape, PlainShape | None] = {}

    def __call__(self, shape: ObjectShape) -> PlainShape | None:
        if shape not in self._found:
            self._found[shape] = plain_shape(shape, self._solver, self._remembered)
        return self._found[shape]
