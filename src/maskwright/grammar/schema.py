"""JSON Schema parsed into a closed tree: one class for each thing a schema can assert.

A `Schema` is the conjunction of its assertions. Assertions about one JSON type say nothing about
values of other types. References are resolved while parsing, so recursion is a cycle of objects.
What is not enforced is refused here, with its JSON Pointer; annotations go into the report.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final, NoReturn
from urllib.parse import unquote

from maskwright.errors import LimitError, RegexError, SchemaError, UnsupportedSchemaError
from maskwright.grammar.numbers import Interval, decimal
from maskwright.grammar.regular import Regular, length
from maskwright.grammar.translate import search
from maskwright.limits import DEFAULT_LIMITS, Limits

Json = None | bool | int | float | str | list[Any] | dict[str, Any]

TYPES: Final = frozenset(("null", "boolean", "integer", "number", "string", "array", "object"))

_ASSERTIONS: Final = frozenset(
    "type enum const minimum maximum exclusiveMinimum exclusiveMaximum minLength maxLength pattern"
    " prefixItems items minItems maxItems properties additionalProperties required allOf anyOf"
    " $ref".split()
)

ANNOTATIONS: Final = frozenset(
    "$schema $id id $comment $anchor $vocabulary title description default examples deprecated"
    " readOnly writeOnly contentEncoding contentMediaType contentSchema definitions $defs".split()
)
"""Keywords that the specification gives no say in what is valid (or that only hold others)."""

UNSUPPORTED: Final = frozenset(
    "not oneOf if then else dependencies dependentRequired dependentSchemas patternProperties"
    " propertyNames minProperties maxProperties unevaluatedProperties unevaluatedItems contains"
    " minContains maxContains uniqueItems additionalItems multipleOf format $dynamicRef"
    " $dynamicAnchor $recursiveRef $recursiveAnchor".split()
)
"""Keywords of the specification that this version refuses."""


@dataclass(frozen=True, slots=True)
class TypeIs:
    types: frozenset[str]


@dataclass(frozen=True, slots=True)
class OneOfValues:
    """`enum` and `const`."""

    values: tuple[Json, ...]


@dataclass(frozen=True, slots=True)
class NumberIn:
    interval: Interval


@dataclass(frozen=True, slots=True)
class StringIn:
    """Strings (their values, not their spellings) of a regular language."""

    language: Regular


@dataclass(frozen=True, slots=True)
class Items:
    """`prefixItems` and `items`: item i is `prefix[i]`, beyond them `rest`."""

    prefix: tuple[Schema, ...]
    rest: Schema


@dataclass(frozen=True, slots=True)
class ItemCount:
    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class Properties:
    """`properties` and `additionalProperties`."""

    named: Mapping[str, Schema]
    additional: Schema


@dataclass(frozen=True, slots=True)
class Required:
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AllOf:
    parts: tuple[Schema, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    options: tuple[Schema, ...]


Assertion = (
    TypeIs
    | OneOfValues
    | NumberIn
    | StringIn
    | Items
    | ItemCount
    | Properties
    | Required
    | AllOf
    | AnyOf
)


@dataclass(eq=False, slots=True)
class Schema:
    """A conjunction of assertions, compared by identity; complete once parsing is over."""

    pointer: str
    assertions: tuple[Assertion, ...] = ()
    never: bool = False
    """The schema `false`."""

    def __repr__(self) -> str:
        return f"Schema({self.pointer or '/'})"


@dataclass(frozen=True, slots=True)
class ReportEntry:
    pointer: str
    keyword: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """What compiling did with each keyword: nothing is dropped in silence."""

    enforced: tuple[ReportEntry, ...]
    annotations: tuple[ReportEntry, ...]

    def __str__(self) -> str:
        rows = [f"enforced    {e.pointer}/{e.keyword} {e.note}".rstrip() for e in self.enforced]
        rows += [f"annotation  {e.pointer}/{e.keyword} {e.note}".rstrip() for e in self.annotations]
        return "\n".join(rows)


@dataclass(slots=True)
class ParsedSchema:
    root: Schema
    report: Report


def parse_schema(source: Json, limits: Limits = DEFAULT_LIMITS) -> ParsedSchema:
    """Parse a schema document (a dict or bool, or JSON text).

    Raises `SchemaError` and its subclasses with the JSON Pointer of what is wrong, `LimitError`.
    """
    document = _loaded(source)
    _check_size(document, limits)
    parser = _Parser(document, limits)
    root = parser.schema(document, "")
    report = Report(tuple(parser.enforced), tuple(parser.annotations))
    return ParsedSchema(root, report)


def _loaded(source: Json) -> Json:
    if not isinstance(source, str):
        return source
    try:
        return json.loads(source)
    except ValueError as error:
        raise SchemaError(f"the schema is not JSON: {error}", pointer="") from None
    except RecursionError:
        raise LimitError("the schema is nested too deep", limit="schema_depth") from None


def _check_size(document: Json, limits: Limits) -> None:
    """Walk the document without recursion, so that no depth of it can hurt."""
    nodes = 0
    level: list[Any] = [document]
    depth = 0
    while level:
        nodes += len(level)
        if nodes > limits.schema_nodes:
            raise LimitError(
                f"the schema has more than {limits.schema_nodes:,} values", limit="schema_nodes"
            )
        if depth > 2 * limits.schema_depth:
            raise LimitError(
                f"the schema is nested deeper than {2 * limits.schema_depth}", limit="schema_depth"
            )
        below: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                below.extend(value.values())  # pyright: ignore[reportUnknownArgumentType]
            elif isinstance(value, list):
                below.extend(value)  # pyright: ignore[reportUnknownArgumentType]
        level = below
        depth += 1


@dataclass(slots=True)
class _Parser:
    document: Json
    limits: Limits
    enforced: list[ReportEntry] = field(default_factory=list[ReportEntry])
    annotations: list[ReportEntry] = field(default_factory=list[ReportEntry])
    known: dict[str, Schema] = field(default_factory=dict[str, Schema])

    def schema(self, value: Json, pointer: str) -> Schema:
        """The schema at `pointer`; each place is parsed once."""
        known = self.known.get(pointer)
        if known is not None:
            return known
        schema = self.known[pointer] = Schema(pointer)
        if isinstance(value, bool):
            schema.never = not value
        elif isinstance(value, dict):
            schema.assertions = tuple(self.assertions(value, pointer))
        else:
            raise SchemaError(
                f"a schema is an object or a boolean, not {_kind(value)}", pointer=pointer
            )
        return schema

    def lookup(self, target: str, source: str) -> Json:
        value: Json = self.document
        for step in target.split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            if isinstance(value, dict) and name in value:
                value = value[name]
            elif isinstance(value, list) and name.isdigit() and int(name) < len(value):
                value = value[int(name)]
            else:
                raise SchemaError(f"the reference '#{target}' points nowhere", pointer=source)
        return value

    def assertions(self, value: Mapping[str, Json], pointer: str) -> list[Assertion]:
        found: list[Assertion] = []
        for keyword, setting in value.items():
            place = f"{pointer}/{escape(keyword)}"
            if keyword in ANNOTATIONS:
                self.annotations.append(ReportEntry(pointer, keyword))
                continue
            if keyword not in _ASSERTIONS and keyword not in UNSUPPORTED:
                note = "not a keyword of the specification, which has such ignored"
                self.annotations.append(ReportEntry(pointer, keyword, note))
                continue
            assertion = self.assertion(keyword, setting, value, pointer, place)
            if assertion is not None:
                found.append(assertion)
            self.enforced.append(ReportEntry(pointer, keyword))
        return found

    def assertion(
        self,
        keyword: str,
        setting: Json,
        siblings: Mapping[str, Json],
        pointer: str,
        place: str,
    ) -> Assertion | None:
        """What one keyword asserts; None where a sibling keyword speaks for it too."""
        match keyword:
            case "type":
                return TypeIs(self.types(setting, place))
            case "enum":
                if not isinstance(setting, list):
                    _wrong(setting, "an array", place)
                return OneOfValues(tuple(setting))
            case "const":
                return OneOfValues((setting,))
            case "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum":
                return NumberIn(self.interval(keyword, setting, siblings, place))
            case "minLength" | "maxLength":
                count = _count(setting, place)
                least, most = (count, None) if keyword == "minLength" else (0, count)
                return StringIn(length(least, most))
            case "pattern":
                return StringIn(self.pattern(setting, place))
            case "prefixItems" | "items":
                return self.items(keyword, siblings, pointer, place)
            case "minItems":
                return ItemCount(_count(setting, place), None)
            case "maxItems":
                return ItemCount(0, _count(setting, place))
            case "properties" | "additionalProperties":
                return self.properties(keyword, siblings, pointer, place)
            case "required":
                if not isinstance(setting, list) or not all(isinstance(n, str) for n in setting):
                    _wrong(setting, "an array of strings", place)
                return Required(tuple(dict.fromkeys(setting)))
            case "allOf" | "anyOf":
                parts = self.schemas(setting, place)
                return AllOf(parts) if keyword == "allOf" else AnyOf(parts)
            case "$ref":
                return AllOf((self.reference(setting, place),))
            case _:
                raise UnsupportedSchemaError(
                    f"the keyword {keyword!r} is not supported", pointer=place
                )

    def types(self, setting: Json, place: str) -> frozenset[str]:
        names = [setting] if isinstance(setting, str) else setting
        if not isinstance(names, list) or not names:
            _wrong(setting, "the name of a type or an array of them", place)
        for name in names:
            if name not in TYPES:
                raise SchemaError(
                    f"unknown type {name!r}; known are {', '.join(sorted(TYPES))}", pointer=place
                )
        return frozenset(names)

    def interval(
        self, keyword: str, setting: Json, siblings: Mapping[str, Json], place: str
    ) -> Interval:
        if isinstance(setting, bool) and keyword.startswith("exclusive"):
            bound = "minimum" if keyword == "exclusiveMinimum" else "maximum"
            if setting and bound not in siblings:
                raise SchemaError(f"{keyword} (draft 4) needs {bound} beside it", pointer=place)
            setting = siblings[bound] if setting else None
            if setting is None:
                return Interval()
        if isinstance(setting, bool) or not isinstance(setting, int | float):
            _wrong(setting, "a number", place)
        limit = decimal(setting)
        match keyword:
            case "minimum":
                return Interval(low=limit)
            case "maximum":
                return Interval(high=limit)
            case "exclusiveMinimum":
                return Interval(low=limit, low_open=True)
            case _:
                return Interval(high=limit, high_open=True)

    def pattern(self, setting: Json, place: str) -> Regular:
        if not isinstance(setting, str):
            _wrong(setting, "a string", place)
        try:
            return search(setting, self.limits)
        except RegexError as error:
            raise SchemaError(f"in the pattern: {error.message}", pointer=place) from None

    def items(
        self, keyword: str, siblings: Mapping[str, Json], pointer: str, place: str
    ) -> Assertion | None:
        if keyword == "items" and "prefixItems" in siblings:
            return None
        prefix = siblings.get("prefixItems")
        if keyword == "items" and isinstance(siblings["items"], list):
            raise UnsupportedSchemaError(
                "an array in 'items' is not supported; write 'prefixItems'", pointer=place
            )
        parts = self.schemas(prefix, place) if keyword == "prefixItems" else ()
        rest = self.child(siblings, "items", pointer)
        return Items(parts, rest)

    def properties(
        self, keyword: str, siblings: Mapping[str, Json], pointer: str, place: str
    ) -> Assertion | None:
        if keyword == "additionalProperties" and "properties" in siblings:
            return None
        named = siblings.get("properties", {})
        if not isinstance(named, dict):
            _wrong(named, "an object of schemas", place)
        schemas = {
            name: self.schema(value, f"{pointer}/properties/{escape(name)}")
            for name, value in named.items()
        }
        return Properties(schemas, self.child(siblings, "additionalProperties", pointer))

    def child(self, siblings: Mapping[str, Json], keyword: str, pointer: str) -> Schema:
        """The subschema in `keyword`; absent means anything."""
        return self.schema(siblings.get(keyword, True), f"{pointer}/{keyword}")

    def schemas(self, setting: Json, place: str) -> tuple[Schema, ...]:
        if not isinstance(setting, list) or not setting:
            _wrong(setting, "a non-empty array of schemas", place)
        return tuple(self.schema(each, f"{place}/{at}") for at, each in enumerate(setting))

    def reference(self, setting: Json, place: str) -> Schema:
        if not isinstance(setting, str):
            _wrong(setting, "a string", place)
        if setting != "#" and not setting.startswith("#/"):
            raise UnsupportedSchemaError(
                f"the reference {setting!r} is not local; write '#/…'", pointer=place
            )
        target = _canonical(unquote(setting[1:]))
        return self.schema(self.lookup(target, place), target)


def escape(name: str) -> str:
    """A property name as a step of a JSON Pointer."""
    return name.replace("~", "~0").replace("/", "~1")


def _canonical(target: str) -> str:
    return "/".join(
        escape(step.replace("~1", "/").replace("~0", "~")) for step in target.split("/")
    )


def _count(setting: Json, place: str) -> int:
    if isinstance(setting, float) and setting.is_integer():
        setting = int(setting)
    if isinstance(setting, bool) or not isinstance(setting, int) or setting < 0:
        _wrong(setting, "a whole number of at least 0", place)
    return setting


def _kind(value: Json) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float() | Decimal():
            return "a number"
        case str():
            return "a string"
        case list():
            return "an array"
        case _:
            return "an object"


def _wrong(value: Sequence[Any] | Json, expected: str, place: str) -> NoReturn:
    raise SchemaError(f"expected {expected}, found {_kind(value)}", pointer=place)  # pyright: ignore[reportArgumentType]
