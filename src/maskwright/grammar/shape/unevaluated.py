"""`unevaluatedProperties` and `unevaluatedItems`, rewritten into keywords that need no memory.

What a schema has evaluated depends on which of its branches hold. So the schema is split into
cases, in each of which every branch is known to hold or not to; in a case the evaluated names and
items are known, and "unevaluated" becomes "additional".
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

from maskwright.errors import LimitError
from maskwright.grammar.regular.terms import Regular
from maskwright.grammar.schema.tree import (
    AllOf,
    AnyOf,
    Assertion,
    Contains,
    If,
    Items,
    OneOf,
    Properties,
    Schema,
    Unevaluated,
    negated,
)
from maskwright.limits import DEFAULT_LIMITS, Limits


@dataclass(frozen=True, slots=True)
class _Case:
    """Assertions that hold, and what evaluating them has looked at."""

    assertions: tuple[Assertion, ...] = ()
    names: tuple[str, ...] = ()
    patterns: tuple[Regular, ...] = ()
    every_member: bool = False
    items: int = 0
    contained: tuple[Schema, ...] = ()
    every_item: bool = False

    def joined(self, other: _Case) -> _Case:
        return _Case(
            self.assertions + other.assertions,
            self.names + other.names,
            self.patterns + other.patterns,
            self.every_member or other.every_member,
            max(self.items, other.items),
            self.contained + other.contained,
            self.every_item or other.every_item,
        )


def evaluated(schema: Schema, limits: Limits = DEFAULT_LIMITS) -> tuple[Assertion, ...]:
    """The assertions of `schema`, without `Unevaluated`; rewritten once, in place."""
    if any(isinstance(each, Unevaluated) for each in schema.assertions):
        cases = _resolve(_cases_of(schema.assertions, schema, limits), schema)
        options = tuple(Schema(schema.pointer, case.assertions) for case in cases)
        schema.assertions = (AnyOf(options),)
    return schema.assertions


def _cases(schema: Schema, limits: Limits) -> list[_Case]:
    if schema.never:
        return []
    cases = _cases_of(schema.assertions, schema, limits)
    return _resolve(cases, schema)


def _resolve(cases: list[_Case], schema: Schema) -> list[_Case]:
    """Apply the schema's own `Unevaluated` to its cases."""
    for assertion in schema.assertions:
        if isinstance(assertion, Unevaluated):
            apply = _members if assertion.kind == "properties" else _items
            cases = [apply(case, assertion.schema) for case in cases]
    return cases


def _members(case: _Case, schema: Schema) -> _Case:
    if case.every_member:
        return case
    free = Schema(schema.pointer)
    named = dict.fromkeys(case.names, free)
    patterns = tuple((p, free) for p in case.patterns)
    rest = Properties(named, patterns, schema)
    return replace(case, assertions=(*case.assertions, rest), every_member=True)


def _items(case: _Case, schema: Schema) -> _Case:
    if case.every_item:
        return case
    free = Schema(schema.pointer)
    rest = schema
    if case.contained:
        options = (*case.contained, schema)
        rest = Schema(schema.pointer, (AnyOf(options),))
    items = Items(tuple([free] * case.items), rest)
    return replace(case, assertions=(*case.assertions, items), every_item=True)


def _cases_of(assertions: tuple[Assertion, ...], schema: Schema, limits: Limits) -> list[_Case]:
    cases = [_Case()]
    for assertion in assertions:
        if isinstance(assertion, Unevaluated):
            continue
        options = _options(assertion, schema, limits)
        if len(cases) * len(options) > limits.alternatives:
            raise LimitError(
                "what is unevaluated has too many cases",
                limit="alternatives",
                pointer=schema.pointer,
            )
        cases = [case.joined(option) for case, option in product(cases, options)]
    return cases


def _options(assertion: Assertion, schema: Schema, limits: Limits) -> list[_Case]:
    match assertion:
        case Properties(named=named, patterns=patterns, covers_all=covers_all):
            languages = tuple(language for language, _ in patterns)
            return [_Case((assertion,), tuple(named), languages, covers_all)]
        case Items(prefix=prefix, covers_all=covers_all):
            return [_Case((assertion,), items=len(prefix), every_item=covers_all)]
        case Contains(schema=contained):
            return [_Case((assertion,), contained=(contained,))]
        case AllOf(parts=parts):
            cases = [_Case()]
            for part in parts:
                cases = [case.joined(each) for case, each in product(cases, _cases(part, limits))]
            return cases
        case AnyOf(options=options):
            return _splits(options, schema, limits, exactly_one=False)
        case OneOf(options=options):
            return _splits(options, schema, limits, exactly_one=True)
        case If(condition=condition, then=then, otherwise=otherwise):
            held = [
                a.joined(b) for a, b in product(_cases(condition, limits), _cases(then, limits))
            ]
            failed = [_denial(condition).joined(b) for b in _cases(otherwise, limits)]
            return held + failed
        case _:
            return [_Case((assertion,))]


def _denial(schema: Schema) -> _Case:
    return _Case((AllOf((negated(schema),)),))


def _splits(
    options: tuple[Schema, ...], schema: Schema, limits: Limits, *, exactly_one: bool
) -> list[_Case]:
    """All ways in which some of the options hold and the others do not."""
    found: list[_Case] = []
    choices = product((True, False), repeat=len(options))
    for held in choices:
        if sum(held) == 0 or (exactly_one and sum(held) != 1):
            continue
        cases = [_Case()]
        for option, holds in zip(options, held, strict=True):
            each = _cases(option, limits) if holds else [_denial(option)]
            cases = [case.joined(more) for case, more in product(cases, each)]
        found += cases
        if len(found) > limits.alternatives:
            raise LimitError(
                "what is unevaluated has too many cases",
                limit="alternatives",
                pointer=schema.pointer,
            )
    return found
