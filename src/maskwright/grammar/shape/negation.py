"""Negation, pushed one level towards the leaves.

The negation of a conjunction is the union of the negations of its assertions (De Morgan). What an
assertion negates to is again a schema, whose subschemas are negated only when they are reached:
`negated` in `grammar.schema.tree` hands out the negation of a schema without looking into it, so
recursion costs nothing here. `NEGATIONS` has a function for each class of assertion.

An assertion about one type holds for values of all others, so its negation begins with that type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any, Final

from maskwright.grammar.regular.terms import ANYTHING, Regular, alt, complement, intersection, words
from maskwright.grammar.schema.tree import (
    TYPES,
    AllOf,
    AnyOf,
    Assertion,
    Contains,
    DigitsOnly,
    If,
    ItemCount,
    Items,
    MultipleOf,
    Not,
    NotUniqueItems,
    NotValues,
    NumberIn,
    OneOf,
    Properties,
    PropertyCount,
    PropertyNames,
    Required,
    Schema,
    SomeMember,
    StringIn,
    TypeIs,
    UniqueItems,
    Values,
    negated,
    value_schema,
)
from maskwright.grammar.shape.one_of import Rivals

_NUMBER: Final = TypeIs(frozenset(["number"]))
_STRING: Final = TypeIs(frozenset(["string"]))
_ARRAY: Final = TypeIs(frozenset(["array"]))
_OBJECT: Final = TypeIs(frozenset(["object"]))


def negate(assertions: Iterable[Assertion], pointer: str) -> AnyOf:
    """The values that break at least one of the assertions. None of these is `Unevaluated`.

    `pointer`: where the assertions stand in the document, for messages about their negation.

    `properties` and `required` are negated together, into one assertion about some member: as two
    options of the union they would double the alternatives of every conjunction they are in.
    """
    others: list[Assertion] = []
    members: list[Properties] = []
    required: list[str] = []
    for assertion in assertions:
        match assertion:
            case Properties():
                members.append(assertion)
            case Required(names=names):
                required += names
            case _:
                others.append(assertion)
    options = [NEGATIONS[type(each)](each, pointer) for each in others]
    if members or required:
        options.append(_some_member(members, tuple(required), pointer))
    return AnyOf(tuple(options))


def _union(pointer: str, options: Iterable[Schema]) -> Schema:
    alternatives = tuple(options)
    if not alternatives:
        return Schema(pointer, never=True)
    return Schema(pointer, (AnyOf(alternatives),))


def _some_of(pointer: str, kind: TypeIs, assertions: Iterable[Assertion]) -> Schema:
    """The values of a type that satisfy one of some assertions."""
    return _union(pointer, (Schema(pointer, (kind, each)) for each in assertions))


def _negate_type(assertion: TypeIs, pointer: str) -> Schema:
    types = assertion.types
    others = TYPES - types - {"integer"}
    if "number" in types or "integer" not in types:
        return Schema(pointer, (TypeIs(others),))
    fraction = Schema(pointer, (_NUMBER, MultipleOf(Decimal(1), negative=True)))
    return _union(pointer, (Schema(pointer, (TypeIs(others - {"number"}),)), fraction))


def _negate_values(assertion: Values, pointer: str) -> Schema:
    scalars = tuple(v for v in assertion.values if not isinstance(v, list | dict))
    containers = (v for v in assertion.values if isinstance(v, list | dict))
    others = tuple(negated(value_schema(v, pointer)) for v in containers)
    return Schema(pointer, (NotValues(scalars), AllOf(others)))


def _negate_items(assertion: Items, pointer: str) -> Schema:
    """An item that breaks its schema: one of the prefix, or one after it."""
    free = Schema(pointer)
    options: list[Schema] = []
    for at, item in enumerate(assertion.prefix):
        if not _allows_everything(item):
            broken = Items((*[free] * at, negated(item)), free)
            options.append(Schema(pointer, (_ARRAY, ItemCount(at + 1, None), broken)))
    if not _allows_everything(assertion.rest):
        broken_rest = Contains(negated(assertion.rest), 1, None, len(assertion.prefix))
        options.append(Schema(pointer, (_ARRAY, broken_rest)))
    return _union(pointer, options)


def _negate_some_member(assertion: SomeMember, pointer: str) -> Schema:
    named = {name: negated(schema) for name, schema in assertion.named.items()}
    patterns = tuple((names, negated(schema)) for names, schema in assertion.patterns)
    members = Properties(named, patterns, Schema(pointer), declares=False)
    return Schema(pointer, (_OBJECT, members, Required(assertion.absent)))


def _negate_one_of(assertion: OneOf, pointer: str) -> Schema:
    """No option holds, or some two of them do."""
    options, rivals = assertion.options, Rivals(assertion.options)
    pairs = (
        (left, options[other])
        for at, left in enumerate(options)
        for other in rivals.of(at)
        if other < at
    )
    none = tuple(map(negated, options))
    return _union(pointer, (Schema(pointer, (AllOf(parts),)) for parts in (none, *pairs)))


def _negate_if(assertion: If, pointer: str) -> Schema:
    held = (assertion.condition, negated(assertion.then))
    failed = (negated(assertion.condition), negated(assertion.otherwise))
    return _union(pointer, (Schema(pointer, (AllOf(parts),)) for parts in (held, failed)))


NEGATIONS: Final[dict[type[Assertion], Callable[[Any, str], Schema]]] = {
    TypeIs: _negate_type,
    Values: _negate_values,
    NotValues: lambda each, pointer: Schema(pointer, (Values(each.values),)),
    NumberIn: lambda each, pointer: _some_of(
        pointer, _NUMBER, map(NumberIn, each.interval.outside)
    ),
    DigitsOnly: lambda each, pointer: (
        Schema(pointer, never=True)
        if each.preferred
        else Schema(pointer, (_NUMBER, DigitsOnly(not each.negative)))
    ),
    MultipleOf: lambda each, pointer: Schema(
        pointer, (_NUMBER, MultipleOf(each.divisor, not each.negative))
    ),
    StringIn: lambda each, pointer: Schema(pointer, (_STRING, StringIn(complement(each.language)))),
    Items: _negate_items,
    ItemCount: lambda each, pointer: _some_of(
        pointer, _ARRAY, (ItemCount(*bounds) for bounds in _outside(each))
    ),
    Contains: lambda each, pointer: _some_of(
        pointer, _ARRAY, (Contains(each.schema, *bounds, each.start) for bounds in _outside(each))
    ),
    UniqueItems: lambda _, pointer: Schema(pointer, (_ARRAY, NotUniqueItems())),
    NotUniqueItems: lambda _, pointer: Schema(pointer, (_ARRAY, UniqueItems())),
    SomeMember: _negate_some_member,
    PropertyNames: lambda each, pointer: Schema(
        pointer, (_OBJECT, PropertyNames(each.schema, not each.negative))
    ),
    PropertyCount: lambda each, pointer: _some_of(
        pointer, _OBJECT, (PropertyCount(*bounds) for bounds in _outside(each))
    ),
    AllOf: lambda each, pointer: _union(pointer, map(negated, each.parts)),
    AnyOf: lambda each, pointer: Schema(pointer, (AllOf(tuple(map(negated, each.options))),)),
    OneOf: _negate_one_of,
    Not: lambda each, _: each.schema,
    If: _negate_if,
}
"""The negation of an assertion that stands at a JSON Pointer, by its class: of every class but
those that `negate` joins, and `Unevaluated`, which `unevaluated` resolves first."""


def _allows_everything(schema: Schema) -> bool:
    return not schema.assertions and not schema.never


def _outside(counted: ItemCount | PropertyCount | Contains) -> list[tuple[int, int | None]]:
    """The counts that are not between two bounds, as bounds."""
    least, most = counted.least, counted.most
    below: list[tuple[int, int | None]] = [(0, least - 1)] if least > 0 else []
    return below if most is None else [*below, (most + 1, None)]


def _some_member(members: list[Properties], required: tuple[str, ...], pointer: str) -> Schema:
    """Objects in which some member breaks its schema or a required one is missing."""
    free = Schema(pointer)
    named: dict[str, Schema] = {}
    patterns: list[tuple[Regular, Schema]] = []
    for each in members:
        for name, schema in each.named.items():
            if not _allows_everything(schema):
                broken = negated(schema)
                if name in named:
                    broken = _union(pointer, (named[name], broken))
                named[name] = broken
        patterns += ((p, negated(s)) for p, s in each.patterns if not _allows_everything(s))
        if not _allows_everything(each.additional):
            declared = alt(words(list(each.named)), *(names for names, _ in each.patterns))
            other_names = intersection(ANYTHING, complement(declared))
            patterns.append((other_names, negated(each.additional)))
    match (*named, *patterns, *required):
        case ():
            return Schema(pointer, never=True)
        case (name,) if name in named:  # the common cases, in assertions that cost less
            broken = Properties(named, (), free, declares=False)
            return Schema(pointer, (_OBJECT, Required((name,)), broken))
        case (name,) if name in required:
            absent = Properties({name: Schema(pointer, never=True)}, (), free, declares=False)
            return Schema(pointer, (_OBJECT, absent))
        case _:
            return Schema(pointer, (_OBJECT, SomeMember(named, tuple(patterns), required)))
