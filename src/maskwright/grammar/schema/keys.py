"""How schemas are written, as bytes: those written alike mean the same, in one document or two.

That holds because a keyword reads nothing but the schema object that it stands in, and references.
"""

from __future__ import annotations

import marshal
from dataclasses import dataclass
from typing import Final

from maskwright.grammar.schema.drafts import KEYWORDS, Draft
from maskwright.grammar.schema.tree import Json
from maskwright.grammar.schema.vocabularies import SchemaDialect

_LARGE: Final = 100_000
"""Bytes of a document of which only the whole is written down, not each schema in it."""
_PLAIN: Final = 2
"""The version of `marshal`'s format that says nothing of objects' identities."""
_DRAFTS: Final = {draft: draft.name.encode() + b":" for draft in Draft}


@dataclass(frozen=True, slots=True)
class SchemaKeys:
    """Of one document in which every reference is a pointer into the document itself."""

    document: dict[str, Json]
    text: bytes

    @classmethod
    def of_document(cls, document: Json) -> SchemaKeys | None:
        """None where the document isn't made of JSON's own types."""
        if not isinstance(document, dict):
            return None
        try:
            return cls(document, marshal.dumps(document, _PLAIN))
        except ValueError:
            return None

    def key(self, schema: dict[str, Json], dialect: SchemaDialect) -> bytes | None:
        """The key of a schema in the document, None where other parts of the document, or of
        others, have a say in what it means."""
        if dialect.keywords is not KEYWORDS[dialect.draft]:
            return None
        if schema is self.document:
            return _DRAFTS[dialect.draft] + self.text
        if len(self.text) > _LARGE:
            return None
        text = marshal.dumps(schema, _PLAIN)
        return None if b"$" in text else _DRAFTS[dialect.draft] + text
