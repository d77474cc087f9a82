"""The drafts of JSON Schema: which keywords each of them has, and in which vocabulary; and which
keywords hold in a schema: those of its draft, or those in the vocabularies of its meta-schema."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import TYPE_CHECKING, Final

from maskwright.errors import UnsupportedSchemaError
from maskwright.immutable import Acyclic

if TYPE_CHECKING:
    from maskwright.grammar.schema.tree import Json


class Draft(Enum):
    """A draft, by the URI of its meta-schema (without a trailing `#`), from old to new."""

    __hash__ = object.__hash__  # drafts are looked up often, and hashing a name costs a call

    DRAFT4 = "http://json-schema.org/draft-04/schema"
    DRAFT6 = "http://json-schema.org/draft-06/schema"
    DRAFT7 = "http://json-schema.org/draft-07/schema"
    DRAFT2019 = "https://json-schema.org/draft/2019-09/schema"
    DRAFT2020 = "https://json-schema.org/draft/2020-12/schema"

    @property
    def title(self) -> str:
        """`draft4` … `draft2020-12`."""
        return {"DRAFT2019": "draft2019-09", "DRAFT2020": "draft2020-12"}.get(
            self.name, self.name.lower()
        )

    @property
    def is_old(self) -> bool:
        """Whether a `$ref` hides its siblings, as up to draft 7."""
        return self in _OLD


_OLD: Final = frozenset((Draft.DRAFT4, Draft.DRAFT6, Draft.DRAFT7))
DEFAULT_DRAFT: Final = Draft.DRAFT2020


class KeywordGroup(Acyclic):
    """Keywords of one vocabulary that the drafts from `first` to `last` have.

    Vocabularies have names from draft 2019-09 on; this code uses 2020-12's.
    """

    vocabulary: str
    first: Draft
    last: Draft
    names: str


_OLDEST: Final = Draft.DRAFT4
_NEWEST: Final = Draft.DRAFT2020

KEYWORD_GROUPS: Final = (
    KeywordGroup("core", _OLDEST, _NEWEST, "$ref"),
    KeywordGroup("core", Draft.DRAFT2019, Draft.DRAFT2019, "$recursiveRef"),
    KeywordGroup("core", Draft.DRAFT2020, _NEWEST, "$dynamicRef"),
    KeywordGroup(
        "validation",
        _OLDEST,
        _NEWEST,
        "type enum multipleOf maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength"
        " pattern maxItems minItems uniqueItems maxProperties minProperties required",
    ),
    KeywordGroup("validation", Draft.DRAFT6, _NEWEST, "const"),
    KeywordGroup(
        "validation", Draft.DRAFT2019, _NEWEST, "dependentRequired minContains maxContains"
    ),
    KeywordGroup(
        "applicator",
        _OLDEST,
        _NEWEST,
        "items properties patternProperties additionalProperties allOf anyOf oneOf not",
    ),
    KeywordGroup("applicator", _OLDEST, Draft.DRAFT2019, "additionalItems"),
    # Later drafts define it no more, but allow validators to obey it still, and schemas contain it.
    KeywordGroup("applicator", _OLDEST, _NEWEST, "dependencies"),
    KeywordGroup("applicator", Draft.DRAFT6, _NEWEST, "contains propertyNames"),
    KeywordGroup("applicator", Draft.DRAFT7, _NEWEST, "if then else"),
    KeywordGroup("applicator", Draft.DRAFT2019, _NEWEST, "dependentSchemas"),
    KeywordGroup("applicator", Draft.DRAFT2020, _NEWEST, "prefixItems"),
    KeywordGroup("unevaluated", Draft.DRAFT2019, _NEWEST, "unevaluatedItems unevaluatedProperties"),
    KeywordGroup("format", _OLDEST, _NEWEST, "format"),
)
"""All keywords that assert something, by draft and vocabulary. New keywords are added here."""


def _keywords_of(draft: Draft) -> frozenset[str]:
    drafts = list(Draft)
    at = drafts.index(draft)
    return frozenset[str]().union(
        *(
            group.names.split()
            for group in KEYWORD_GROUPS
            if drafts.index(group.first) <= at <= drafts.index(group.last)
        )
    )


KEYWORDS: Final[dict[Draft, frozenset[str]]] = {draft: _keywords_of(draft) for draft in Draft}
"""The keywords of each draft that assert something."""

NAMING: Final = ("$schema", "$id", "$anchor", "$dynamicAnchor")
"""Keywords that assert nothing, but name a schema or its draft by a string."""
HOLDING: Final = ("$defs", "definitions")
"""Keywords that assert nothing, but hold schemas that references may name."""
BY_NAME: Final = frozenset(
    ("properties", "patternProperties", "dependentSchemas", "dependentRequired", "dependencies")
) | {*HOLDING}
"""Keywords whose settings are objects of settings by name."""
READ_BY_NAME: Final = frozenset[str]().union(*KEYWORDS.values()) - {"const"} | {*NAMING, *HOLDING}
"""The keywords that are read in some draft, without `const`, which may be null."""

ANNOTATIONS: Final = frozenset(
    "$schema $id id $comment $anchor $dynamicAnchor $recursiveAnchor $vocabulary title description"
    " default examples deprecated readOnly writeOnly contentEncoding contentMediaType"
    " contentSchema definitions $defs".split()
)
"""Keywords that assert nothing, or only contain or name other schemas."""


def draft_of(uri: object) -> Draft | None:
    """The draft that a `$schema` names; None if it names none that is known.

    The scheme and a trailing `#` are ignored, because real schemas differ in them.
    """
    if not isinstance(uri, str):
        return None
    return _DRAFT_BY_URI.get(uri) or _DRAFT_BY_URI.get(_without_scheme(uri.rstrip("#")))


def _without_scheme(uri: str) -> str:
    return uri.removeprefix("https://").removeprefix("http://")


_DRAFT_BY_URI: Final = {
    scheme + _without_scheme(draft.value) + mark: draft
    for draft in Draft
    for scheme in ("", "http://", "https://")
    for mark in ("", "#")
}


def _keywords_in(vocabulary: str) -> frozenset[str]:
    names = (group.names.split() for group in KEYWORD_GROUPS if group.vocabulary == vocabulary)
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


class SchemaDialect(Acyclic):
    """The draft of a schema, and which of the draft's keywords have a say in what is valid."""

    draft: Draft
    keywords: frozenset[str]

    @staticmethod
    def of_draft(draft: Draft) -> SchemaDialect:
        """The dialect with all keywords of a draft."""
        return _OF_DRAFTS[draft]


_OF_DRAFTS: Final = {draft: SchemaDialect(draft, KEYWORDS[draft]) for draft in Draft}
_OF_URIS: Final = {uri: _OF_DRAFTS[draft] for uri, draft in _DRAFT_BY_URI.items()}


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
    known = _OF_URIS.get(uri)
    if known is not None:
        return known
    draft = draft_of(uri)
    if draft is not None:
        return SchemaDialect.of_draft(draft)
    meta_schema = documents.get(uri, documents.get(uri.removesuffix("#")))
    if not isinstance(meta_schema, dict):
        return otherwise
    draft = draft_of(meta_schema.get("$schema")) or otherwise.draft
    vocabularies = meta_schema.get("$vocabulary")
    if draft.is_old or not isinstance(vocabularies, dict):  # the old drafts have no vocabularies
        return SchemaDialect.of_draft(draft)
    return SchemaDialect(draft, KEYWORDS[draft] & _keywords_named_by(vocabularies, draft, pointer))


def _keywords_named_by(
    vocabularies: Mapping[str, Json], draft: Draft, pointer: str
) -> frozenset[str]:
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
