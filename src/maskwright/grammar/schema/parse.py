"""From a JSON Schema document to the closed tree of `grammar.schema`.

Each keyword of the schema's draft becomes an assertion, is reported as an annotation, or is
refused with its JSON Pointer and the reason: there is no fourth case.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from difflib import get_close_matches
from functools import lru_cache
from typing import Final

from maskwright.errors import LimitError, RegexError, SchemaError, UnsupportedSchemaError
from maskwright.grammar.formats import format_language
from maskwright.grammar.number.interval import Interval
from maskwright.grammar.number.multiples import multiples
from maskwright.grammar.number.spellings import decimal
from maskwright.grammar.pattern.translate import search
from maskwright.grammar.regular.terms import Regular, length
from maskwright.grammar.schema.document import (
    as_array,
    as_count,
    as_names,
    as_number,
    check,
    check_names,
    escape,
    loaded,
    no_schema,
    wrong,
)
from maskwright.grammar.schema.drafts import ANNOTATIONS, DEFAULT_DRAFT, KEYWORDS, Draft
from maskwright.grammar.schema.keys import SchemaKeys
from maskwright.grammar.schema.references import References, Resolver
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
    Json,
    MultipleOf,
    Not,
    NumberIn,
    OneOf,
    Properties,
    PropertyCount,
    PropertyNames,
    Report,
    ReportEntry,
    Required,
    Schema,
    SomeMember,
    StringIn,
    TypeIs,
    Unevaluated,
    UniqueItems,
    Values,
)
from maskwright.grammar.schema.vocabularies import Dialect, dialect_of
from maskwright.limits import DEFAULT_LIMITS, Limits

_TYPE_IS: Final = {name: TypeIs(frozenset([name])) for name in sorted(TYPES)}


@dataclass(frozen=True, slots=True)
class ParseOptions:
    """`draft`: for a document without `$schema`. `documents`: URI → document, for references.

    `plain_integers`: what `type` calls an integer is written in digits alone, as draft 4 has it
    anyway; else `1.0` and `1e2` are integers too.
    `enforce_formats`: else `format` is an annotation, as the specification has it by default.
    """

    draft: Draft = DEFAULT_DRAFT
    documents: Mapping[str, Json] = field(default_factory=dict[str, Json])
    enforce_formats: bool = True
    plain_integers: bool = False
    limits: Limits = DEFAULT_LIMITS


@dataclass(frozen=True, slots=True)
class ParsedSchema:
    root: Schema
    report: Report
    widest: int
    """Options of the longest `oneOf`."""


def parse_schema(source: Json, options: ParseOptions) -> ParsedSchema:
    """Parse a schema document (a dict or bool, or JSON text).

    Raises `SchemaError` and its subclasses with the JSON Pointer of what is wrong, `LimitError`.
    """
    document = loaded(source)
    check(document, options.limits)
    dialect = Dialect.of(options.draft)
    if isinstance(document, dict):
        check_names(document, "")
        dialect = dialect_of(document, options.documents, dialect, "")
    parser = _Parser(options, References(document, dialect.draft, options.documents))
    if parser.references.plain:
        parser.keys = SchemaKeys.of(document)
    root = parser.schema(document, "", dialect, parser.references.root(), entered=True)
    while parser.waiting:
        schema, reader = parser.waiting.popleft()
        schema.assertions = tuple(reader.assertions())
    report = Report(tuple(parser.enforced), tuple(parser.annotations))
    return ParsedSchema(root, report, parser.widest)


@dataclass(slots=True)
class _Parser:
    options: ParseOptions
    references: References
    enforced: list[ReportEntry] = field(default_factory=list[ReportEntry])
    annotations: list[ReportEntry] = field(default_factory=list[ReportEntry])
    keys: SchemaKeys | None = None
    """None where what a schema means doesn't show in how it is written."""
    known: dict[object, Schema] = field(default_factory=dict[object, Schema])
    widest: int = 0
    waiting: deque[tuple[Schema, _Reader]] = field(
        default_factory=lambda: deque[tuple[Schema, _Reader]]()
    )

    def schema(
        self,
        value: Json,
        pointer: str,
        dialect: Dialect,
        resolver: Resolver,
        *,
        entered: bool = False,
    ) -> Schema:
        """The schema of a subdocument; each is parsed once (for each dynamic scope).

        `entered`: the resolver knows already that it is inside.
        """
        if isinstance(value, bool):
            return Schema(pointer, never=not value)
        if not isinstance(value, dict):
            no_schema(value, pointer)
        key = (id(value), resolver and self.references.scope(resolver))
        known = self.known.get(key)
        if known is not None:
            return known
        schema = self.known[key] = Schema(pointer)
        check_names(value, pointer)
        if "$schema" in value:
            dialect = dialect_of(value, self.options.documents, dialect, pointer)
        if self.keys is not None:
            schema.key = self.keys.key(value, dialect)
        if not entered:
            resolver = self.references.enter(resolver, value, dialect.draft)
        self.waiting.append((schema, _Reader(self, value, pointer, dialect, resolver)))
        return schema


NEAR: Final = 0.85
"""Likeness (`difflib`'s ratio) from which on a name is taken for a misspelt keyword."""


@lru_cache(maxsize=4096)
def misspelt(name: str, draft: Draft) -> str:
    """The keyword that a name is nearly, empty if there is none or some draft has the name."""
    if any(name in keywords for keywords in KEYWORDS.values()):
        return ""
    near = get_close_matches(name, KEYWORDS[draft], n=1, cutoff=NEAR)
    return near[0] if near else ""


@dataclass(slots=True)
class _Reader:
    """One schema object."""

    parser: _Parser
    value: Mapping[str, Json]
    pointer: str
    dialect: Dialect
    resolver: Resolver

    @property
    def draft(self) -> Draft:
        return self.dialect.draft

    def assertions(self) -> list[Assertion]:
        keywords = self.dialect.keywords
        pointer, enforced = self.pointer, self.parser.enforced
        found: list[Assertion] = []
        hidden = self.draft.is_old and "$ref" in self.value
        for keyword, setting in self.value.items():
            note, near = "", ""
            if keyword in keywords and not (hidden and keyword != "$ref"):
                assertion = self.assertion(keyword, setting, f"{pointer}/{keyword}")
                if isinstance(assertion, str):
                    note = assertion
                else:
                    found += assertion
                    enforced.append(ReportEntry(pointer, keyword))
                    continue
            elif keyword in keywords:
                note = "hidden by $ref, as this draft has it"
            elif keyword not in ANNOTATIONS:
                note, near = self.unknown(keyword)
            self.parser.annotations.append(ReportEntry(pointer, keyword, note, suspect=near != ""))
        return found

    def unknown(self, keyword: str) -> tuple[str, str]:
        """What is said of a name that is no keyword here, and the keyword it is nearly, if any."""
        if keyword in KEYWORDS[self.draft]:
            return "not among the vocabularies of the meta-schema", ""
        note = f"not a keyword of {self.draft.title}, which has it ignored"
        near = misspelt(keyword, self.draft)
        return (f"{note}; did you mean {near!r}?" if near else note), near

    def assertion(self, keyword: str, setting: Json, place: str) -> list[Assertion] | str:
        """What one keyword asserts; a note if it turns out to be an annotation."""
        match keyword:
            case "type":
                if isinstance(setting, str) and setting in _TYPE_IS and setting != "integer":
                    return [_TYPE_IS[setting]]
                types = self.types(setting, place)
                plain = self.draft is Draft.DRAFT4 or self.parser.options.plain_integers
                if plain and "integer" in types and "number" not in types:
                    return [TypeIs(types), DigitsOnly()]
                return [TypeIs(types)]
            case "enum":
                return [Values(tuple(as_array(setting, place)))]
            case "const":
                return [Values((setting,))]
            case "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum":
                return [NumberIn(self.interval(keyword, setting, place))]
            case "multipleOf":
                return [MultipleOf(self.divisor(setting, place))]
            case "minLength":
                return [StringIn(length(as_count(setting, place), None))]
            case "maxLength":
                return [StringIn(length(0, as_count(setting, place)))]
            case "pattern":
                return [StringIn(self.pattern(setting, place))]
            case "format":
                return self.format(setting, place)
            case "minItems":
                return [ItemCount(as_count(setting, place), None)]
            case "maxItems":
                return [ItemCount(0, as_count(setting, place))]
            case "uniqueItems":
                return [UniqueItems()] if setting is True else []
            case "prefixItems" | "items" | "additionalItems":
                return self.items(keyword, place)
            case "contains":
                return self.contains(setting, place)
            case "minContains" | "maxContains":
                as_count(setting, place)
                return []  # `contains` reads them
            case "properties" | "patternProperties" | "additionalProperties":
                return self.properties(keyword, place)
            case "propertyNames":
                return [PropertyNames(self.child(setting, place))]
            case "required":
                return [Required(as_names(setting, place))]
            case "minProperties":
                return [PropertyCount(as_count(setting, place), None)]
            case "maxProperties":
                return [PropertyCount(0, as_count(setting, place))]
            case "dependentRequired" | "dependentSchemas" | "dependencies":
                return self.dependencies(setting, place)
            case "allOf":
                return [AllOf(self.children(setting, place))]
            case "anyOf":
                return [AnyOf(self.children(setting, place))]
            case "oneOf":
                options = self.children(setting, place)
                self.parser.widest = max(self.parser.widest, len(options))
                return [OneOf(options)]
            case "not":
                return [Not(self.child(setting, place))]
            case "if":
                return self.condition(setting, place)
            case "then" | "else":
                return [] if "if" in self.value else "without 'if' it says nothing"
            case "unevaluatedProperties":
                return [Unevaluated("properties", self.child(setting, place))]
            case "unevaluatedItems":
                return [Unevaluated("items", self.child(setting, place))]
            case "$ref" | "$dynamicRef" | "$recursiveRef":
                return [AllOf((self.reference(keyword, setting, place),))]
            case _:
                raise AssertionError(keyword)

    # Sub-schemas

    def child(self, setting: Json, place: str) -> Schema:
        return self.parser.schema(setting, place, self.dialect, self.resolver)

    def children(self, setting: Json, place: str) -> tuple[Schema, ...]:
        if not isinstance(setting, list) or not setting:
            wrong(setting, "a non-empty array of schemas", place)
        return tuple(self.child(each, f"{place}/{at}") for at, each in enumerate(setting))

    def optional(self, keyword: str) -> Schema:
        """The subschema in `keyword`; absent means anything."""
        return self.child(self.value.get(keyword, True), f"{self.pointer}/{keyword}")

    def mapping(self, setting: Json, place: str) -> dict[str, Json]:
        if not isinstance(setting, dict):
            wrong(setting, "an object of schemas", place)
        return setting

    def reference(self, keyword: str, setting: Json, place: str) -> Schema:
        if not isinstance(setting, str):
            wrong(setting, "a string", place)
        references = self.parser.references
        if keyword == "$recursiveRef" and self.resolver is not None:
            value, resolver = references.find_recursive(self.resolver)
            target = None
        else:
            value, resolver, target = references.find(setting, self.resolver, place)
        pointer = place if target is None else target
        return self.parser.schema(value, pointer, self.dialect, resolver, entered=True)

    # Keywords

    def types(self, setting: Json, place: str) -> frozenset[str]:
        names = [setting] if isinstance(setting, str) else setting
        if not isinstance(names, list) or not names:
            wrong(setting, "the name of a type or a non-empty array of them", place)
        for name in names:
            if not isinstance(name, str) or name not in TYPES:
                raise SchemaError(
                    f"unknown type {name!r}; known are {', '.join(sorted(TYPES))}", pointer=place
                )
        return frozenset(names)

    def interval(self, keyword: str, setting: Json, place: str) -> Interval:
        exclusive = keyword.startswith("exclusive")
        lower = keyword in ("minimum", "exclusiveMinimum")
        if exclusive and isinstance(setting, bool):  # draft 4
            bound = self.value.get("minimum" if lower else "maximum")
            if not setting or bound is None:
                return Interval()
            setting = bound
        limit = decimal(as_number(setting, place))
        if lower:
            return Interval(low=limit, low_open=exclusive)
        return Interval(high=limit, high_open=exclusive)

    def divisor(self, setting: Json, place: str) -> Decimal:
        divisor = decimal(as_number(setting, place))
        if divisor <= 0:
            raise SchemaError("a divisor is greater than 0", pointer=place)
        try:
            multiples(divisor, self.parser.options.limits.divisor)
        except LimitError as error:
            raise LimitError(error.reason, limit=error.limit, pointer=place) from None
        return divisor

    def pattern(self, setting: Json, place: str) -> Regular:
        if not isinstance(setting, str):
            wrong(setting, "a string", place)
        try:
            return search(setting, self.parser.options.limits)
        except RegexError as error:
            kind = UnsupportedSchemaError if error.unsupported else SchemaError
            raise kind(f"in the pattern: {error.message}", pointer=place) from None
        except LimitError as error:
            raise LimitError(error.reason, limit=error.limit, pointer=place) from None

    def format(self, setting: Json, place: str) -> list[Assertion] | str:
        if not isinstance(setting, str):
            wrong(setting, "a string", place)
        if not self.parser.options.enforce_formats:
            return "an annotation, as asked for"
        found = format_language(setting, self.draft.title)
        if found is None:
            return f"the format {setting!r} is unknown"
        if found.note:
            self.parser.annotations.append(ReportEntry(self.pointer, "format", found.note))
        return [StringIn(found.language)]

    def items(self, keyword: str, place: str) -> list[Assertion] | str:
        items = self.value.get("items")
        if keyword == "additionalItems" and not isinstance(items, list):
            return "without an array in 'items' it says nothing"
        if isinstance(items, list) and "prefixItems" not in self.value:
            if keyword == "additionalItems":
                return []  # `items` reads it
            prefix = tuple(self.child(v, f"{place}/{at}") for at, v in enumerate(items))
            rest = self.optional("additionalItems")
            return [Items(prefix, rest, "additionalItems" in self.value)]
        if keyword == "items" and "prefixItems" in self.value and self.draft is Draft.DRAFT2020:
            return []  # `prefixItems` reads it
        prefix = ()
        if keyword == "prefixItems":
            setting = as_array(self.value["prefixItems"], place)
            prefix = tuple(self.child(v, f"{place}/{at}") for at, v in enumerate(setting))
        return [Items(prefix, self.optional("items"), "items" in self.value)]

    def contains(self, setting: Json, place: str) -> list[Assertion]:
        least, most = 1, None
        if "minContains" in self.dialect.keywords:
            if "minContains" in self.value:
                least = as_count(self.value["minContains"], f"{self.pointer}/minContains")
            if "maxContains" in self.value:
                most = as_count(self.value["maxContains"], f"{self.pointer}/maxContains")
        return [Contains(self.child(setting, place), least, most)]

    def properties(self, keyword: str, place: str) -> list[Assertion]:
        """One assertion for the three keywords, made at the first of them."""
        three = ("properties", "patternProperties", "additionalProperties")
        if keyword != next(k for k in three if k in self.value):
            return []
        named: dict[str, Schema] = {}
        patterns: list[tuple[Regular, Schema]] = []
        below = f"{self.pointer}/properties/"
        for name, value in self.mapping(self.value.get("properties", {}), place).items():
            named[name] = self.child(value, below + escape(name))
        for text, value in self.mapping(self.value.get("patternProperties", {}), place).items():
            below = f"{self.pointer}/patternProperties/{escape(text)}"
            patterns.append((self.pattern(text, below), self.child(value, below)))
        additional = self.optional("additionalProperties")
        covers_all = "additionalProperties" in self.value
        return [Properties(named, tuple(patterns), additional, covers_all)]

    def dependencies(self, setting: Json, place: str) -> list[Assertion]:
        found: list[Assertion] = []
        for name, needed in self.mapping(setting, place).items():
            below = f"{place}/{escape(name)}"
            if isinstance(needed, list | str):  # draft 3 wrote a single name as a string
                names = (needed,) if isinstance(needed, str) else as_names(needed, below)
                free = Schema(below)
                found += (SomeMember({other: free}, (), (name,)) for other in names)
            else:
                present = Schema(below, (TypeIs(frozenset(["object"])), Required((name,))))
                found.append(If(present, self.child(needed, below), Schema(below)))
        return found

    def condition(self, setting: Json, place: str) -> list[Assertion]:
        then, otherwise = self.optional("then"), self.optional("else")
        return [If(self.child(setting, place), then, otherwise)]
