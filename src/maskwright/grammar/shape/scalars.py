"""What schemas without unions say of scalars: strings by their values, the others as spelled."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Final, TypeGuard

from maskwright.grammar.number import spellings as numbers
from maskwright.grammar.number.interval import EVERYTHING, joint
from maskwright.grammar.number.multiples import common_multiple
from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.regular.terms import ANYTHING, EMPTY, Regular, alt, both, complement, words
from maskwright.grammar.schema.tree import (
    Assertion,
    DigitsOnly,
    Json,
    MultipleOf,
    NotValues,
    NumberIn,
    StringIn,
    TypeIs,
    Values,
)
from maskwright.limits import spend

_NARROWING: Final = (StringIn, NumberIn, MultipleOf, DigitsOnly)
"""Assertions about scalars that are equal only where they mean the same; `1` equals `true`."""
_MOST_EXCLUDED: Final = 6
"""Divisors excluded together: twice as many sums for each."""
_OF_INTEGERS: Final = TypeIs(frozenset(["integer"]))


def scalars_of(
    assertions: tuple[Assertion, ...], types: frozenset[str], divisor: int
) -> tuple[Regular, Regular]:
    """The strings and the other scalars of one schema without unions; `divisor` is the limit."""
    if any(isinstance(each, NotValues) for each in assertions):
        return _scalars(assertions, types, divisor)
    narrowing = tuple(each for each in assertions if isinstance(each, _NARROWING))
    return lone_scalars(narrowing, types, divisor)


def _scalars(
    assertions: tuple[Assertion, ...], types: frozenset[str], divisor: int
) -> tuple[Regular, Regular]:
    strings = EMPTY
    if "string" in types:
        strings = both(ANYTHING, *map(strings_of, assertions))
    others: list[Assertion] = [each for each in assertions if not isinstance(each, TypeIs)]
    scalars = [literals_of(others, kind) for kind in ("null", "boolean") if kind in types]
    if "number" in types:
        scalars.append(numbers_of(others, divisor))
    elif "integer" in types:
        scalars.append(numbers_of([_OF_INTEGERS, *others], divisor))
    return strings, alt(*scalars)


lone_scalars = lru_cache(maxsize=1_024)(_scalars)


def strings_of(assertion: Assertion) -> Regular:
    """The strings that satisfy an assertion that is no union."""
    match assertion:
        case StringIn(language=language):
            return language
        case Values(values=values):
            return words([v for v in values if isinstance(v, str)])
        case NotValues(values=values):
            return complement(words([v for v in values if isinstance(v, str)]))
        case _:
            return ANYTHING


def literals_of(branch: Iterable[Assertion], kind: str) -> Regular:
    """Of `null`, or of `true` and `false`, those that satisfy all assertions."""
    allowed: list[Json] = [None] if kind == "null" else [True, False]
    for assertion in branch:
        match assertion:
            case Values(values=values):
                allowed = [a for a in allowed if any(v is a for v in values)]
            case NotValues(values=values):
                allowed = [a for a in allowed if not any(v is a for v in values)]
            case _:
                pass
    return words(["null" if a is None else str(a).lower() for a in allowed])


def numbers_of(branch: list[Assertion], most: int) -> Regular:
    """The numbers that satisfy all assertions; integers, if a type is among these. `most`: the
    limit `divisor`."""
    integer = any(isinstance(a, TypeIs) for a in branch)
    interval = joint(a.interval for a in branch if isinstance(a, NumberIn))
    values: list[int | float] | None = None
    excluded: set[Decimal] = set()
    divisor: Decimal | None = None
    strange: list[Decimal] = []
    parts: list[Regular] = []
    for assertion in branch:
        match assertion:
            case Values():
                found = [v for v in assertion.values if _is_number(v)]
                values = found if values is None else [v for v in values if v in found]
            case NotValues():
                excluded |= {numbers.decimal(v) for v in assertion.values if _is_number(v)}
            case DigitsOnly(negative=negative):
                digits = full_match(r"-?\d+")
                parts.append(complement(digits) if negative else digits)
            case MultipleOf(divisor=each, negative=True):
                strange.append(each)
            case MultipleOf(divisor=each):
                divisor = each if divisor is None else common_multiple(divisor, each, most)
            case _:
                pass
    if values is None:
        pieces = interval.without(sorted(excluded))
        apart = tuple(strange[:_MOST_EXCLUDED])
        options = [
            numbers.number(p, integer=integer, divisor=divisor, excluded=apart, most=most)
            for p in pieces
        ]
        rest = strange[_MOST_EXCLUDED:]
        parts += [numbers.number(EVERYTHING, excluded=(each,), most=most) for each in rest]
    else:
        exact = {numbers.decimal(v): v for v in values}
        spend(5 * len(exact))
        kept = [
            value
            for at, value in exact.items()
            if at in interval
            and at not in excluded
            and not (integer and at != at.to_integral_value())
            and not (divisor is not None and Fraction(at) % Fraction(divisor))
            and all(Fraction(at) % Fraction(each) for each in strange)
        ]
        options = [numbers.exactly(*kept)]
    return both(alt(*options), *parts) if parts else alt(*options)


def _is_number(value: Json) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
