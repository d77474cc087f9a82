"""The scalars that satisfy assertions without unions: strings by value, the others as spelled."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Final, TypeGuard

from msgspec import Struct

from maskwright.grammar.number import spellings as numbers
from maskwright.grammar.number.interval import EVERYTHING, Interval, joint
from maskwright.grammar.number.multiples import common_multiple
from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.regular.derivative import common
from maskwright.grammar.regular.terms import (
    ANYTHING,
    EMPTY,
    Regular,
    alt,
    complement,
    intersection,
    words,
)
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
from maskwright.immutable import Acyclic
from maskwright.limits import spend

_MOST_EXCLUDED: Final = 6
"""The most divisors that are excluded by one automaton: it adds up the multiples of each subset of
them. Others get an automaton of their own, and the intersection of all is taken."""
_OF_INTEGERS: Final = TypeIs(frozenset(["integer"]))


class NumberOptions(Acyclic):
    """What holds for all numbers of a shape. `most_remainders`: the limit `divisor`. `plain`: they
    have only plain spellings (see `number.spellings`); in enumerations, only the spellings of
    `numbers.written`."""

    most_remainders: int
    plain: bool = False


def scalars_of(
    assertions: tuple[Assertion, ...], types: frozenset[str], options: NumberOptions
) -> tuple[Regular, Regular]:
    """The strings and the other scalars of one schema without unions.

    `types`: those that the schema's own `type` allows.
    """
    strings = EMPTY
    if "string" in types:
        strings = common(ANYTHING, *map(strings_of, assertions))
    others: list[Assertion] = [each for each in assertions if not isinstance(each, TypeIs)]
    scalars = [literals_of(others, kind) for kind in ("null", "boolean") if kind in types]
    if "number" in types:
        scalars.append(numbers_of(others, options))
    elif "integer" in types:
        scalars.append(numbers_of([_OF_INTEGERS, *others], options))
    return strings, alt(*scalars)


lone_scalars = lru_cache(maxsize=1_024)(scalars_of)
"""`scalars_of` assertions that narrow scalars. Their equality is equality of meaning, so that they
can be cache keys; `Values` can't: in Python `1` equals `true`."""


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
    """`null`, or `true` and `false`, as far as they satisfy all assertions."""
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


class _NumberAssertions(Struct):
    """What the assertions of one branch say of numbers."""

    integer: bool
    interval: Interval
    values: list[int | float] | None = None
    """None where numbers are not enumerated."""
    plain: bool = False
    """Whether an enumeration restricts their spellings."""
    excluded: set[Decimal] = set()
    divisor: Decimal | None = None
    excluded_divisors: list[Decimal] = []
    spellings: list[Regular] = []

    def exact(self) -> Regular:
        """The spellings of the enumerated numbers that satisfy the other assertions."""
        assert self.values is not None
        exact = {numbers.decimal(v): v for v in self.values}
        spend(5 * len(exact))
        language = numbers.written if self.plain else numbers.exactly
        return language(*(value for at, value in exact.items() if self._holds(at)))

    def _holds(self, value: Decimal) -> bool:
        return (
            value in self.interval
            and value not in self.excluded
            and not (self.integer and value != value.to_integral_value())
            and not (self.divisor is not None and Fraction(value) % Fraction(self.divisor))
            and all(Fraction(value) % Fraction(each) for each in self.excluded_divisors)
        )

    def ranges(self, options: NumberOptions) -> Regular:
        """The spellings of the numbers in the interval that satisfy the other assertions."""
        first = tuple(self.excluded_divisors[:_MOST_EXCLUDED])
        pieces = (
            numbers.number(
                piece,
                integer=self.integer,
                divisor=self.divisor,
                excluded=first,
                plain=options.plain,
                most=options.most_remainders,
            )
            for piece in self.interval.without(sorted(self.excluded))
        )
        others = (
            numbers.number(
                EVERYTHING, excluded=(each,), plain=options.plain, most=options.most_remainders
            )
            for each in self.excluded_divisors[_MOST_EXCLUDED:]
        )
        return _intersection(alt(*pieces), [*others])


def numbers_of(branch: list[Assertion], options: NumberOptions) -> Regular:
    """The spellings of the numbers that satisfy all assertions; integers, if a type is among
    these."""
    plain = options.plain
    asserted = _NumberAssertions(
        integer=any(isinstance(a, TypeIs) for a in branch),
        interval=joint(a.interval for a in branch if isinstance(a, NumberIn)),
        plain=plain,
    )
    is_listed = any(isinstance(a, Values) for a in branch)
    for assertion in branch:
        match assertion:
            case Values():
                asserted.plain |= assertion.plain_numbers
                listed = [v for v in assertion.values if _is_number(v)]
                values = asserted.values
                asserted.values = listed if values is None else [v for v in values if v in listed]
            case NotValues():
                asserted.excluded |= {numbers.decimal(v) for v in assertion.values if _is_number(v)}
            case DigitsOnly(negative=False) if plain and not is_listed:
                asserted.integer = True  # whose plain spellings are digits
            case DigitsOnly(negative=negative):
                digits = full_match(r"-?\d+")
                asserted.spellings.append(complement(digits) if negative else digits)
            case MultipleOf(divisor=each, negative=True):
                asserted.excluded_divisors.append(each)
            case MultipleOf(divisor=each):
                divisor = asserted.divisor
                asserted.divisor = (
                    each
                    if divisor is None
                    else common_multiple(divisor, each, options.most_remainders)
                )
            case _:
                pass
    language = asserted.exact() if is_listed else asserted.ranges(options)
    return _intersection(language, asserted.spellings)


def _intersection(language: Regular, others: list[Regular]) -> Regular:
    return intersection(language, *others) if others else language


def _is_number(value: Json) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
