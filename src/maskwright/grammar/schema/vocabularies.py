"""Which keywords hold in a schema: its draft's, or those in its meta-schema's vocabularies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from maskwright.errors import UnsupportedSchemaError
from maskwright.grammar.schema.drafts import KEYWORD_GROUPS, KEYWORDS, Draft, draft_of
from maskwright.grammar.schema.tree import Json


def _keywords_in(vocabulary: str) -> frozenset[str]:
    names = (group.names for group in KEYWORD_GROUPS if group.vocabulary == vocabulary)
    return frozenset[str]().union(*names)


_VOCABULARY_URI: Final = "https://json-schema.org/draft/{}/vocab/"
_KNOWN: Final[dict[str, frozenset[str]]] = {
    **{name: _keywords_in(name) for name in ("core", "applicator", "unevaluated", "validation")},
    "format": _keywords_in("format"),  # 2019-09, which 2020-12 has divided
    "format-annotation": _keywords_in("format"),
    "format-assertion": _keywords_in("format"),
    "meta-data": frozenset(),
    "content": frozenset(),
}
"""The keywords of each vocabulary, by the last part of its URI."""


class SchemaDialect(NamedTuple):
    """The draft of a schema, and which of the draft's keywords have a say in what is valid."""

    draft: Draft
    keywords: frozenset[str]

    @staticmethod
    def of_draft(draft: Draft) -> SchemaDialect:
        """The dialect with all keywords of a draft."""
        return _OF_DRAFTS[draft]


_OF_DRAFTS: Final = {draft: SchemaDialect(draft, KEYWORDS[draft]) for draft in Draft}


def dialect_of(
    schema: Mapping[str, Json],
    documents: Mapping[str, Json],
    otherwise: SchemaDialect,
    pointer: str,
) -> SchemaDialect:
    """The dialect that a schema's `$schema` names: a draft, or a registered meta-schema.

    Raises `UnsupportedSchemaError` where the meta-schema requires a vocabulary that is not known.
    """
    uri = schema.get("$schema")
    if not isinstance(uri, str):
        return otherwise
    draft = draft_of(uri, None)
    if draft is not None:
        return SchemaDialect.of_draft(draft)
    meta_schema = documents.get(uri, documents.get(uri.removesuffix("#")))
    if not isinstance(meta_schema, dict):
        return otherwise
    draft = draft_of(meta_schema.get("$schema"), otherwise.draft)
    vocabularies = meta_schema.get("$vocabulary")
    if draft.is_old or not isinstance(vocabularies, dict):  # the old drafts have no vocabularies
        return SchemaDialect.of_draft(draft)
    return SchemaDialect(draft, KEYWORDS[draft] & _keywords_of(vocabularies, draft, pointer))


def _keywords_of(vocabularies: Mapping[str, Json], draft: Draft, pointer: str) -> frozenset[str]:
    """The keywords of a meta-schema's `$vocabulary`: for each URI, whether it is required."""
    keywords = _KNOWN["core"]  # which holds even where it is not listed
    prefix = _VOCABULARY_URI.format(draft.title.removeprefix("draft"))
    for uri, required in vocabularies.items():
        known = _KNOWN.get(uri.removeprefix(prefix))
        if known is None and required:
            raise UnsupportedSchemaError(
                f"the meta-schema requires the vocabulary {uri!r}, which is not known",
                pointer=f"{pointer}/$schema",
            )
        keywords |= known or frozenset()
        if uri == f"{prefix}applicator" and draft is Draft.DRAFT2019:
            keywords |= _KNOWN["unevaluated"]  # a vocabulary of its own only from 2020-12 on
    return keywords
