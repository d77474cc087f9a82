"""Tools and the choice among them as clients send them: what `grammar/tools` reads, described."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import WithJsonSchema
from typing_extensions import TypeAliasType

from maskwright.grammar.tools.tools import SYNTAXES
from maskwright.server.json import Json

_ANY: Final[Json] = {}
_NULL: Final[Json] = {"type": "null"}
_NAME: Final[Json] = {
    "type": "string",
    "pattern": r"^[^\x00-,;-@\[-^`{-\u00a0]{1,128}$",
    "description": "Letters and digits of any script, '_', '-', '.', ':' and '/'.",
}
_NAMED: Final = {"name": _NAME}
_FUNCTION: Final = {
    "parameters": {"type": ["object", "boolean", "null"], "description": "A JSON Schema."},
    "description": _ANY,
    "strict": _ANY,
}
_DEFINITION: Final = {
    "syntax": {"enum": list(SYNTAXES)},
    "definition": {"type": "string", "minLength": 1},
}
_MODES: Final = ("none", "auto", "required")


def _object(
    required: Mapping[str, Any], optional: Mapping[str, Any] | None = None, about: str = ""
) -> Json:
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
        **({"description": about} if about else {}),
    }


def _tool() -> Json:
    """Describe what `parse_tools` reads."""
    grammar = [
        _object({"type": {"const": "grammar"}, "grammar": _object(_DEFINITION)}),
        _object({"type": {"const": "grammar"}, **_DEFINITION}),
    ]
    format = {"anyOf": [_object({}, {"type": {"enum": ["text", None]}}), *grammar, _NULL]}
    custom = {"description": _ANY, "format": format}
    function = {"type": {"enum": ["function", None]}}
    kind = {"type": {"const": "custom"}}
    return {
        "anyOf": [
            _object({"function": _object(_NAMED, _FUNCTION)}, function),
            _object(_NAMED, {**_FUNCTION, **function, "function": _NULL}),
            _object({**kind, "custom": _object(_NAMED, custom)}),
            _object({**kind, **_NAMED}, {**custom, "custom": _NULL}),
        ],
        "description": "A function or a custom tool, as in chat completions or as in responses.",
    }


def _choice() -> Json:
    """Describe what `parse_tool_choice` reads."""
    kinds = ("function", "custom")
    named = _object({"name": {"type": "string"}})
    tools: Json = {"type": "array", "items": {"type": "object"}, "minItems": 1}
    mode: Json = {"mode": {"enum": ["auto", "required", None]}}
    allowed: Json = {"type": {"const": "allowed_tools"}}
    return {
        "anyOf": [
            {"enum": list(_MODES)},
            *(_object({"type": {"const": kind}, kind: named}) for kind in kinds),
            _object({"type": {"enum": list(kinds)}, "name": {"type": "string"}}),
            _object({**allowed, "allowed_tools": _object({"tools": tools}, mode)}),
            _object({**allowed, "tools": tools}, mode),
        ],
        "description": "Which tools may or must be called; by default `auto` if there are tools.",
    }


Tool = TypeAliasType("Tool", Annotated[Any, WithJsonSchema(_tool())])
ToolChoice = TypeAliasType("ToolChoice", Annotated[Any, WithJsonSchema(_choice())])
FunctionDefinition = TypeAliasType(
    "FunctionDefinition", Annotated[Any, WithJsonSchema(_object(_NAMED, _FUNCTION))]
)
FUNCTION_CALL: Final[Json] = {
    "anyOf": [{"enum": list(_MODES)}, _object(_NAMED, about="The function that has to be called.")]
}
