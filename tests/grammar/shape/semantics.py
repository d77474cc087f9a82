"""What schemas and shapes mean for one value, read naively: the judge of the tests beside it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from maskwright.grammar.number.spellings import decimal
from maskwright.grammar.regular.derivative import contains
from maskwright.grammar.schema.parse import ParseOptions, parse_schema
from maskwright.grammar.schema.tree import (
    AllOf,
    AnyOf,
    Assertion,
    Contains,
    DigitsOnly,
    If,
    ItemCount,
    Items,
    Json,
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
)
from maskwright.grammar.shape.shape import ArrayShape, Conjunction, MemberRequirement, ObjectShape
from maskwright.grammar.shape.shapes import Shapes

VALUES: list[Json] = [
    *(None, True, False, 0, 1, -1, 1.0, 1.5, 2, 3, 7, 10, 12.5, 1000.0),
    *("", "a", "b", "ab", "abc", "é", "1"),
    *([], [1], [1, 1], [1, 2], ["a"], [1, "a"], [1, 2, 3], [[], []], [None, 1, None]),
    *({}, {"a": 1}, {"a": "x"}, {"b": 1}, {"a": 1, "b": 1}, {"a": 1, "b": 2, "c": 3}, {"ab": 1}),
    *({"a": {}}, {"a": {"a": 1}}, [{}], [{"a": 1}], {"a": []}, {"a": [1]}),
]
"""Values of all types, for tables that say which of them satisfy something."""


def schema(document: Json) -> Schema:
    return parse_schema(document, ParseOptions()).root


def satisfies(root: Schema, value: Json) -> bool:
    """Whether a value satisfies a parsed schema in which nothing is unevaluated."""
    return not root.never and all(_holds(each, value) for each in root.assertions)


def fits(shapes: Shapes, conjunction: Conjunction, value: Json) -> bool:
    """Whether a value is of the normal form of a conjunction."""
    shape = shapes.normal_form(conjunction)
    match value:
        case str():
            return contains(shape.strings, value)
        case list():
            return any(_array_fits(shapes, each, value) for each in shape.arrays)
        case dict():
            return any(_object_fits(shapes, each, value) for each in shape.objects)
        case _:
            return contains(shape.scalars, json.dumps(value))


def kind(value: Json) -> str:
    """The type of a value; "number" for integers too."""
    names = {type(None): "null", bool: "boolean", int: "number", float: "number", str: "string"}
    return {**names, list: "array", dict: "object"}[type(value)]


def same(left: Json, right: Json) -> bool:
    """Equality of JSON: `1` is `1.0`, and `true` is not `1`."""
    if kind(left) != kind(right):
        return False
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[n], right[n]) for n in left)
    return left == right


def repeats(items: list[Any]) -> bool:
    return any(same(item, other) for at, item in enumerate(items) for other in items[:at])


def _between(count: int, least: int, most: int | None) -> bool:
    return least <= count and (most is None or count <= most)


def _holds(assertion: Assertion, value: Json) -> bool:
    for types, judge in ((_ANY, _any), (_NUMBERS, _number), (_ARRAYS, _array), (_OBJECTS, _object)):
        if isinstance(assertion, types):
            return judge(assertion, value)
    raise AssertionError(assertion)


_ANY = (TypeIs, Values, NotValues, AllOf, AnyOf, OneOf, Not, If, StringIn)
_NUMBERS = (NumberIn, DigitsOnly, MultipleOf)
_ARRAYS = (Items, ItemCount, Contains, UniqueItems, NotUniqueItems)
_OBJECTS = (Properties, SomeMember, PropertyNames, Required, PropertyCount)


def _any(assertion: Assertion, value: Json) -> bool:
    match assertion:
        case TypeIs(types=types):
            whole = isinstance(value, int | float) and value == int(value)
            return kind(value) in types or (
                kind(value) == "number" and whole and "integer" in types
            )
        case Values(values=values):
            return any(same(value, each) for each in values)
        case NotValues(values=values):
            return not any(same(value, each) for each in values)
        case StringIn(language=language):
            return not isinstance(value, str) or contains(language, value)
        case AllOf(parts=parts):
            return all(satisfies(part, value) for part in parts)
        case AnyOf(options=options):
            return any(satisfies(option, value) for option in options)
        case OneOf(options=options):
            return sum(satisfies(option, value) for option in options) == 1
        case Not(schema=inner):
            return not satisfies(inner, value)
        case If(condition=condition, then=then, otherwise=otherwise):
            return satisfies(then if satisfies(condition, value) else otherwise, value)
        case _:
            raise AssertionError(assertion)


def _number(assertion: Assertion, value: Json) -> bool:
    if kind(value) != "number":
        return True
    assert isinstance(value, int | float)
    match assertion:
        case NumberIn(interval=interval):
            return decimal(value) in interval
        case DigitsOnly(negative=negative):
            return (re.fullmatch(r"-?\d+", json.dumps(value)) is None) is negative
        case MultipleOf(divisor=divisor, negative=negative):
            quotient = Fraction(decimal(value)) / Fraction(divisor)
            return (quotient.denominator > 1) is negative
        case _:
            raise AssertionError(assertion)


def _array(assertion: Assertion, value: Json) -> bool:
    if not isinstance(value, list):
        return True
    match assertion:
        case Items(prefix=prefix, rest=rest):
            schemas = [*prefix, *[rest] * len(value)]
            return all(map(satisfies, schemas, value))
        case ItemCount(least=least, most=most):
            return _between(len(value), least, most)
        case Contains(schema=inner, least=least, most=most, start=start):
            return _between(sum(satisfies(inner, item) for item in value[start:]), least, most)
        case UniqueItems():
            return not repeats(value)
        case NotUniqueItems():
            return repeats(value)
        case _:
            raise AssertionError(assertion)


def _object(assertion: Assertion, value: Json) -> bool:
    if not isinstance(value, dict):
        return True
    match assertion:
        case Properties():
            return all(
                satisfies(each, member)
                for name, member in value.items()
                for each in _schemas_of_member(assertion, name)
            )
        case SomeMember(named=named, patterns=patterns, absent=absent):
            return any(name not in value for name in absent) or any(
                satisfies(each, member)
                for name, member in value.items()
                for each in _matching(named, patterns, name)
            )
        case PropertyNames(schema=inner, negative=negative):
            every = all(satisfies(inner, name) for name in value)
            return every is not negative
        case Required(names=names):
            return all(name in value for name in names)
        case PropertyCount(least=least, most=most):
            return _between(len(value), least, most)
        case _:
            raise AssertionError(assertion)


def _matching(named: Any, patterns: Iterable[tuple[Any, Schema]], name: str) -> list[Schema]:
    by_name = [named[name]] if name in named else []
    return by_name + [each for language, each in patterns if contains(language, name)]


def _schemas_of_member(properties: Properties, name: str) -> list[Schema]:
    matching = _matching(properties.named, properties.patterns, name)
    return matching or [properties.additional]


def _array_fits(shapes: Shapes, shape: ArrayShape, value: list[Any]) -> bool:
    return (
        _between(len(value), shape.least, shape.most)
        and all(fits(shapes, shape.item(at), item) for at, item in enumerate(value))
        and all(
            _between(
                sum(fits(shapes, frozenset([each.schema]), item) for item in value[each.start :]),
                each.least,
                each.most,
            )
            for each in shape.contains
        )
        and not (shape.unique and repeats(value))
        and not (shape.repeats and not repeats(value))
    )


def _object_fits(shapes: Shapes, shape: ObjectShape, value: dict[str, Any]) -> bool:
    def allowed(name: str) -> Conjunction:
        if name in shape.names:
            return shape.values[shape.names.index(name)]
        return shape.others(tuple(contains(language, name) for language in shape.languages))

    return (
        _between(len(value), shape.least, shape.most)
        and all(shape.names[at] in value for at in shape.required)
        and all(fits(shapes, allowed(name), member) for name, member in value.items())
        and all(_is_met(shapes, shape, each, value) for each in shape.some)
    )


def _is_met(
    shapes: Shapes, shape: ObjectShape, required: MemberRequirement, value: dict[str, Any]
) -> bool:
    if any(name not in value for at, name in enumerate(shape.names) if required.absent >> at & 1):
        return True
    for name, member in value.items():
        if name in shape.names:
            schemas = required.names.get(shape.names.index(name), ())
        else:
            schemas = tuple(
                each for at, each in required.languages if contains(shape.languages[at], name)
            )
        if any(fits(shapes, frozenset([each]), member) for each in schemas):
            return True
    return False
