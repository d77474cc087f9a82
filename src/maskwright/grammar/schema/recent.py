"""Documents that were parsed lately: whoever compiles a schema again doesn't have it parsed again.

A document is known by its bytes, so that neither who made it nor when makes a difference. A tree
holds no array or object of its document: the caller may change it.
"""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Final

from maskwright.garbage import hide
from maskwright.grammar.schema.document import check, loaded
from maskwright.grammar.schema.document_text import DocumentText
from maskwright.grammar.schema.parse import ParsedSchema, ParseOptions, parse_document
from maskwright.grammar.schema.tree import Json, SchemaMaker

_MOST_BYTES: Final = 1 << 20
"""Bytes of all documents kept. Their trees take some ten times as much (300 MaskBench schemas)."""
_LARGE: Final = 100_000
"""The size in bytes from which on a document isn't kept."""

_Key = tuple[bytes, ParseOptions]


class RecentSchemas:
    """The documents parsed last, the least recently used first. Thread-safe."""

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._kept: OrderedDict[_Key, ParsedSchema] = OrderedDict()
        self._lock = Lock()
        self.nbytes = 0
        """Bytes of the documents kept."""

    def parse(self, source: Json | SchemaMaker, options: ParseOptions) -> ParsedSchema:
        """Do what `parse_schema` does, with its errors, or return what it has returned before."""
        text = check(loaded(source), options.limits)
        key = _key_of(text, options)
        if key is None:
            return parse_document(text, options)
        with self._lock:
            known = self._kept.get(key)
            if known is not None:
                self._kept.move_to_end(key)
                return known
        parsed = parse_document(text, options)
        with self._lock:
            if key not in self._kept:
                self._kept[key] = parsed
                self.nbytes += len(key[0])
            while self.nbytes > self._most_bytes:
                (text, _), _ = self._kept.popitem(last=False)
                self.nbytes -= len(text)
        return parsed

    def clear(self) -> None:
        """Forget all, and so let go of the languages of the patterns in them."""
        with self._lock:
            self._kept.clear()
            self.nbytes = 0


def _key_of(text: DocumentText, options: ParseOptions) -> _Key | None:
    """None for a document that isn't made of the types that `json` makes, is large, or may refer to
    others."""
    if options.documents or text.text is None or len(text.text) > _LARGE:
        return None
    return hide((text.text, options))


RECENT: Final = RecentSchemas()
"""The documents that the compiler of JSON Schemas parsed last."""
