"""JSON Schema as a closed tree: one class for each thing a schema can assert.

A `Schema` is the conjunction of its assertions. Assertions about one JSON type say nothing about
values of other types. References are resolved, so recursion is a cycle of objects. What has no
keyword of its own (`SomeMember`, `NotValues`, …) comes from negation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from functools import cached_property
from os import PathLike
from typing import Any, Final, Protocol

from msgspec.structs import astuple

from maskwright.garbage import hide, show
from maskwright.grammar.number.interval import Interval
from maskwright.grammar.regular.terms import Regular
from maskwright.grammar.schema.document_text import SchemaText
from maskwright.immutable import Acyclic, Immutable

Json = None | bool | int | float | str | list[Any] | dict[str, Any]


class ModelClass(Protocol):
    """A class that makes a schema of itself, such as a model of pydantic."""

    def model_json_schema(self) -> dict[str, Any]: ...


class TypeAdapter(Protocol):
    """What makes the schema of any type, such as a type adapter of pydantic."""

    def json_schema(self) -> dict[str, Any]: ...


SchemaMaker = ModelClass | TypeAdapter | PathLike[str]
"""What is no JSON, and is taken for the schema that it makes, or that is in the file of that
path."""
SchemaSource = Json | SchemaMaker
"""All that is taken for a schema. A string is JSON text, never a path: clients send strings."""

TYPES: Final = frozenset(("null", "boolean", "integer", "number", "string", "array", "object"))


class TypeIs(Acyclic):
    """Values of one of these types."""

    types: frozenset[str]


class Values(Acyclic):
    """`enum` and `const`. `plain_numbers`: numbers have only the spellings of `numbers.written`,
    also those in arrays and objects."""

    values: tuple[Json, ...]
    plain_numbers: bool = False


class NotValues(Acyclic):
    """None of these scalars."""

    values: tuple[Json, ...]


class NumberIn(Acyclic):
    """Numbers in an interval."""

    interval: Interval


class DigitsOnly(Acyclic):
    """Numbers written without a point or an exponent, or (negative) all others. Draft 4
    distinguishes integers by their spelling.

    `preferred`: the client prefers these spellings to others of equal values. What a value with
    another spelling satisfies doesn't depend on this, so no value breaks the assertion.
    """

    negative: bool = False
    preferred: bool = False


class MultipleOf(Acyclic):
    """Multiples of `divisor`, or (negative) all other numbers."""

    divisor: Decimal
    negative: bool = False


class StringIn(Acyclic):
    """Strings (their values, not their spellings) of a regular language."""

    language: Regular


class Items(Immutable):
    """Item i satisfies `prefix[i]`, the items after these `rest`."""

    prefix: tuple[Schema, ...]
    rest: Schema
    covers_all: bool = True
    """Whether a keyword says anything of the items after the prefix, for `unevaluatedItems`."""


class ItemCount(Acyclic):
    """Arrays of `least` to `most` items; None is unbounded."""

    least: int
    most: int | None


class Contains(Immutable):
    """From item `start` on, `least` to `most` items satisfy `schema`."""

    schema: Schema
    least: int
    most: int | None
    start: int = 0


class UniqueItems(Acyclic):
    """No two items are equal."""


class NotUniqueItems(Acyclic):
    """Some two items are equal (the negation of `UniqueItems`)."""


class Properties(Immutable):
    """The value of a member satisfies the schema of its name in `named`, and the schemas of all
    `patterns` that match the name. If there is none, it satisfies `additional`."""

    named: Mapping[str, Schema]
    patterns: tuple[tuple[Regular, Schema], ...]
    additional: Schema
    covers_all: bool = True
    """Whether a keyword applies to all other members, for `unevaluatedProperties`."""
    closes: bool | None = None
    """Whether objects are to have no members but those that schemas list: True if nothing is said
    of others, False if a keyword allows others, None if neither (see `grammar.shape.closed`)."""
    declares: bool = True
    """Whether a keyword declares the names, which have a place in order "schema" then. Negations
    name members without declaring them."""


class SomeMember(Immutable):
    """At least one member has one of these names, or a name in one of these languages, and a value
    that satisfies the schema given for it; or one of the names in `absent` is missing.

    With it, `properties` and `required` are negated by one assertion instead of a union."""

    named: Mapping[str, Schema]
    patterns: tuple[tuple[Regular, Schema], ...]
    absent: tuple[str, ...] = ()


class PropertyNames(Immutable):
    """Every name satisfies `schema`; negative: some name does not."""

    schema: Schema
    negative: bool = False


class Required(Acyclic):
    """All of these names occur."""

    names: tuple[str, ...]


class PropertyCount(Acyclic):
    """Objects of `least` to `most` members; None is unbounded."""

    least: int
    most: int | None


class AllOf(Immutable):
    """All parts hold."""

    parts: tuple[Schema, ...]


class AnyOf(Immutable):
    """At least one option holds."""

    options: tuple[Schema, ...]


class OneOf(Immutable):
    """Exactly one option holds."""

    options: tuple[Schema, ...]


class Not(Immutable):
    """The schema doesn't hold."""

    schema: Schema


class If(Immutable):
    """`then` holds if the condition holds, `otherwise` if it doesn't."""

    condition: Schema
    then: Schema
    otherwise: Schema


class Unevaluated(Immutable):
    """Members (or items) that no other keyword of the schema evaluates satisfy `schema`."""

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
    | NotUniqueItems
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

ABOUT: Final[dict[type[Assertion], str]] = {
    StringIn: "string",
    **dict.fromkeys((NumberIn, MultipleOf, DigitsOnly), "number"),
    **dict.fromkeys((Items, ItemCount, Contains, UniqueItems, NotUniqueItems), "array"),
    **dict.fromkeys((Properties, SomeMember, PropertyNames, Required, PropertyCount), "object"),
}
"""The type that an assertion is about, if it holds for all values of others."""


class Schema(SchemaText):
    """A conjunction of assertions, compared by identity; it is not changed once it is parsed."""

    __slots__ = ()

    assertions: tuple[Assertion, ...]
    negation: Schema | None
    """The negation of the schema, after `negated` has made it."""
    outline: Any
    """What instances can be at most, after `shape.disjoint.outline` has found it; else None."""


OMITTED_TOOL: Final = "unusable-tool"
"""The rule of a tool that is left out because of its schema; the keyword is the tool's name."""
CLOSED_BY_DEFAULT: Final = "absent, and read as false"
"""The note on the `additionalProperties` of an object that is closed although its schema doesn't
say so (see `grammar.shape.closed`)."""


class ReportEntry(Acyclic):
    """What was done with one keyword, and why where that needs saying."""

    pointer: str
    keyword: str
    """The name that the entry is about; empty for the schema at `pointer` as a whole."""
    note: str = ""
    rule: str = ""
    """What is likely to be a mistake in it, as a rule of `maskwright check`; empty where nothing
    is."""

    @property
    def place(self) -> str:
        """The pointer of what the entry is about."""
        return f"{self.pointer}/{self.keyword}" if self.keyword else self.pointer


class Entries:
    """Entries of a report, which are made when somebody asks for them: few do."""

    __slots__ = ("flat",)

    def __init__(self) -> None:
        hide(self)
        self.flat: list[Any] = hide([])
        """The fields of the first entry, of the second, and so on; in place of a note and its rule
        there may be a function that finds a remark, and its arguments."""

    def append(self, entry: ReportEntry) -> None:
        self.flat += astuple(entry)

    def extend(self, entries: Iterable[ReportEntry]) -> None:
        for entry in entries:
            self.append(entry)

    def __iter__(self) -> Iterator[ReportEntry]:
        fields = iter(self.flat)
        for pointer, keyword, note, rule in zip(fields, fields, fields, fields, strict=True):
            if not isinstance(note, str):
                note, rule = astuple(note(*rule))
            yield ReportEntry(pointer, keyword, note, rule)


class Report:
    """What compiling did with each keyword: nothing is dropped in silence."""

    def __init__(self, enforced: Iterable[ReportEntry], annotations: Iterable[ReportEntry]) -> None:
        self._enforced = enforced
        self._annotations = annotations

    @cached_property
    def enforced(self) -> tuple[ReportEntry, ...]:
        return tuple(self._enforced)

    @cached_property
    def annotations(self) -> tuple[ReportEntry, ...]:
        return tuple(self._annotations)

    def __reduce__(self) -> tuple[type[Report], tuple[tuple[ReportEntry, ...], ...]]:
        return Report, (self.enforced, self.annotations)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Report) and self.__reduce__() == other.__reduce__()

    def __hash__(self) -> int:
        return hash((self.enforced, self.annotations))

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """What was probably meant to demand something and demands nothing, with the way out."""
        return tuple(f"{e.place or '/'}: {e.note}" for e in self.annotations if e.rule)

    @cached_property
    def narrowed(self) -> tuple[ReportEntry, ...]:
        """What is enforced, but allows less than the schema says: the notes say what is left
        out."""
        enforced = {entry.place for entry in self.enforced}
        noted = (entry for entry in self.annotations if entry.note and not entry.rule)
        return tuple(dict.fromkeys(entry for entry in noted if entry.place in enforced))

    @property
    def left_out(self) -> tuple[str, ...]:
        """The names of tools that can't be called and were left out."""
        return tuple(e.keyword for e in self.annotations if e.rule == OMITTED_TOOL)

    def __str__(self) -> str:
        rows = [f"enforced    {e.pointer}/{e.keyword} {e.note}".rstrip() for e in self.enforced]
        rows += [f"annotation  {e.place or '/'} {e.note}".rstrip() for e in self.annotations]
        return "\n".join(rows)


def about_the_value(assertion: Assertion) -> tuple[Schema, ...]:
    """The schemas that an assertion combines: they are about the same value as it is."""
    match assertion:
        case AllOf(parts=schemas) | AnyOf(options=schemas) | OneOf(options=schemas):
            return schemas
        case Not(schema=schema):
            return (schema,)
        case If(condition=condition, then=then, otherwise=otherwise):
            return (condition, then, otherwise)
        case _:
            return ()


def negated(schema: Schema) -> Schema:
    """The negation of a schema, made once, without looking into the schema: its assertions are
    negated when they are reached. So the negation of a recursive schema is a cycle as well."""
    if schema.negation is None:
        opposite = schema.negation = Schema(schema.pointer)
        opposite.negation = schema
        show(schema)
        show(opposite)
        if schema.never:
            pass
        elif not schema.assertions:
            opposite.never = True
        else:
            opposite.assertions = (Not(schema),)
    return schema.negation


def value_schema(value: Json, pointer: str, *, plain_numbers: bool = False) -> Schema:
    """The schema that only `value` satisfies. `plain_numbers`: see `Values`."""
    never = Schema(pointer, never=True)
    match value:
        case list():
            prefix = tuple(value_schema(v, pointer, plain_numbers=plain_numbers) for v in value)
            length = ItemCount(len(value), len(value))
            return Schema(pointer, (TypeIs(frozenset(["array"])), Items(prefix, never), length))
        case dict():
            named = {
                name: value_schema(v, pointer, plain_numbers=plain_numbers)
                for name, v in value.items()
            }
            kind = TypeIs(frozenset(["object"]))
            return Schema(pointer, (kind, Properties(named, (), never), Required(tuple(value))))
        case _:
            return Schema(pointer, (Values((value,), plain_numbers),))
