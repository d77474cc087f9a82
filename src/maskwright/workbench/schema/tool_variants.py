"""The parameters of tools as the schemas of a shape, and the shape compiled with changed ones.

Beside `variants`, because compiling tools imports much that a schema by itself doesn't need.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from msgspec.structs import replace

from maskwright.grammar.schema.document import escape
from maskwright.grammar.schema.tree import Json
from maskwright.grammar.tools.tools import Tool, ToolChoice
from maskwright.immutable import Immutable
from maskwright.mask import Grammar, compile_tools
from maskwright.vocab import Vocabulary


class ToolVariants(Immutable):
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
