"""The fields `tools`, `tool_choice` and `parallel_tool_calls`."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from maskwright.errors import InputError
from maskwright.grammar.tools.tools import (
    INPUT_SCHEMA,
    CustomInput,
    Tool,
    ToolChoice,
    parse_tool_choice,
    parse_tools,
)
from maskwright.server.json import Json
from maskwright.server.request.fields import Fields


@dataclass(frozen=True, slots=True)
class ToolUse:
    """The tools in the prompt, and which of them the model may or must call.

    `sent`: the tools in the form of chat completions, for the chat template. `field`: the field of
    the request in which they came.
    """

    tools: tuple[Tool, ...]
    choice: ToolChoice
    parallel: bool
    sent: tuple[Mapping[str, Any], ...]
    field: str = "tools"

    @property
    def constrains(self) -> bool:
        """Whether the answer may contain calls."""
        return self.choice.mode != "none"

    @property
    def forced(self) -> bool:
        """Whether the answer must be a call."""
        return self.choice.mode in ("required", "one")

    def without(self, names: Collection[str]) -> ToolUse:
        """The tools but for those of some names."""
        kept = [at for at, tool in enumerate(self.tools) if tool.name not in names]
        callable_ones = tuple(tool for tool in self.choice.tools if tool.name not in names)
        return replace(
            self,
            tools=tuple(self.tools[at] for at in kept),
            choice=replace(self.choice, tools=callable_ones),
            sent=tuple(self.sent[at] for at in kept),
        )

    def key(self) -> str:
        """Return a text that is equal for equal tools and choices."""
        tools = [(tool.name, tool.parameters, repr(tool.input)) for tool in self.choice.tools]
        return json.dumps([self.choice.mode, self.parallel, tools])


def parse_tool_use(body: Fields) -> ToolUse | None:
    """Read the three fields, or `functions` and `function_call`, their older forms; None if there
    are no tools. Raises InputError with the place of the first error."""
    functions = [item for item, _ in body.items("functions") or ()]
    if functions:
        if body.items("tools"):
            raise InputError(
                "functions and tools exclude each other; send tools",
                param="functions",
                code="conflicting_constraints",
            )
        try:
            return _as_functions(parse_tool_use(_newer(functions, body.get("function_call"))))
        except InputError as error:
            if error.param is not None:  # in the names that the client used
                error.param = _older(error.param).replace("tool_choice.function", "function_call")
            raise
    if body.get("function_call") not in (None, "none", "auto"):
        raise InputError("function_call needs functions", param="function_call")
    sent = [item for item, _ in body.items("tools") or ()]
    tools = parse_tools(cast(list[Any], sent))
    choice = parse_tool_choice(cast(Any, body.get("tool_choice")), tools)
    parallel = body.boolean("parallel_tool_calls", default=True)
    if not tools:
        return None
    return ToolUse(tools, choice, parallel, tuple(map(_shown, cast(list[Json], sent), tools)))


def _newer(functions: list[object], choice: object) -> Fields:
    """Return the fields of tools for `functions` and `function_call`, of which one is called at
    most."""
    if isinstance(choice, dict):
        choice = {"type": "function", "function": choice}
    return Fields(
        {
            "tools": [{"type": "function", "function": function} for function in functions],
            "tool_choice": choice,
            "parallel_tool_calls": False,
        }
    )


def _older(place: str) -> str:
    """Return the place in `functions` that corresponds to one in `tools`."""
    return place.replace("tools[", "functions[").replace("].function", "]")


def _as_functions(use: ToolUse | None) -> ToolUse | None:
    """Have later errors, too, name the places that the client used."""
    if use is None:
        return None
    tools = {tool.name: replace(tool, place=_older(tool.place)) for tool in use.tools}
    callable_ones = tuple(tools[tool.name] for tool in use.choice.tools)
    choice = replace(use.choice, tools=callable_ones)
    return replace(use, tools=tuple(tools.values()), choice=choice, field="functions")


def _shown(tool: Json, read: Tool) -> Mapping[str, Any]:
    """Return a tool in the form of chat completions, in which templates expect it. In that of
    responses, all fields are in one object. A custom tool is shown as a function of one string."""
    if read.input is not None:
        return _as_function(cast(Json, tool.get("custom") or tool), read, read.input)
    function = cast(Json | None, tool.get("function"))
    if function is not None:
        return {"type": "function", **_present(tool), "function": _present(function)}
    flat = {name: value for name, value in _present(tool).items() if name != "type"}
    return {"type": "function", "function": flat}


def _present(fields: Json) -> Json:
    """Return the fields that are not null: templates print what is there."""
    return {name: value for name, value in fields.items() if value is not None}


def _as_function(custom: Json, tool: Tool, wanted: CustomInput) -> Mapping[str, Any]:
    """Return a custom tool as a function, whose description holds the definition of its input."""
    text: dict[str, Any] = {"type": "string"}
    if wanted.syntax != "text":
        text["description"] = f"A text of this {wanted.syntax} grammar: {wanted.definition}"
    function: dict[str, Any] = {
        "name": tool.name,
        "parameters": {**INPUT_SCHEMA, "properties": {"input": text}},
    }
    if isinstance(custom.get("description"), str):
        function["description"] = custom["description"]
    return {"type": "function", "function": function}
