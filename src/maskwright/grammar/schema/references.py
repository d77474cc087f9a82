"""Where references lead: within the document, and into documents registered in advance.

Most documents only have references that are pointers from their own root; these are followed here.
Everything else (`$id`, anchors, dynamic references, other documents) is left to `registry`. Nothing
is ever fetched.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from maskwright.errors import SchemaError
from maskwright.grammar.schema.document import unescape
from maskwright.grammar.schema.document_text import DocumentText
from maskwright.grammar.schema.drafts import Draft
from maskwright.grammar.schema.tree import Json

if TYPE_CHECKING:
    from maskwright.grammar.schema.registry import Resolver

_INDEX = re.compile("0|[1-9][0-9]{0,8}")
"""An index of an array as a step of a JSON Pointer (RFC 6901, section 4)."""


class References:
    """Resolves the references of one document. `documents`: others that references may name, by
    URI."""

    def __init__(self, text: DocumentText, draft: Draft, documents: Mapping[str, Json]) -> None:
        self._document: Any = text.document
        self._draft = draft
        self.plain = not text.has_references or not (
            text.has_anchors or text.has_ids("id" if draft is Draft.DRAFT4 else "$id")
        )
        """Whether every reference, if there is any, is a pointer from the root of the document
        itself."""
        self._documents = documents

    def root(self) -> Resolver | None:
        """The resolver at the document's root; None where the document is plain."""
        if self.plain:
            return None
        # Its library is a sixth of what an import for a plain document takes.
        from maskwright.grammar.schema.registry import Resolver  # noqa: PLC0415

        return Resolver.of(self._document, self._draft, self._documents)

    def find(
        self, reference: str, resolver: Resolver | None, pointer: str
    ) -> tuple[Json, Resolver | None, str | None]:
        """Where a reference leads: the schema, its resolver, and its pointer where that is known.

        Raises `UnsupportedSchemaError` for a document that isn't registered, `SchemaError` for a
        pointer or anchor that doesn't exist.
        """
        if resolver is None:
            target = reference[1:]
            if "%" in target:
                target = unquote(target)
            return self._lookup(target, pointer), None, target
        return *resolver.find(reference, pointer), None

    def _lookup(self, target: str, pointer: str) -> Json:
        """The value at the JSON Pointer `target`, to which the reference at `pointer` leads."""
        value: Json = self._document
        for step in target.split("/")[1:]:
            name = unescape(step) if "~" in step else step
            if isinstance(value, dict) and name in value:
                value = value[name]
            elif isinstance(value, list) and _INDEX.fullmatch(name) and int(name) < len(value):
                value = value[int(name)]
            else:
                raise SchemaError(f"the reference '#{target}' points nowhere", pointer=pointer)
        return value
