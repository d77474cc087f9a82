"""The shapes of a schema document: what its conjunctions come to, type by type.

Strings are computed by algebra alone; for the other types unions are multiplied out, one type at a
time.
"""

from __future__ import annotations

from typing import Final

from maskwright.grammar.regular.terms import ANYTHING, EMPTY, Regular, alt, both
from maskwright.grammar.schema.order import name_order
from maskwright.grammar.schema.tree import (
    TYPES,
    AllOf,
    AnyOf,
    Assertion,
    If,
    Not,
    OneOf,
    Properties,
    Required,
    TypeIs,
    Values,
)
from maskwright.grammar.shape.arrays import array_shape
from maskwright.grammar.shape.objects import object_shape
from maskwright.grammar.shape.one_of import Exclusive, Possible
from maskwright.grammar.shape.scalars import literals_of, numbers_of, scalars_of
from maskwright.grammar.shape.shape import ArrayShape, Conjunction, ObjectShape, Shape, in_order
from maskwright.grammar.shape.strings import Strings
from maskwright.grammar.shape.unevaluated import ResolvedAssertions
from maskwright.grammar.shape.unions import Branches
from maskwright.limits import DEFAULT_LIMITS, Limits

_UNITING: Final = frozenset((AllOf, AnyOf, OneOf, Not, If, Values))
"""Assertions that bring in other schemas about the same value."""


class Shapes:
    """The shapes of one schema document, each computed once."""

    def __init__(
        self, limits: Limits = DEFAULT_LIMITS, possible: Possible = lambda _: True
    ) -> None:
        """`possible` decides which options of a `oneOf` can meet; by default, all of them."""
        self._limits = limits
        self._known: dict[Conjunction, Shape] = {}
        self._orders: dict[Conjunction, dict[str, int]] = {}
        self._resolved = ResolvedAssertions(limits)
        self._strings = Strings(self._resolved)
        self._branches = Branches(Exclusive(limits, possible), self._resolved, limits)

    def of(self, conjunction: Conjunction) -> Shape:
        shape = self._known.get(conjunction)
        if shape is None:
            shape = self._known[conjunction] = self._compute(conjunction)
        return shape

    def _compute(self, conjunction: Conjunction) -> Shape:
        if len(conjunction) == 1:
            (schema,) = conjunction
            assertions = self._resolved.assertions(schema)
            if not schema.never and _UNITING.isdisjoint(map(type, assertions)):
                return self._lone(assertions, conjunction)
        types = _types(conjunction)
        strings = EMPTY
        if "string" in types:
            strings = both(ANYTHING, *(self._strings.of(s) for s in in_order(conjunction)))
        scalars: list[Regular] = []
        if "null" in types or "boolean" in types:
            for kind in ("null", "boolean"):
                branches = self._branches.of(conjunction, kind)
                scalars += [literals_of(branch, kind) for branch in branches]
        if "number" in types or "integer" in types:
            branches = self._branches.of(conjunction, "number")
            scalars += [numbers_of(branch, self._limits.divisor) for branch in branches]
        arrays: list[ArrayShape] = []
        if "array" in types:
            found = (array_shape(branch) for branch in self._branches.of(conjunction, "array"))
            arrays = [shape for shape in found if shape is not None]
        objects: list[ObjectShape] = []
        if "object" in types:
            branches = self._branches.of(conjunction, "object")
            found = (self._object(branch, conjunction) for branch in branches)
            objects = [shape for shape in found if shape is not None]
        return Shape(strings, alt(*scalars), tuple(arrays), tuple(objects))

    def _lone(self, assertions: tuple[Assertion, ...], conjunction: Conjunction) -> Shape:
        """The shape of one schema without unions: as `_compute` has it, without multiplying out."""
        types = _types(conjunction)
        strings, scalars = scalars_of(assertions, types, self._limits.divisor)
        others: list[Assertion] = [each for each in assertions if not isinstance(each, TypeIs)]
        array = array_shape(others) if "array" in types else None
        shape = None
        if "object" in types and not _lacks_required(others):
            shape = self._object(others, conjunction)
        return Shape(
            strings,
            scalars,
            () if array is None else (array,),
            () if shape is None else (shape,),
        )

    def _object(self, branch: list[Assertion], conjunction: Conjunction) -> ObjectShape | None:
        return object_shape(branch, self._strings.of, lambda: self._order(conjunction))

    def _order(self, conjunction: Conjunction) -> dict[str, int]:
        """The places of the names that a conjunction declares, however many branches it has."""
        places = self._orders.get(conjunction)
        if places is None:
            places = self._orders[conjunction] = name_order(in_order(conjunction))
        return places


def _types(conjunction: Conjunction) -> frozenset[str]:
    """The types that the schemas' own `type` keywords leave."""
    types = TYPES
    for schema in conjunction:
        if schema.never:
            return frozenset()
        for assertion in schema.assertions:
            if isinstance(assertion, TypeIs):
                named = assertion.types
                types &= named | {"integer"} if "number" in named else named
    return types


def _lacks_required(branch: list[Assertion]) -> bool:
    """Whether a required property may have no value, as far as that shows in its schema."""
    absent = {
        name
        for each in branch
        if isinstance(each, Properties)
        for name, schema in each.named.items()
        if schema.never
    }
    return any(isinstance(each, Required) and not absent.isdisjoint(each.names) for each in branch)
