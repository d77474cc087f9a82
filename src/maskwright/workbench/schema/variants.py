"""The schemas of a shape, and the shape compiled with changed ones: here a schema by itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Protocol

from maskwright.grammar.schema.tree import Json
from maskwright.immutable import Immutable
from maskwright.mask import Grammar, compile_json_schema
from maskwright.vocab import Vocabulary


class Variants(Protocol):
    """What can be compiled with changed schemas. It can be sent to another process.

    `options`: how JSON is written, by the names of `compile_json_schema`.
    """

    @property
    def options(self) -> Mapping[str, Any]: ...

    def schemas(self) -> Json:
        """Return all schemas as one document, to which pointers refer."""
        ...

    def roots(self, text: bytes) -> tuple[str, ...]:
        """Return the pointers of the schemas in this document that `text` may be about."""
        ...

    def compile(self, schemas: Json, options: Mapping[str, Any], vocab: Vocabulary) -> Grammar:
        """Compile a changed document. Raises InputError."""
        ...


class SchemaVariants(Immutable):
    """One schema, as JSON text."""

    schema: str
    options: Mapping[str, Any]

    def schemas(self) -> Json:
        return json.loads(self.schema)

    def roots(self, text: bytes) -> tuple[str, ...]:
        return ("",)

    def compile(self, schemas: Json, options: Mapping[str, Any], vocab: Vocabulary) -> Grammar:
        return compile_json_schema(schemas, vocab, **options)
