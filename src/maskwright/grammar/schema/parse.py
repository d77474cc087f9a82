"""Parsing of a JSON Schema document into the closed tree of `grammar.schema.tree`.

Each keyword of the schema's draft becomes an assertion, is reported as an annotation, or is
refused with its JSON Pointer and the reason: there is no fourth case. What one keyword means is in
the tables of `scalar_keywords`, `container_keywords` and `combining_keywords`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from maskwright.errors import Construct, LimitError
from maskwright.grammar.schema.branches import most_branches
from maskwright.grammar.schema.combining_keywords import COMBINING_KEYWORDS
from maskwright.grammar.schema.container_keywords import CONTAINER_KEYWORDS
from maskwright.grammar.schema.document import check, check_names, loaded, plain
from maskwright.grammar.schema.drafts import ANNOTATIONS
from maskwright.grammar.schema.keys import SchemaKeys
from maskwright.grammar.schema.references import References
from maskwright.grammar.schema.remarks import Remark, on_name, on_schema
from maskwright.grammar.schema.scalar_keywords import SCALAR_KEYWORDS
from maskwright.grammar.schema.schema_object import (
    DocumentParser,
    KeywordReader,
    ParseOptions,
    SchemaObject,
    Visit,
)
from maskwright.grammar.schema.tree import Assertion, Json, Report, ReportEntry, Schema, SchemaMaker
from maskwright.grammar.schema.vocabularies import SchemaDialect, dialect_of
from maskwright.limits import CHEAP, Limits, spend

__all__ = ["ParseOptions", "ParsedSchema", "Visit", "parse_schema"]

READERS: Final[dict[str, KeywordReader]] = {
    **SCALAR_KEYWORDS,
    **CONTAINER_KEYWORDS,
    **COMBINING_KEYWORDS,
}
"""The reader of each keyword that asserts something in some draft."""

_NO_REMARK: Final = Remark("")
MANY_NEGATED: Final = 8
"""Options of unions from which on a `not` may multiply them."""


@dataclass(frozen=True)
class ParsedSchema:
    """A document's tree, and the report of what was done with each keyword."""

    root: Schema
    report: Report
    widest: int
    """The number of options of the longest `oneOf`."""
    schemas: Mapping[Visit, Schema]
    """Every schema that the root leads to, by where it was read."""
    _many_choices: bool
    """Whether there are enough unions for their number to matter once they are multiplied out."""
    _intricate: bool
    """Whether a keyword is there of which few may exceed a limit."""
    _limits: Limits

    @cached_property
    def branches(self) -> float:
        """An upper bound on the branches of a value once its unions are multiplied out; 1 where the
        document has too few unions for that to matter. Found when it is asked for."""
        return most_branches(self.schemas.values()) if self._many_choices else 1.0

    @property
    def intricate(self) -> bool:
        """Whether there are keywords of which few may exceed a limit."""
        return self._intricate or self.branches > self._limits.alternatives


def parse_schema(source: Json | SchemaMaker, options: ParseOptions) -> ParsedSchema:
    """Parse a schema document (a dict or bool, JSON text, or a model of pydantic).

    Raises `SchemaError` and its subclasses with the JSON Pointer of what is wrong, `LimitError`.
    """
    document = loaded(source)
    names, is_plain = check(document, options.limits)
    noted: list[ReportEntry] = []
    if not is_plain:
        document, noted = plain(document)
    dialect = SchemaDialect.of_draft(options.draft)
    if isinstance(document, dict):
        check_names(document, "")
        dialect = dialect_of(document, options.documents, dialect, "")
    parser = DocumentParser(options, References(document, dialect.draft, names, options.documents))
    parser.annotations += noted
    if parser.references.plain:
        parser.keys = SchemaKeys.of_document(document)
    begun = parser.references.root()
    root = parser.schema(document, "", dialect, begun, entered=True, closed=options.closed)
    while parser.waiting:
        level, parser.waiting = parser.waiting, []
        spend(CHEAP * len(level))
        for schema, schema_object in level:
            schema.assertions = tuple(_assertions(schema_object))
    report = Report(tuple(parser.enforced), tuple(parser.annotations))
    many_choices = parser.choices > options.limits.alternatives
    intricate = parser.intricate or (parser.negates and parser.options_read > MANY_NEGATED)
    return ParsedSchema(
        root, report, parser.widest, parser.schemas, many_choices, intricate, options.limits
    )


def _assertions(source: SchemaObject) -> list[Assertion]:
    """What the keywords of a schema object assert; each gets its line in the report."""
    keywords, pointer = source.dialect.keywords, source.pointer
    enforced, annotations = source.parser.enforced, source.parser.annotations
    assertions: list[Assertion] = []
    unknown: list[tuple[str, Json]] = []
    hidden = "$ref" in source.value and source.draft.is_old
    place = pointer
    before = len(enforced)
    try:
        for keyword, setting in source.value.items():
            known = keyword in keywords or (
                keyword == "additionalItems" and _goes_with_array(source)
            )
            remark = _NO_REMARK
            if known and not (hidden and keyword != "$ref"):
                place = f"{pointer}/{keyword}"
                asserted = READERS[keyword](source, setting, place)
                if isinstance(asserted, list):
                    assertions += asserted
                    enforced.append(ReportEntry(pointer, keyword))
                    continue
                remark = asserted
            elif known:
                remark = Remark(
                    "hidden by $ref, as this draft has it; put both into 'allOf'", "hidden-keyword"
                )
            elif keyword not in ANNOTATIONS:
                unknown.append((keyword, setting))
                continue
            annotations.append(ReportEntry(pointer, keyword, *remark))
    except LimitError as error:
        error.complete(construct=Construct.schema(place))
        raise
    demands_nothing = None
    if len(enforced) == before and keywords.isdisjoint(source.value):
        demands_nothing = on_schema(source.value, source.draft, is_root=not pointer)
    if demands_nothing is not None:
        annotations.append(ReportEntry(pointer, "", *demands_nothing))
    for keyword, setting in unknown:
        remark = on_name(keyword, setting, source.value, source.draft)
        if remark.rule == "misplaced-schema" and demands_nothing is not None:
            remark = Remark(remark.note)  # which has been said of the schema as a whole
        annotations.append(ReportEntry(pointer, keyword, *remark))
    return assertions


def _goes_with_array(source: SchemaObject) -> bool:
    """Whether an `additionalItems` stands together with an array in `items`.

    Draft 2020-12 has neither any more. Such an array is read as in older drafts (see
    `container_keywords`), and so that keyword is too."""
    return source.has("items") and isinstance(source.value["items"], list)
