"""The fields `tools`, `tool_choice` and `parallel_tool_calls`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from maskwright.grammar.tools.tools import Tool, ToolChoice, parse_tool_choice, parse_tools
from maskwright.server.request.fields import Fields


@dataclass(frozen=True, slots=True)
class ToolUse:
    """Tools that the model is told of, and which of them it may or must call.

    `sent` is what the client wrote, for the chat template.
    """

    tools: tuple[Tool, ...]
    choice: ToolChoice
    parallel: bool
    sent: tuple[Mapping[str, Any], ...]

    @property
    def constrains(self) -> bool:
        """Whether calls may be made at all."""
        return self.choice.mode != "none"

    @property
    def forced(self) -> bool:
        """Whether the answer is a call in any case."""
        return self.choice.mode in ("required", "one")

    def key(self) -> str:
        """A text that is equal for equal tools and choices."""
        tools = [(tool.name, tool.parameters) for tool in self.choice.tools]
        return json.dumps([self.choice.mode, self.parallel, tools])


def parse_tool_use(body: Fields) -> ToolUse | None:
    """None without tools. Raises InputError with the place of the fault."""
    sent = [item for item, _ in body.items("tools") or ()]
    tools = parse_tools(cast(list[Any], sent))
    choice = parse_tool_choice(cast(Any, body.get("tool_choice")), tools)
    parallel = body.boolean("parallel_tool_calls", default=True)
    if not tools:
        return None
    return ToolUse(tools, choice, parallel, tuple(cast(list[Mapping[str, Any]], sent)))
