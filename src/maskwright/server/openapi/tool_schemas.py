"""Tools, the choice among them, and calls of them."""

from __future__ import annotations

from typing import Final

from maskwright.grammar.tools.tools import SYNTAXES
from maskwright.server.json import Json
from maskwright.server.openapi.builders import (
    ANYTHING,
    NOTHING,
    Schemas,
    array,
    constant,
    either,
    flag,
    given,
    integer,
    one_of,
    record,
    ref,
    text,
)

NAME: Final[Json] = text(
    "Letters and digits of any script, '_', '-', '.', ':' and '/'.",
    pattern=r"^[^\x00-,;-@\[-^`{-\u00a0]{1,128}$",
)


def tool_fields() -> Schemas:
    return {
        "parallel_tool_calls": flag("Whether there may be more than one call.", default=True),
        "tool_choice": ref("ToolChoice"),
        "tools": array(ref("Tool")),
    }


def function_fields() -> Schemas:
    """Return the older forms of `tools` and `tool_choice`."""
    named = record({"name": NAME}, about="The function that has to be called.")
    return {
        "function_call": either(one_of(MODES), named),
        "functions": array(ref("FunctionDefinition"), "The older form of `tools`."),
    }


def tool_schemas() -> Schemas:
    return {
        "FunctionDefinition": given({"name": NAME}, _FUNCTION),
        "Tool": _tool(),
        "ToolChoice": _choice(),
    }


def call_schema(kind: str, own: Schemas, *, index: bool) -> Json:
    """Return the schema of a call in an answer. `index`: it is a delta of a stream, which sends
    `id`, `type` and `name` once."""
    if not index:
        return record({"id": text(), "type": constant(kind), kind: record({"name": text(), **own})})
    return record(
        {"index": integer(0)},
        {"id": text(), "type": constant(kind), kind: record({}, {"name": text(), **own})},
    )


MODES: Final = ("none", "auto", "required")
_FUNCTION: Final[Schemas] = {
    "parameters": {"type": ["object", "boolean"], "description": "A JSON Schema."},
    "description": ANYTHING,
    "strict": ANYTHING,
}
_DEFINITION: Final[Schemas] = {
    "syntax": one_of(SYNTAXES),
    "definition": text(minLength=1),
}


def _tool() -> Json:
    grammar = either(
        record({"type": constant("grammar"), "grammar": record(_DEFINITION)}),
        record({"type": constant("grammar"), **_DEFINITION}),
    )
    format = either(given({}, {"type": constant("text")}), grammar)
    custom = {"description": ANYTHING, "format": format}
    return either(
        given({"function": ref("FunctionDefinition")}, {"type": constant("function")}),
        given({"name": NAME}, {**_FUNCTION, "type": constant("function"), "function": NOTHING}),
        given({"type": constant("custom"), "custom": given({"name": NAME}, custom)}, {}),
        given({"type": constant("custom"), "name": NAME}, {**custom, "custom": NOTHING}),
        about="A function or a custom tool, as in chat completions or as in responses.",
    )


def _choice() -> Json:
    kinds = ("function", "custom")
    named = record({"name": text()})
    one = [record({"type": constant(kind), kind: named}) for kind in kinds]
    flat = record({"type": one_of(kinds), "name": text()})
    tools: Schemas = {"tools": array(record({}), minItems=1)}
    mode: Schemas = {"mode": one_of(("auto", "required"))}
    allowed: Schemas = {"type": constant("allowed_tools")}
    return either(
        one_of(MODES),
        *one,
        flat,
        record({**allowed, "allowed_tools": given(tools, mode)}),
        given({**allowed, **tools}, mode),
        about="Which tools may or must be called; by default `auto` if there are tools.",
    )
