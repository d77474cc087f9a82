"""The schemas of a shape, and the shape compiled with changed ones: a schema by itself, or the
parameters of tools."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, cast

from maskwright.grammar.schema.document import escape
from maskwright.grammar.schema.tree import Json
from maskwright.grammar.tools.tools import Tool, ToolChoice
from maskwright.mask import Grammar, compile_json_schema, compile_tools
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


@dataclass(frozen=True, slots=True)
class SchemaVariants:
    """One schema, as JSON text."""

    schema: str
    options: Mapping[str, Any]

    def schemas(self) -> Json:
        return json.loads(self.schema)

    def roots(self, text: bytes) -> tuple[str, ...]:
        return ("",)

    def compile(self, schemas: Json, options: Mapping[str, Any], vocab: Vocabulary) -> Grammar:
        return compile_json_schema(schemas, vocab, **options)


@dataclass(frozen=True, slots=True)
class ToolVariants:
    """The parameters of tools by their names. `options`: all of `compile_tools`."""

    tools: tuple[Tool, ...]
    choice: ToolChoice
    options: Mapping[str, Any]

    def schemas(self) -> Json:
        return {tool.name: tool.parameters for tool in self.tools}

    def roots(self, text: bytes) -> tuple[str, ...]:
        names = [tool.name for tool in self.choice.tools]
        return tuple(f"/{escape(name)}" for name in names if name.encode() in text)

    def compile(self, schemas: Json, options: Mapping[str, Any], vocab: Vocabulary) -> Grammar:
        parameters = cast(dict[str, Any], schemas)

        def changed(tools: tuple[Tool, ...]) -> tuple[Tool, ...]:
            return tuple(replace(tool, parameters=parameters[tool.name]) for tool in tools)

        choice = replace(self.choice, tools=changed(self.choice.tools))
        return compile_tools(changed(self.tools), choice, vocab, **options)
