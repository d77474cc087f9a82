"""Which keywords hold in a schema: those of its draft, or of its meta-schema's vocabularies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from maskwright.errors import UnsupportedSchemaError
from maskwright.grammar.schema.drafts import KEYWORDS, Draft, draft_of
from maskwright.grammar.schema.tree import Json

_UNEVALUATED: Final = frozenset(("unevaluatedItems", "unevaluatedProperties"))
_APPLICATORS: Final = (
    "prefixItems items additionalItems contains properties patternProperties additionalProperties"
    " dependentSchemas propertyNames if then else allOf anyOf oneOf not"
)
_VALIDATION: Final = (
    "type enum const multipleOf maximum exclusiveMaximum minimum exclusiveMinimum maxLength"
    " minLength pattern maxItems minItems uniqueItems maxContains minContains maxProperties"
    " minProperties required dependentRequired"
)
_REFERENCES: Final = frozenset(("$ref", "$dynamicRef", "$recursiveRef"))
_NAMES: Final = "https://json-schema.org/draft/{}/vocab/"
_KNOWN: Final[dict[str, frozenset[str]]] = {
    "core": _REFERENCES,
    "applicator": frozenset(_APPLICATORS.split()),
    "unevaluated": _UNEVALUATED,
    "validation": frozenset(_VALIDATION.split()),
    "format": frozenset(("format",)),
    "format-annotation": frozenset(("format",)),
    "format-assertion": frozenset(("format",)),
    "meta-data": frozenset(),
    "content": frozenset(),
}


class Dialect(NamedTuple):
    draft: Draft
    keywords: frozenset[str]
    """Those that have a say in what is valid."""

    @classmethod
    def of(cls, draft: Draft) -> Dialect:
        return cls(draft, KEYWORDS[draft])


def dialect_of(
    schema: Mapping[str, Json], documents: Mapping[str, Json], otherwise: Dialect, pointer: str
) -> Dialect:
    """The dialect that a schema's `$schema` names: a draft, or a registered meta-schema.

    Raises UnsupportedSchemaError where the meta-schema requires a vocabulary that is not known.
    """
    uri = schema.get("$schema")
    if not isinstance(uri, str):
        return otherwise
    draft = draft_of(uri, None)
    if draft is not None:
        return Dialect.of(draft)
    found = documents.get(uri, documents.get(uri.removesuffix("#")))
    if not isinstance(found, dict):
        return otherwise
    draft = draft_of(found.get("$schema"), otherwise.draft)
    vocabularies = found.get("$vocabulary")
    if draft.is_old or not isinstance(vocabularies, dict):
        return Dialect.of(draft)
    keywords = _REFERENCES
    prefix = _NAMES.format(draft.title.removeprefix("draft"))
    for name, required in vocabularies.items():
        known = _KNOWN.get(name.removeprefix(prefix))
        if known is None and required:
            raise UnsupportedSchemaError(
                f"the meta-schema requires the vocabulary {name!r}, which is not known",
                pointer=f"{pointer}/$schema",
            )
        keywords |= known or frozenset()
        if name == f"{prefix}applicator" and draft is Draft.DRAFT2019:
            keywords |= _UNEVALUATED
    return Dialect(draft, KEYWORDS[draft] & keywords)
