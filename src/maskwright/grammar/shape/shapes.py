"""The shapes of the conjunctions of a schema document.

Strings are computed by regular algebra alone. For the other types unions are multiplied out, one
type at a time.
"""

from __future__ import annotations

from typing import Final

from maskwright.errors import LimitError
from maskwright.grammar.regular.terms import ANYTHING, EMPTY, Regular, alt, intersection
from maskwright.grammar.schema.options import Numbers
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
from maskwright.grammar.shape.one_of import ExclusiveUnions, Possible
from maskwright.grammar.shape.order import name_order
from maskwright.grammar.shape.scalars import NumberOptions, literals_of, numbers_of, scalars_of
from maskwright.grammar.shape.shape import (
    ArrayShape,
    Conjunction,
    ObjectShape,
    Shape,
    construct_of,
    in_order,
)
from maskwright.grammar.shape.strings import StringLanguages
from maskwright.grammar.shape.unevaluated import ResolvedAssertions
from maskwright.grammar.shape.unions import Branches
from maskwright.limits import DEFAULT_LIMITS, Limits

_UNITING: Final = frozenset((AllOf, AnyOf, OneOf, Not, If, Values))
"""Assertions that are unions, or contain other schemas about the value."""


class Shapes:
    """The shapes of one schema document, each computed once."""

    def __init__(
        self,
        limits: Limits = DEFAULT_LIMITS,
        possible: Possible = lambda _: True,
        numbers: Numbers = "any",
    ) -> None:
        """`possible` decides which options of a `oneOf` share an instance; by default, all do.
        `numbers`: how they are written; see `compile_json_schema`."""
        self._limits = limits
        self._numbers = NumberOptions(limits.divisor, numbers == "plain")
        self._shapes: dict[Conjunction, Shape] = {}
        self._orders: dict[Conjunction, dict[str, int]] = {}
        self._resolved = ResolvedAssertions(limits)
        self._strings = StringLanguages(self._resolved)
        self._branches = Branches(ExclusiveUnions(limits, possible), self._resolved, limits)

    def normal_form(self, conjunction: Conjunction) -> Shape:
        """Return the normal form of a conjunction. Raises `LimitError`, or `SchemaError` for a
        schema that refers to itself without end."""
        shape = self._shapes.get(conjunction)
        if shape is None:
            try:
                shape = self._shapes[conjunction] = self._compute(conjunction)
            except LimitError as error:
                error.complete(construct=construct_of(conjunction))
                raise
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
            strings = intersection(
                ANYTHING, *(self._strings.language(s) for s in in_order(conjunction))
            )
        scalars: list[Regular] = []
        if "null" in types or "boolean" in types:
            for kind in ("null", "boolean"):
                branches = self._branches.branches(conjunction, kind)
                scalars += [literals_of(branch, kind) for branch in branches]
        if "number" in types or "integer" in types:
            branches = self._branches.branches(conjunction, "number")
            scalars += [numbers_of(branch, self._numbers) for branch in branches]
        arrays: list[ArrayShape] = []
        if "array" in types:
            branches = self._branches.branches(conjunction, "array")
            arrays = [shape for branch in branches if (shape := array_shape(branch)) is not None]
        objects: list[ObjectShape] = []
        if "object" in types:
            branches = self._branches.branches(conjunction, "object")
            alternatives = (self._object(branch, conjunction) for branch in branches)
            objects = [shape for shape in alternatives if shape is not None]
        return Shape(strings, alt(*scalars), tuple(arrays), tuple(objects))

    def _lone(self, assertions: tuple[Assertion, ...], conjunction: Conjunction) -> Shape:
        """Return the shape of one schema without unions, as `_compute` does, but faster."""
        types = _types(conjunction)
        strings, scalars = scalars_of(assertions, types, self._numbers)
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
        return object_shape(branch, self._strings.language, lambda: self._order(conjunction))

    def _order(self, conjunction: Conjunction) -> dict[str, int]:
        """The place of each name that a conjunction declares, in all of its branches."""
        places = self._orders.get(conjunction)
        if places is None:
            places = self._orders[conjunction] = name_order(in_order(conjunction))
        return places


def _types(conjunction: Conjunction) -> frozenset[str]:
    """The types that the schemas' own `type` keywords allow; "integer" with "number"."""
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
    """Whether a property is required whose schema is `false`."""
    absent = {
        name
        for each in branch
        if isinstance(each, Properties)
        for name, schema in each.named.items()
        if schema.never
    }
    return any(isinstance(each, Required) and not absent.isdisjoint(each.names) for each in branch)
