"""Keys of schemas: byte strings that are equal for equal JSON, in one document or in two.

Schemas with equal JSON have equal instances, because a keyword depends only on its schema object. A
reference depends on more, so a schema with a reference has no key. What is computed for one schema
can be used for all schemas with its key.
"""

from __future__ import annotations

import marshal
from dataclasses import dataclass
from typing import Final

from maskwright.grammar.schema.drafts import KEYWORDS, Draft
from maskwright.grammar.schema.tree import Json
from maskwright.grammar.schema.vocabularies import SchemaDialect

_LARGE: Final = 100_000
"""The size in bytes from which on only the whole document has a key, not each schema in it: a key
copies the text once more for each level of nesting."""
PLAIN: Final = 2
"""The version of `marshal`'s format in which equal values have equal bytes, whether or not they are
one object."""
_DRAFTS: Final = {draft: draft.name.encode() + b":" for draft in Draft}


@dataclass(frozen=True, slots=True)
class SchemaKeys:
    """The keys of one document, in which every reference is a pointer from its own root."""

    document: dict[str, Json]
    text: bytes

    @classmethod
    def of_document(cls, document: Json) -> SchemaKeys | None:
        """None where the document isn't made of the types that `json` makes."""
        if not isinstance(document, dict):
            return None
        try:
            return cls(document, marshal.dumps(document, PLAIN))
        except ValueError:
            return None

    def key(
        self, schema: dict[str, Json], dialect: SchemaDialect, *, closed: bool = False
    ) -> bytes | None:
        """Return the key of a schema in the document; None if its meaning may depend on anything
        outside of it: a reference, an anchor, a vocabulary. `closed`: see `ParseOptions`."""
        if dialect.keywords is not KEYWORDS[dialect.draft]:
            return None
        kind = _DRAFTS[dialect.draft]
        if closed:
            kind += b"closed:"
        if schema is self.document:
            return kind + self.text
        if len(self.text) > _LARGE:
            return None
        text = marshal.dumps(schema, PLAIN)
        return None if b"$" in text else kind + text
