"""One schema object while it is parsed, and what all objects of a document share meanwhile.

A keyword's reader gets the `SchemaObject` that the keyword stands in. It asks it for neighbouring
keywords and for subschemas. Subschemas are handed out before they have been parsed and filled in
later from a queue, so that neither recursion in a document nor its depth is a problem.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from maskwright.errors import Construct, LimitError, RegexError, SchemaError, UnsupportedSchemaError
from maskwright.grammar.pattern.translate import search
from maskwright.grammar.regular.terms import Regular
from maskwright.grammar.schema.document import check_names, no_schema, wrong
from maskwright.grammar.schema.drafts import DEFAULT_DRAFT, Draft
from maskwright.grammar.schema.keys import SchemaKeys
from maskwright.grammar.schema.references import References
from maskwright.grammar.schema.remarks import Remark, pattern_remarks
from maskwright.grammar.schema.tree import Assertion, Json, ReportEntry, Schema
from maskwright.grammar.schema.vocabularies import SchemaDialect, dialect_of
from maskwright.limits import DEFAULT_LIMITS, Limits

if TYPE_CHECKING:
    from maskwright.grammar.schema.registry import Resolver


@dataclass(frozen=True, slots=True)
class ParseOptions:
    """How a document is read.

    `draft`: the draft of a document without `$schema`. `documents`: documents that references may
    name, by URI. `enforce_formats`: if false, `format` is an annotation, which is what the
    specification has by default. `plain_integers`: if true, what `type` calls an integer is written
    in digits alone, and numbers of `enum` and `const` in the spellings of `numbers.written`; else
    in any spelling, except that in draft 4 `1.0` and `1e2` are no integers.
    `closed`: if true, an object schema that has `properties` and says nothing of others allows no
    others (see `grammar.shape.closed`); the specification has it allow them.
    """

    draft: Draft = DEFAULT_DRAFT
    documents: Mapping[str, Json] = field(default_factory=dict[str, Json], hash=False)
    enforce_formats: bool = True
    plain_integers: bool = False
    closed: bool = False
    limits: Limits = DEFAULT_LIMITS


Visit = tuple[int, object, bool]
"""What decides the meaning of a schema object: the identity of the JSON object, its dynamic
scope, and `closed` of `ParseOptions`."""


@dataclass(slots=True)
class DocumentParser:
    """What the schema objects of one document share while they are parsed."""

    options: ParseOptions
    references: References
    enforced: list[ReportEntry] = field(default_factory=list[ReportEntry])
    annotations: list[ReportEntry] = field(default_factory=list[ReportEntry])
    keys: SchemaKeys | None = None
    """None where the text of a schema doesn't decide what it means; see `SchemaKeys`."""
    schemas: dict[Visit, Schema] = field(default_factory=lambda: dict[Visit, Schema]())
    """A schema is entered here before it is parsed."""
    choices: float = 1.0
    """The product of the numbers of options of all unions in the document."""
    widest: int = 0
    """The number of options of the longest `oneOf`."""
    options_read: int = 0
    """The number of options of all unions in the document."""
    negates: bool = False
    """Whether there is a `not`."""
    intricate: bool = False
    """Whether there is a keyword of which one alone may exceed a limit."""
    waiting: list[tuple[Schema, SchemaObject]] = field(
        default_factory=lambda: list[tuple[Schema, SchemaObject]]()
    )
    """Schemas that have been handed out and not been parsed yet."""

    def schema(
        self,
        value: Json,
        pointer: str,
        dialect: SchemaDialect,
        resolver: Resolver | None,
        *,
        entered: bool = False,
        closed: bool = False,
    ) -> Schema:
        """The schema of a subdocument; each is parsed once for each dynamic scope.

        `entered`: whether the resolver has entered the subdocument already. `closed`: see
        `ParseOptions`.
        """
        if isinstance(value, bool):
            return Schema(pointer, never=not value)
        if not isinstance(value, dict):
            no_schema(value, pointer)
        key = (id(value), resolver and resolver.scope(), closed)
        known = self.schemas.get(key)
        if known is not None:
            return known
        schema = self.schemas[key] = Schema(pointer)
        check_names(value, pointer)
        if "$schema" in value:
            dialect = dialect_of(value, self.options.documents, dialect, pointer)
        if self.keys is not None:
            schema.key = self.keys.key(value, dialect, closed=closed)
        if resolver is not None and not entered:
            resolver = resolver.enter(value, dialect.draft)
        read = SchemaObject(self, value, pointer, dialect, resolver, closed)
        self.waiting.append((schema, read))
        return schema


@dataclass(slots=True)
class SchemaObject:
    """One schema object: its keywords, its place in the document, and its draft."""

    parser: DocumentParser
    value: Mapping[str, Json]
    pointer: str
    dialect: SchemaDialect
    resolver: Resolver | None
    closed: bool = False
    """See `ParseOptions`; false within conditions, which say nothing of the members of a value."""

    @property
    def draft(self) -> Draft:
        return self.dialect.draft

    def has(self, keyword: str) -> bool:
        """Whether the object has a keyword that asserts something in its draft."""
        return keyword in self.value and keyword in self.dialect.keywords

    def place(self, keyword: str) -> str:
        """The JSON Pointer of one of the object's keywords."""
        return f"{self.pointer}/{keyword}"

    def child(self, setting: Json, place: str) -> Schema:
        """The subschema `setting`, which stands at `place`."""
        return self.parser.schema(setting, place, self.dialect, self.resolver, closed=self.closed)

    def condition(self, setting: Json, place: str) -> Schema:
        """The subschema `setting`, which a value may also fail to satisfy."""
        return self.parser.schema(setting, place, self.dialect, self.resolver)

    def children(self, setting: Json, place: str) -> tuple[Schema, ...]:
        """The subschemas of a non-empty array."""
        if not isinstance(setting, list) or not setting:
            wrong(setting, "a non-empty array of schemas", place)
        return tuple(self.child(each, f"{place}/{at}") for at, each in enumerate(setting))

    def optional(self, keyword: str) -> Schema:
        """The subschema in `keyword`; without that keyword, the schema of all values."""
        return self.child(self.value.get(keyword, True), self.place(keyword))

    def pattern(self, setting: Json, place: str) -> Regular:
        """The strings that contain a match of a pattern, which stands at `place`."""
        if not isinstance(setting, str):
            wrong(setting, "a string", place)
        self.parser.annotations += pattern_remarks(setting, place)
        try:
            return search(setting, self.parser.options.limits)
        except RegexError as error:
            kind = UnsupportedSchemaError if error.unsupported else SchemaError
            raise kind(f"in the pattern: {error.message}", pointer=place) from None
        except LimitError as error:
            error.place(Construct.schema(place))
            raise


KeywordReader = Callable[[SchemaObject, Json, str], list[Assertion] | Remark]
"""Reads one keyword: from its schema object, its setting and its JSON Pointer to its assertions, or
to a remark if it turns out to be an annotation. Raises `SchemaError` with the pointer."""
