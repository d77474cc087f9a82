"""Schemas that evidently have a value: seen from their assertions, without a normal form.

Most schemas are such, so most questions for a value end here, at the price of a look at each
keyword. A value is evident if some type is allowed, and all that is said of that type is met by the
empty array, by an object of the required members, by any string, by a whole number near a bound, or
by an entry of an enumeration. Whatever else is said, such as a negation, leaves it open.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Final

from maskwright.grammar.regular.terms import EMPTY, is_text
from maskwright.grammar.schema.tree import (
    ABOUT,
    TYPES,
    AllOf,
    AnyOf,
    Assertion,
    DigitsOnly,
    ItemCount,
    Items,
    Json,
    MultipleOf,
    NumberIn,
    Properties,
    PropertyCount,
    Required,
    Schema,
    StringIn,
    TypeIs,
    UniqueItems,
    Values,
)
from maskwright.grammar.shape.shape import Conjunction, conjunction_of, joint_count
from maskwright.limits import CHEAP, spend

_MOST_LEVELS: Final = 64
"""Levels of required values that are looked at, one within another."""
_MOST_PARTS: Final = 64
"""Schemas of one conjunction that are looked at, with those that they refer to."""
_MOST_VALUES: Final = 4_096
"""Values within one that are looked at; a text with more may be too long to be completed."""
_PLAIN: Final = 10**15
"""Whole numbers up to here have a short spelling."""


class EvidentValues:
    """Confirms that conjunctions of one document have values. False leaves it open."""

    def __init__(self) -> None:
        self._known: dict[tuple[Conjunction, frozenset[str]], int] = {}
        """How many values an evident one has in it, with itself; 0 where none is evident."""
        self._level = 0

    def has_value(self, conjunction: Conjunction) -> bool:
        """Whether the conjunction evidently has a value, of no more than thousands of values."""
        return self._size(conjunction, TYPES) > 0

    def _size(self, conjunction: Conjunction, types: frozenset[str] = TYPES) -> int:
        """The values within an evident one of one of the types ("integer" is a type beside
        "number"); 0 if none is evident, or it has too many."""
        key = conjunction, types
        known = self._known.get(key)
        if known is None:
            if self._level == _MOST_LEVELS:
                return 0
            self._known[key] = 0  # for a value that is required within itself
            self._level += 1
            try:
                found = self._find(conjunction, types)
            finally:
                self._level -= 1
            known = self._known[key] = found if found <= _MOST_VALUES else 0
        return known

    def _find(self, conjunction: Conjunction, types: frozenset[str]) -> int:
        spend(CHEAP)
        about: dict[str, list[Assertion]] = {}
        others: list[Assertion] = []
        waiting = [*conjunction]
        for looked_at, part in enumerate(waiting):  # which grows
            if part.never or looked_at == _MOST_PARTS:
                return 0
            for assertion in part.assertions:
                match assertion:
                    case TypeIs(types=named):
                        types &= named | {"integer"} if "number" in named else named
                    case AllOf(parts=parts):
                        waiting += parts
                    case _:
                        kind = ABOUT.get(type(assertion))
                        (about.setdefault(kind, []) if kind else others).append(assertion)
        match others:
            case []:
                return self._one_of(types, about)
            case [Values(values=values)] if not about:
                return int(any(_is_evident(value, types) for value in values))
            case [AnyOf(options=options)] if not about:
                sizes = (self._size(frozenset([option]), types) for option in options)
                return next((size for size in sizes if size), 0)
            case _:
                return 0

    def _one_of(self, types: frozenset[str], about: dict[str, list[Assertion]]) -> int:
        """The size of a value of one of the types that evidently meets what is said of its type."""
        kinds = {"number" if kind == "integer" else kind for kind in types}
        if not kinds <= about.keys():
            return 1
        if ("string" in kinds and _has_string(about["string"])) or (
            "number" in kinds and _has_whole_number(about["number"])
        ):
            return 1
        size = self._array(about["array"]) if "array" in kinds else 0
        return size or (self._object(about["object"]) if "object" in kinds else 0)

    def _array(self, assertions: list[Assertion]) -> int:
        counts = [each for each in assertions if isinstance(each, ItemCount)]
        least, most = joint_count(counts)
        if most is not None and most < least:
            return 0
        if least == 0:
            free = (isinstance(each, ItemCount | Items | UniqueItems) for each in assertions)
            return int(all(free))
        items = [each for each in assertions if isinstance(each, Items)]
        if len(items) + len(counts) < len(assertions) or least > _MOST_PARTS:
            return 0
        each = (conjunction_of(_item_of(one, at) for one in items) for at in range(least))
        return _with_all(map(self._size, each))

    def _object(self, assertions: list[Assertion]) -> int:
        """The size of the object of the required members alone, if it is evidently one."""
        names: dict[str, None] = {}
        properties: list[Properties] = []
        counts: list[PropertyCount] = []
        for assertion in assertions:
            match assertion:
                case Required(names=required):
                    names |= dict.fromkeys(required)
                case Properties():
                    properties.append(assertion)
                case PropertyCount():
                    counts.append(assertion)
                case _:
                    return 0
        least, most = joint_count(counts)
        if not least <= len(names) <= (len(names) if most is None else most):
            return 0
        return _with_all(self._member(name, properties) for name in names)

    def _member(self, name: str, properties: Sequence[Properties]) -> int:
        if not is_text(name) or any(each.patterns for each in properties):
            return 0
        values = (each.named.get(name, each.additional) for each in properties)
        return self._size(conjunction_of(values))


def _with_all(sizes: Iterable[int]) -> int:
    """The size of a container of values of these sizes; 0 if one of them is."""
    total = 1
    for size in sizes:
        if size == 0:
            return 0
        total += size
    return total


def _item_of(items: Items, at: int) -> Schema:
    return items.prefix[at] if at < len(items.prefix) else items.rest


def _has_string(assertions: Sequence[Assertion]) -> bool:
    match assertions:
        case [StringIn(language=language)]:
            return language.plain and language is not EMPTY
        case _:
            return False


def _has_whole_number(assertions: Iterable[Assertion]) -> bool:
    """Whether 0 or a whole number near a bound meets all of the assertions."""
    intervals = [each.interval for each in assertions if isinstance(each, NumberIn)]
    bounds = [bound for each in intervals for bound in (each.low, each.high) if bound is not None]
    near = (int(bound) + step for bound in bounds if abs(bound) < _PLAIN for step in (0, 1, -1))
    return any(all(_is_met(each, number) for each in assertions) for number in (0, *near))


def _is_met(assertion: Assertion, number: int) -> bool:
    match assertion:
        case NumberIn(interval=interval):
            return Decimal(number) in interval
        case MultipleOf(divisor=divisor, negative=False):
            return number == 0 or Decimal(number) % divisor == 0
        case DigitsOnly(negative=negative):
            return not negative
        case _:
            return False


def _is_evident(value: Json, types: frozenset[str]) -> bool:
    """Whether a value of an enumeration evidently has a text, and a type that is allowed. An array
    or object may contain half of a surrogate pair, which has none."""
    match value:
        case None:
            return "null" in types
        case bool():
            return "boolean" in types
        case str():
            return "string" in types and is_text(value)
        case int():
            return "integer" in types
        case _:
            return False
