"""Negation pushed to the leaves: the schema of all values that do not satisfy a schema."""

from __future__ import annotations

from decimal import Decimal
from typing import assert_never

from maskwright.grammar.evaluation import evaluated
from maskwright.grammar.numbers import Interval
from maskwright.grammar.regular import ANYTHING, alt, both, complement, words
from maskwright.grammar.schema import (
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
    NotValues,
    NumberIn,
    OneOf,
    Properties,
    PropertyCount,
    PropertyNames,
    RepeatedItems,
    Required,
    Schema,
    SomeMember,
    StringIn,
    TypeIs,
    Unevaluated,
    UniqueItems,
    Values,
    negated,
    value_schema,
)
from maskwright.limits import DEFAULT_LIMITS, Limits


def denied(schema: Schema, limits: Limits = DEFAULT_LIMITS) -> AnyOf:
    """¬schema, one level deep: a union of the negations of its assertions."""
    return AnyOf(tuple(_denied(each, schema.pointer) for each in evaluated(schema, limits)))


def _denied(assertion: Assertion, pointer: str) -> Schema:
    def conjunction(*assertions: Assertion) -> Schema:
        return Schema(pointer, assertions)

    def union(*options: Schema) -> Schema:
        return Schema(pointer, (AnyOf(options),)) if options else Schema(pointer, never=True)

    is_number, is_string = _type("number"), _type("string")
    is_array, is_object = _type("array"), _type("object")
    match assertion:
        case TypeIs(types=types):
            return _other_types(types, pointer)
        case Values(values=values):
            scalars = tuple(v for v in values if not isinstance(v, list | dict))
            containers = [v for v in values if isinstance(v, list | dict)]
            others = tuple(negated(value_schema(v, pointer)) for v in containers)
            return conjunction(NotValues(scalars), AllOf(others))
        case NotValues(values=values):
            return conjunction(Values(values))
        case NumberIn(interval=interval):
            return union(*(conjunction(is_number, NumberIn(i)) for i in _outside(interval)))
        case DigitsOnly(negative=negative):
            return conjunction(is_number, DigitsOnly(not negative))
        case MultipleOf(divisor=divisor, negative=negative):
            return conjunction(is_number, MultipleOf(divisor, not negative))
        case StringIn(language=language):
            return conjunction(is_string, StringIn(complement(language)))
        case Items(prefix=prefix, rest=rest):
            return union(*_some_item(prefix, rest, is_array, pointer))
        case ItemCount(least=least, most=most):
            return union(*(conjunction(is_array, ItemCount(*b)) for b in _beyond(least, most)))
        case Contains(schema=schema, least=least, most=most, start=start):
            bounds = _beyond(least, most)
            return union(*(conjunction(is_array, Contains(schema, *b, start)) for b in bounds))
        case UniqueItems():
            return conjunction(is_array, RepeatedItems(f"{pointer}/uniqueItems"))
        case RepeatedItems():
            return conjunction(UniqueItems())
        case Properties():
            return union(*_some_member(assertion, is_object, pointer))
        case SomeMember(names=names, schema=schema):
            others = Schema(pointer)
            return conjunction(Properties({}, ((names, negated(schema)),), others), is_object)
        case PropertyNames(schema=schema, negative=negative):
            return conjunction(is_object, PropertyNames(schema, not negative))
        case Required(names=names):
            never = Schema(pointer, never=True)
            absent = (Properties({n: never}, (), Schema(pointer)) for n in names)
            return union(*(conjunction(is_object, each) for each in absent))
        case PropertyCount(least=least, most=most):
            bounds = _beyond(least, most)
            return union(*(conjunction(is_object, PropertyCount(*b)) for b in bounds))
        case AllOf(parts=parts):
            return union(*(negated(part) for part in parts))
        case AnyOf(options=options):
            return conjunction(AllOf(tuple(negated(option) for option in options)))
        case OneOf(options=options):
            none = conjunction(AllOf(tuple(negated(option) for option in options)))
            pairs = (
                conjunction(AllOf((left, right)))
                for at, left in enumerate(options)
                for right in options[:at]
            )
            return union(none, *pairs)
        case Not(schema=schema):
            return schema
        case If(condition=condition, then=then, otherwise=otherwise):
            return union(
                conjunction(AllOf((condition, negated(then)))),
                conjunction(AllOf((negated(condition), negated(otherwise)))),
            )
        case Unevaluated():
            raise AssertionError("resolved before anything is negated; see grammar.evaluation")
        case _:
            assert_never(assertion)


def _type(name: str) -> TypeIs:
    return TypeIs(frozenset([name]))


def _other_types(types: frozenset[str], pointer: str) -> Schema:
    others = TYPES - types - {"integer"}
    if "number" in types or "integer" not in types:
        return Schema(pointer, (TypeIs(others),))
    fractions = Schema(pointer, (_type("number"), MultipleOf(Decimal(1), negative=True)))
    return Schema(pointer, (AnyOf((Schema(pointer, (TypeIs(others - {"number"}),)), fractions)),))


def _outside(interval: Interval) -> list[Interval]:
    found: list[Interval] = []
    if interval.low is not None:
        found.append(Interval(high=interval.low, high_open=not interval.low_open))
    if interval.high is not None:
        found.append(Interval(low=interval.high, low_open=not interval.high_open))
    return found


def _beyond(least: int, most: int | None) -> list[tuple[int, int | None]]:
    below: list[tuple[int, int | None]] = [(0, least - 1)] if least > 0 else []
    return below if most is None else [*below, (most + 1, None)]


def _some_item(
    prefix: tuple[Schema, ...], rest: Schema, is_array: TypeIs, pointer: str
) -> list[Schema]:
    """An item that breaks its schema: one of the prefix, or one behind it."""
    free = Schema(pointer)
    found = [
        Schema(
            pointer,
            (is_array, ItemCount(at + 1, None), Items((*[free] * at, negated(item)), free)),
        )
        for at, item in enumerate(prefix)
        if item.assertions or item.never
    ]
    if rest.assertions or rest.never:
        found.append(Schema(pointer, (is_array, Contains(negated(rest), 1, None, len(prefix)))))
    return found


def _some_member(assertion: Properties, is_object: TypeIs, pointer: str) -> list[Schema]:
    """A member that breaks its schema: a named one, one of a pattern, or another."""
    free = Schema(pointer)
    found = [
        Schema(pointer, (is_object, Required((n,)), Properties({n: negated(s)}, (), free)))
        for n, s in assertion.named.items()
        if s.assertions or s.never
    ]
    for names, schema in assertion.patterns:
        if schema.assertions or schema.never:
            found.append(Schema(pointer, (is_object, SomeMember(names, negated(schema)))))
    if assertion.additional.assertions or assertion.additional.never:
        known = alt(words(list(assertion.named)), *(names for names, _ in assertion.patterns))
        others = both(ANYTHING, complement(known))
        found.append(
            Schema(pointer, (is_object, SomeMember(others, negated(assertion.additional))))
        )
    return found
