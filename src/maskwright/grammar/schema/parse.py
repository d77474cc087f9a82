"""Parsing of a JSON Schema document into the closed tree of `grammar.schema.tree`.

Each keyword of the schema's draft becomes an assertion, is reported as an annotation, or is
refused with its JSON Pointer and the reason: there is no fourth case. What one keyword means is in
the tables of `common_keywords`, `scalar_keywords`, `container_keywords` and `combining_keywords`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, cast

from maskwright.grammar.schema.branches import most_branches
from maskwright.grammar.schema.combining_keywords import COMBINING_KEYWORDS
from maskwright.grammar.schema.common_keywords import COMMON_KEYWORDS
from maskwright.grammar.schema.container_keywords import CONTAINER_KEYWORDS
from maskwright.grammar.schema.document import check, check_names, loaded, plain
from maskwright.grammar.schema.document_text import DocumentText
from maskwright.grammar.schema.parse_options import ParseOptions
from maskwright.grammar.schema.references import References
from maskwright.grammar.schema.scalar_keywords import SCALAR_KEYWORDS
from maskwright.grammar.schema.schema_object import DocumentParser, KeywordReader, Visit
from maskwright.grammar.schema.tree import Json, OneOf, Report, ReportEntry, Schema, SchemaMaker
from maskwright.grammar.schema.vocabularies import SchemaDialect, dialect_of
from maskwright.limits import Limits

__all__ = ["ParseOptions", "ParsedSchema", "Visit", "parse_document", "parse_schema"]

READERS: Final[dict[str, KeywordReader]] = {
    **COMMON_KEYWORDS,
    **SCALAR_KEYWORDS,
    **CONTAINER_KEYWORDS,
    **COMBINING_KEYWORDS,
}
"""The reader of each keyword that asserts something in some draft."""

MANY_NEGATED: Final = 8
"""Options of unions from which on a `not` may multiply them."""


@dataclass(eq=False)
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
    def one_ofs(self) -> Iterator[OneOf]:
        """Every `oneOf` of the document."""
        for schema in self.schemas.values():
            yield from (each for each in schema.assertions if isinstance(each, OneOf))

    @property
    def intricate(self) -> bool:
        """Whether there are keywords of which few may exceed a limit."""
        return self._intricate or self.branches > self._limits.alternatives


def parse_schema(source: Json | SchemaMaker, options: ParseOptions) -> ParsedSchema:
    """Parse a schema document (a dict or bool, JSON text, or a model of pydantic).

    Raises `SchemaError` and its subclasses with the JSON Pointer of what is wrong, `LimitError`.
    """
    return parse_document(check(loaded(source), options.limits), options)


def parse_document(text: DocumentText, options: ParseOptions) -> ParsedSchema:
    """Parse a document that has been checked, with the errors of `parse_schema`."""
    noted: list[ReportEntry] = []
    if not text.is_plain:
        document, noted = plain(cast(Json, text.document))
        text = check(document, options.limits)
    document = cast(Json, text.document)
    dialect = SchemaDialect.of_draft(options.draft)
    if isinstance(document, dict):
        check_names(document, "")
        dialect = dialect_of(document, options.documents, dialect, "")
    references = References(text, dialect.draft, options.documents)
    parser = DocumentParser(options, references)
    parser.annotations.extend(noted)
    if references.plain and text.text is not None:
        parser.text = text
    root = parser.schema(
        document, "", dialect, references.root(), entered=True, closed=options.closed
    )
    parser.read(READERS)
    many_choices = parser.choices > options.limits.alternatives
    intricate = parser.intricate or (parser.negates and parser.options_read > MANY_NEGATED)
    return ParsedSchema(
        root,
        Report(parser.enforced, parser.annotations),
        parser.widest,
        parser.schemas,
        many_choices,
        intricate,
        options.limits,
    )
