"""The fields `tools`, `tool_choice` and `parallel_tool_calls`."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Annotated, Any, cast

from msgspec.structs import replace
from pydantic import WithJsonSchema

from maskwright.errors import InputError
from maskwright.grammar.schema.document import is_json
from maskwright.grammar.tools.tools import (
    INPUT_SCHEMA,
    CustomInput,
    Tool,
    ToolChoice,
    parse_tool_choice,
    parse_tools,
)
from maskwright.immutable import Immutable
from maskwright.server.json import Json
from maskwright.server.request import sent_tools
from maskwright.server.request.model import Array, RequestModel, described


class ToolUse(Immutable):
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
        """The tools but for some, given by name."""
        kept = [at for at, tool in enumerate(self.tools) if tool.name not in names]
        callable_ones = tuple(tool for tool in self.choice.tools if tool.name not in names)
        return replace(
            self,
            tools=tuple(self.tools[at] for at in kept),
            choice=replace(self.choice, tools=callable_ones),
            sent=tuple(self.sent[at] for at in kept),
        )

    def with_places(self, renamed: Callable[[str], str]) -> ToolUse:
        """The same tools, with the names of their places that the client has for them."""
        tools = {tool.name: replace(tool, place=renamed(tool.place)) for tool in self.tools}
        choice = replace(self.choice, tools=tuple(tools[tool.name] for tool in self.choice.tools))
        return replace(self, tools=tuple(tools.values()), choice=choice)

    def key(self) -> str:
        """Return a text that is equal for equal tools and choices."""
        tools = [
            (tool.name, tool.parameters, is_json(tool.parameters), repr(tool.input))
            for tool in self.choice.tools
        ]
        return json.dumps([self.choice.mode, self.parallel, tools])


class ToolFields(RequestModel):
    """The tools of a request, and which of them may or must be called."""

    tools: Annotated[tuple[sent_tools.Tool, ...], Array()] = ()
    tool_choice: sent_tools.ToolChoice | None = None
    parallel_tool_calls: bool = described(True, "Whether there may be more than one call.")

    def tool_use(self) -> ToolUse | None:
        """Return the tools; None if there are none. Raises InputError with the place of the first
        error."""
        if not self.tools and self.tool_choice is None:
            return None
        return read_tools(self.tools, self.tool_choice, parallel=self.parallel_tool_calls)


class FunctionFields(ToolFields):
    """Tools and their older forms."""

    functions: Annotated[tuple[sent_tools.FunctionDefinition, ...], Array()] = described(
        (), "The older form of `tools`."
    )
    function_call: Annotated[Any, WithJsonSchema(sent_tools.FUNCTION_CALL)] = None

    def tool_use(self) -> ToolUse | None:
        if not self.functions:
            if self.function_call not in (None, "none", "auto"):
                raise InputError("function_call needs functions", param="function_call")
            return super().tool_use()
        if self.tools:
            raise InputError(
                "functions and tools exclude each other; send tools",
                param="functions",
                code="conflicting_constraints",
            )
        try:
            use = _newer(self.functions, self.function_call)
        except InputError as error:
            if error.param is not None:  # in the names that the client used
                error.param = _older(error.param).replace("tool_choice.function", "function_call")
            raise
        return None if use is None else replace(use.with_places(_older), field="functions")


def read_tools(sent: Sequence[Any], choice: Any, *, parallel: bool) -> ToolUse | None:
    """Read tools and the choice among them in the forms of chat completions and of responses.
    Raises InputError with the place of the first error."""
    tools = parse_tools(sent)
    chosen = parse_tool_choice(choice, tools)
    if not tools:
        return None
    return ToolUse(tools, chosen, parallel, tuple(map(_shown, sent, tools)))


def _newer(functions: Sequence[object], choice: object) -> ToolUse | None:
    """Read `functions` and `function_call`; one function is called at most."""
    if isinstance(choice, dict):
        choice = {"type": "function", "function": choice}
    sent = [{"type": "function", "function": function} for function in functions]
    return read_tools(sent, choice, parallel=False)


def _older(place: str) -> str:
    """Return the place in `functions` that corresponds to one in `tools`."""
    return place.replace("tools[", "functions[").replace("].function", "]")


def _shown(tool: Json, read: Tool) -> Mapping[str, Any]:
    """Return a tool in the form of chat completions, in which templates expect it. In that of
    responses, all fields are in one object. A custom tool is shown as a function of one string."""
    if read.input is not None:
        return _as_function(cast(Json, tool.get("custom") or tool), read, read.input)
    function = cast(Json | None, tool.get("function"))
    if function is not None:
        return {"type": "function", **present(tool), "function": present(function)}
    flat = {name: value for name, value in present(tool).items() if name != "type"}
    return {"type": "function", "function": flat}


def present(fields: object) -> Json:
    """Return the fields of an object that are not null: templates print what is there."""
    given = cast(Json, fields or {})
    return {name: value for name, value in given.items() if value is not None}


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
