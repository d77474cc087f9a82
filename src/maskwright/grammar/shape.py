"""The normal form: for each JSON type, what a value of it must look like.

A *conjunction* is a set of schemas that must all hold. Its `Shape` is a union over types: one
regular language for the values of strings, one for the spellings of the other scalars, and a list
of alternatives each for arrays and objects. Sub-schemas stay conjunctions and are looked at only
when they are reached, so recursion costs nothing here.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Final, assert_never

from maskwright.errors import LimitError
from maskwright.grammar import numbers
from maskwright.grammar.numbers import Interval
from maskwright.grammar.regular import ANYTHING, EMPTY, Regular, alt, both, words
from maskwright.grammar.schema import (
    TYPES,
    AllOf,
    AnyOf,
    Assertion,
    ItemCount,
    Items,
    Json,
    NumberIn,
    OneOfValues,
    Properties,
    Required,
    Schema,
    StringIn,
    TypeIs,
)
from maskwright.limits import DEFAULT_LIMITS, Limits

Conjunction = frozenset[Schema]

ANY: Final[Conjunction] = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class ArrayShape:
    prefix: tuple[Conjunction, ...]
    rest: Conjunction
    least: int
    most: int | None

    def item(self, index: int) -> Conjunction:
        return self.prefix[index] if index < len(self.prefix) else self.rest


@dataclass(frozen=True, slots=True, eq=False)
class ObjectShape:
    """`names` are the declared properties in order, then required ones that no one declared."""

    names: tuple[str, ...]
    declared: int
    values: tuple[Conjunction, ...]
    """What the value of each name must satisfy."""
    additional: Conjunction
    required: frozenset[int]
    """Indexes into `names`."""


@dataclass(frozen=True)
class Shape:
    strings: Regular
    """The values (not spellings) of strings."""
    scalars: Regular
    """The spellings of numbers, booleans and null."""
    arrays: tuple[ArrayShape, ...]
    objects: tuple[ObjectShape, ...]

    @cached_property
    def is_empty(self) -> bool:
        return (
            self.strings is EMPTY
            and self.scalars is EMPTY
            and not self.arrays
            and not self.objects
        )


class Shapes:
    """The shapes of one schema document, each computed once."""

    def __init__(self, limits: Limits = DEFAULT_LIMITS) -> None:
        self._limits = limits
        self._known: dict[Conjunction, Shape] = {}

    def of(self, conjunction: Conjunction) -> Shape:
        shape = self._known.get(conjunction)
        if shape is None:
            shape = self._known[conjunction] = self._compute(conjunction)
        return shape

    def _compute(self, conjunction: Conjunction) -> Shape:
        strings: list[Regular] = []
        scalars: list[Regular] = []
        arrays: list[ArrayShape] = []
        objects: list[ObjectShape] = []
        for branch in self._branches(conjunction):
            strings.append(_strings(branch))
            scalars.append(_scalars(branch))
            if "array" in branch.types and (array := _array(branch)) is not None:
                arrays.append(array)
            if "object" in branch.types:
                objects.append(_object(branch))
        return Shape(alt(*strings), alt(*scalars), tuple(arrays), tuple(objects))

    def _branches(self, conjunction: Conjunction) -> list[_Branch]:
        """Multiply out unions: a list of conjunctions of assertions that are not unions."""
        done: list[_Branch] = []
        open_branches = [(_Branch(TYPES, ()), tuple(sorted(conjunction, key=_place)), ANY)]
        while open_branches:
            branch, pending, seen = open_branches.pop()
            if not pending:
                done.append(branch)
                continue
            schema, rest = pending[0], pending[1:]
            if schema in seen:
                open_branches.append((branch, rest, seen))
                continue
            if schema.never:
                continue
            unions: list[AnyOf] = []
            for assertion in schema.assertions:
                match assertion:
                    case AllOf(parts=parts):
                        rest = (*parts, *rest)
                    case AnyOf():
                        unions.append(assertion)
                    case OneOfValues() if any(isinstance(v, list | dict) for v in assertion.values):
                        unions.append(AnyOf(_value_schemas(assertion, schema)))
                    case _:
                        branch = branch.with_assertion(assertion)
            if not branch.types:
                continue
            choices: list[tuple[Schema, ...]] = [()]
            for union in unions:
                choices = [(*chosen, option) for chosen in choices for option in union.options]
                self._check(len(choices) + len(open_branches) + len(done), schema)
            for chosen in reversed(choices):
                open_branches.append((branch, (*chosen, *rest), seen | {schema}))
        return done

    def _check(self, count: int, schema: Schema) -> None:
        if count > self._limits.alternatives:
            raise LimitError(
                f"the unions at {schema.pointer or 'the root'} multiply to more than"
                f" {self._limits.alternatives:,} alternatives",
                limit="alternatives",
            )


@dataclass(frozen=True, slots=True)
class _Branch:
    """One alternative: the types still possible, and assertions without unions."""

    types: frozenset[str]
    assertions: tuple[Assertion, ...]

    def with_assertion(self, assertion: Assertion) -> _Branch:
        if isinstance(assertion, TypeIs):
            return _Branch(_common_types(self.types, assertion.types), self.assertions)
        types = self.types
        if isinstance(assertion, OneOfValues):
            allowed: set[str] = set()
            for value in assertion.values:
                allowed.update(_types_of(value))
            types = _common_types(types, frozenset(allowed))
        return _Branch(types, (*self.assertions, assertion))


def _common_types(left: frozenset[str], right: frozenset[str]) -> frozenset[str]:
    common = left & right
    if "integer" not in common and (
        ("integer" in left and "number" in right) or ("number" in left and "integer" in right)
    ):
        common |= {"integer"}
    return common


def _types_of(value: Json) -> tuple[str, ...]:
    match value:
        case None:
            return ("null",)
        case bool():
            return ("boolean",)
        case int() | float():
            return ("number", "integer") if value == int(value) else ("number",)
        case str():
            return ("string",)
        case list():
            return ("array",)
        case _:
            return ("object",)


def _place(schema: Schema) -> str:
    return schema.pointer


def _value_schemas(assertion: OneOfValues, schema: Schema) -> tuple[Schema, ...]:
    """One schema for all scalar values, and one for each array or object."""
    scalars = tuple(v for v in assertion.values if not isinstance(v, list | dict))
    found = [value_schema(v, schema.pointer) for v in assertion.values if isinstance(v, list | dict)]
    if scalars:
        found.append(Schema(schema.pointer, (OneOfValues(scalars),)))
    return tuple(found)


def value_schema(value: Json, pointer: str) -> Schema:
    """The schema that only `value` satisfies."""
    match value:
        case list():
            prefix = tuple(value_schema(v, pointer) for v in value)
            count = ItemCount(len(value), len(value))
            never = Schema(pointer, never=True)
            return Schema(pointer, (TypeIs(frozenset(["array"])), Items(prefix, never), count))
        case dict():
            named = {name: value_schema(v, pointer) for name, v in value.items()}
            never = Schema(pointer, never=True)
            return Schema(
                pointer,
                (
                    TypeIs(frozenset(["object"])),
                    Properties(named, never),
                    Required(tuple(value)),
                ),
            )
        case _:
            return Schema(pointer, (OneOfValues((value,)),))


def _strings(branch: _Branch) -> Regular:
    if "string" not in branch.types:
        return EMPTY
    parts: list[Regular] = [ANYTHING]
    for assertion in branch.assertions:
        match assertion:
            case StringIn(language=language):
                parts.append(language)
            case OneOfValues(values=values):
                parts.append(words([v for v in values if isinstance(v, str)]))
            case _:
                pass
    return both(*parts)


def _scalars(branch: _Branch) -> Regular:
    values: list[Json] | None = None
    for assertion in branch.assertions:
        if isinstance(assertion, OneOfValues):
            scalars = [v for v in assertion.values if not isinstance(v, str | list | dict)]
            values = scalars if values is None else [v for v in values if _among(v, scalars)]
    parts: list[Regular] = []
    if "null" in branch.types and (values is None or None in values):
        parts.append(words(["null"]))
    if "boolean" in branch.types:
        allowed = [b for b in (True, False) if values is None or any(v is b for v in values)]
        parts.append(words([str(b).lower() for b in allowed]))
    if branch.types & {"number", "integer"}:
        parts.append(_numbers(branch, values))
    return alt(*parts)


def _numbers(branch: _Branch, values: list[Json] | None) -> Regular:
    integer = "number" not in branch.types
    intervals = [a.interval for a in branch.assertions if isinstance(a, NumberIn)]
    joint = _joint(intervals)
    if values is None:
        return numbers.number(joint, integer=integer)
    found = [v for v in values if isinstance(v, int | float) and not isinstance(v, bool)]
    return alt(
        *(
            numbers.exactly(v)
            for v in found
            if _inside(numbers.decimal(v), joint) and not (integer and v != int(v))
        )
    )


def _joint(intervals: list[Interval]) -> Interval:
    low: tuple[Decimal, bool] | None = None
    high: tuple[Decimal, bool] | None = None
    for each in intervals:
        if each.low is not None:
            bound = (each.low, each.low_open)
            low = bound if low is None else max(low, bound)
        if each.high is not None:
            bound = (each.high, not each.high_open)
            high = bound if high is None else min(high, bound)
    return Interval(
        low=None if low is None else low[0],
        high=None if high is None else high[0],
        low_open=low is not None and low[1],
        high_open=high is not None and not high[1],
    )


def _inside(value: Decimal, interval: Interval) -> bool:
    if interval.low is not None and (
        value < interval.low or (value == interval.low and interval.low_open)
    ):
        return False
    return interval.high is None or not (
        value > interval.high or (value == interval.high and interval.high_open)
    )


def _among(value: Json, values: list[Json]) -> bool:
    """Equality of JSON scalars: 1 is 1.0, but not true."""
    return any(v == value and isinstance(v, bool) is isinstance(value, bool) for v in values)


def _array(branch: _Branch) -> ArrayShape | None:
    every: list[Items] = []
    least, most = 0, None
    for assertion in branch.assertions:
        match assertion:
            case Items():
                every.append(assertion)
            case ItemCount():
                least = max(least, assertion.least)
                if assertion.most is not None:
                    most = assertion.most if most is None else min(most, assertion.most)
            case _:
                pass
    if most is not None and most < least:
        return None
    length = max((len(items.prefix) for items in every), default=0)
    prefix = tuple(
        frozenset(i.prefix[at] if at < len(i.prefix) else i.rest for i in every)
        for at in range(length)
    )
    rest = frozenset(items.rest for items in every)
    return ArrayShape(tuple(_trim(c) for c in prefix), _trim(rest), least, most)


def _object(branch: _Branch) -> ObjectShape:
    every = [a for a in branch.assertions if isinstance(a, Properties)]
    required = dict.fromkeys(
        n for a in branch.assertions if isinstance(a, Required) for n in a.names
    )
    declared = list(dict.fromkeys(name for each in every for name in each.named))
    late = [name for name in required if name not in set(declared)]
    names = (*declared, *late)
    values = tuple(
        _trim(frozenset(each.named.get(name, each.additional) for each in every)) for name in names
    )
    return ObjectShape(
        names=names,
        declared=len(declared),
        values=values,
        additional=_trim(frozenset(each.additional for each in every)),
        required=frozenset(at for at, name in enumerate(names) if name in required),
    )


def _trim(conjunction: Conjunction) -> Conjunction:
    """Without the schemas that allow everything, so that equal meanings are equal sets."""
    return frozenset(s for s in conjunction if s.assertions or s.never)
