"""Negation pushed to the leaves: the schema of all values that do not satisfy a schema."""

from __future__ import annotations

from decimal import Decimal
from typing import assert_never

from maskwright.grammar.regular.terms import ANYTHING, Regular, alt, both, complement, words
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
from maskwright.grammar.shape.unevaluated import evaluated
from maskwright.limits import DEFAULT_LIMITS, Limits


def denied(schema: Schema, limits: Limits = DEFAULT_LIMITS) -> AnyOf:
    """¬schema, one level deep: a union of the negations of its assertions."""
    rest: list[Assertion] = []
    members: list[Properties] = []
    required: list[str] = []
    for assertion in evaluated(schema, limits):
        match assertion:
            case Properties():
                members.append(assertion)
            case Required(names=names):
                required += names
            case _:
                rest.append(assertion)
    options = [_denied(each, schema.pointer) for each in rest]
    if members or required:
        options.append(_some_member(members, tuple(required), schema.pointer))
    return AnyOf(tuple(options))


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
            return union(*(conjunction(is_number, NumberIn(i)) for i in interval.outside))
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
            return conjunction(is_array, RepeatedItems())
        case RepeatedItems():
            return conjunction(UniqueItems())
        case Properties():
            return _some_member([assertion], (), pointer)
        case SomeMember(named=named, patterns=patterns, absent=absent):
            every = {name: negated(schema) for name, schema in named.items()}
            opposite = tuple((names, negated(schema)) for names, schema in patterns)
            members = Properties(every, opposite, Schema(pointer))
            return conjunction(is_object, members, Required(absent))
        case PropertyNames(schema=schema, negative=negative):
            return conjunction(is_object, PropertyNames(schema, not negative))
        case Required(names=names):
            return _some_member([], names, pointer)
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


def _some_member(members: list[Properties], required: tuple[str, ...], pointer: str) -> Schema:
    """Objects in which some member breaks its schema or a required one is missing."""
    is_object, free = _type("object"), Schema(pointer)
    named: dict[str, Schema] = {}
    patterns: list[tuple[Regular, Schema]] = []
    for each in members:
        for name, schema in each.named.items():
            if schema.assertions or schema.never:
                broken = negated(schema)
                if name in named:
                    broken = Schema(pointer, (AnyOf((named[name], broken)),))
                named[name] = broken
        patterns += ((p, negated(s)) for p, s in each.patterns if s.assertions or s.never)
        if each.additional.assertions or each.additional.never:
            known = alt(words(list(each.named)), *(names for names, _ in each.patterns))
            patterns.append((both(ANYTHING, complement(known)), negated(each.additional)))
    match (*named, *patterns, *required):
        case ():
            return Schema(pointer, never=True)
        case (name,) if name in named:
            return Schema(pointer, (is_object, Required((name,)), Properties(named, (), free)))
        case (name,) if name in required:
            absent = Properties({name: Schema(pointer, never=True)}, (), free)
            return Schema(pointer, (is_object, absent))
        case _:
            return Schema(pointer, (is_object, SomeMember(named, tuple(patterns), required)))
