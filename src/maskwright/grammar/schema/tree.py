"""JSON Schema as a closed tree: one class for each thing a schema can assert.

A `Schema` is the conjunction of its assertions. Assertions about one JSON type say nothing about
values of other types. References are resolved, so recursion is a cycle of objects. What has no
keyword of its own (`SomeMember`, `NotValues`, …) is what negation leaves behind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import count
from typing import Any, Final, NamedTuple

from maskwright.grammar.number.interval import Interval
from maskwright.grammar.regular.terms import Regular

Json = None | bool | int | float | str | list[Any] | dict[str, Any]

TYPES: Final = frozenset(("null", "boolean", "integer", "number", "string", "array", "object"))


@dataclass(frozen=True, slots=True)
class TypeIs:
    types: frozenset[str]


@dataclass(frozen=True, slots=True)
class Values:
    """`enum` and `const`."""

    values: tuple[Json, ...]


@dataclass(frozen=True, slots=True)
class NotValues:
    """None of these scalars."""

    values: tuple[Json, ...]


@dataclass(frozen=True, slots=True)
class NumberIn:
    interval: Interval


@dataclass(frozen=True, slots=True)
class DigitsOnly:
    """Numbers written without a point or an exponent, or (negative) all others: draft 4 tells
    integers by their spelling."""

    negative: bool = False


@dataclass(frozen=True, slots=True)
class MultipleOf:
    """Multiples of `divisor`, or (negative) all other numbers."""

    divisor: Decimal
    negative: bool = False


@dataclass(frozen=True, slots=True)
class StringIn:
    """Strings (their values, not their spellings) of a regular language."""

    language: Regular


@dataclass(frozen=True, slots=True)
class Items:
    """Item i satisfies `prefix[i]`, the items beyond them `rest`."""

    prefix: tuple[Schema, ...]
    rest: Schema
    covers_all: bool = True
    """Whether the schema speaks of the items behind the prefix (for `unevaluatedItems`)."""


@dataclass(frozen=True, slots=True)
class ItemCount:
    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class Contains:
    """From item `start` on, `least` to `most` items satisfy `schema`."""

    schema: Schema
    least: int
    most: int | None
    start: int = 0


@dataclass(frozen=True, slots=True)
class UniqueItems:
    pass


@dataclass(frozen=True, slots=True)
class RepeatedItems:
    """Some two items are equal (the negation of `UniqueItems`)."""


@dataclass(frozen=True, slots=True)
class Properties:
    """Members by name, by pattern (all that match), and the others."""

    named: Mapping[str, Schema]
    patterns: tuple[tuple[Regular, Schema], ...]
    additional: Schema
    covers_all: bool = True
    """Whether the schema speaks of the other members (for `unevaluatedProperties`)."""


@dataclass(frozen=True, slots=True)
class SomeMember:
    """At least one member has one of these names, or a name in one of these languages, and a value
    that satisfies the schema beside it; or one of the names in `absent` is missing.

    So it is one assertion that denies `properties` and `required` together, not a union."""

    named: Mapping[str, Schema]
    patterns: tuple[tuple[Regular, Schema], ...]
    absent: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PropertyNames:
    """Every name satisfies `schema`; negative: some name does not."""

    schema: Schema
    negative: bool = False


@dataclass(frozen=True, slots=True)
class Required:
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PropertyCount:
    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class AllOf:
    parts: tuple[Schema, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    options: tuple[Schema, ...]


@dataclass(frozen=True, slots=True)
class OneOf:
    options: tuple[Schema, ...]


@dataclass(frozen=True, slots=True)
class Not:
    schema: Schema


@dataclass(frozen=True, slots=True)
class If:
    condition: Schema
    then: Schema
    otherwise: Schema


@dataclass(frozen=True, slots=True)
class Unevaluated:
    """Members (or items) that nothing else in the schema at hand has looked at."""

    kind: str
    """`properties` or `items`."""
    schema: Schema


Assertion = (
    TypeIs
    | Values
    | NotValues
    | NumberIn
    | DigitsOnly
    | MultipleOf
    | StringIn
    | Items
    | ItemCount
    | Contains
    | UniqueItems
    | RepeatedItems
    | Properties
    | SomeMember
    | PropertyNames
    | Required
    | PropertyCount
    | AllOf
    | AnyOf
    | OneOf
    | Not
    | If
    | Unevaluated
)


@dataclass(eq=False, slots=True, weakref_slot=True)
class Schema:
    """A conjunction of assertions, compared by identity; complete once parsing is over."""

    pointer: str
    assertions: tuple[Assertion, ...] = ()
    never: bool = False
    """The schema `false`."""
    key: bytes | None = None
    """How it is written, where nothing else has a say in what it means."""
    negation: Schema | None = None
    """Filled by `negated`."""
    number: int = field(default_factory=lambda: next(_numbers))

    def __repr__(self) -> str:
        return f"Schema({self.pointer or '/'})"


_numbers = count()


class ReportEntry(NamedTuple):
    pointer: str
    keyword: str
    note: str = ""
    suspect: bool = False
    """Whether it looks like a misspelt keyword."""


@dataclass(frozen=True, slots=True)
class Report:
    """What compiling did with each keyword: nothing is dropped in silence."""

    enforced: tuple[ReportEntry, ...]
    annotations: tuple[ReportEntry, ...]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was probably meant to be enforced, and is not."""
        return tuple(f"{e.pointer}/{e.keyword}: {e.note}" for e in self.annotations if e.suspect)

    def __str__(self) -> str:
        rows = [f"enforced    {e.pointer}/{e.keyword} {e.note}".rstrip() for e in self.enforced]
        rows += [f"annotation  {e.pointer}/{e.keyword} {e.note}".rstrip() for e in self.annotations]
        return "\n".join(rows)


def negated(schema: Schema) -> Schema:
    """¬schema, made once. Recursion is a cycle here too: sub-schemas are negated when reached."""
    if schema.negation is None:
        opposite = schema.negation = Schema(schema.pointer)
        opposite.negation = schema
        if schema.never:
            pass
        elif not schema.assertions:
            opposite.never = True
        else:
            opposite.assertions = (Not(schema),)
    return schema.negation


def value_schema(value: Json, pointer: str) -> Schema:
    """The schema that only `value` satisfies."""
    never = Schema(pointer, never=True)
    match value:
        case list():
            prefix = tuple(value_schema(v, pointer) for v in value)
            length = ItemCount(len(value), len(value))
            return Schema(pointer, (TypeIs(frozenset(["array"])), Items(prefix, never), length))
        case dict():
            named = {name: value_schema(v, pointer) for name, v in value.items()}
            kind = TypeIs(frozenset(["object"]))
            return Schema(pointer, (kind, Properties(named, (), never), Required(tuple(value))))
        case _:
            return Schema(pointer, (Values((value,)),))
