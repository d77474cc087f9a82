"""Tools and the choice among them as clients send them: what `grammar/tools` reads, described."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import WithJsonSchema
from typing_extensions import TypeAliasType

from maskwright.grammar.tools.tools import SYNTAXES
from maskwright.server.json import (
    ANYTHING,
    NOTHING,
    TEXT,
    Schemas,
    array,
    constant,
    each,
    either,
    one_of,
    record,
    text,
)

_NAMED: Final[Schemas] = {
    "name": text(
        "Letters and digits of any script, '_', '-', '.', ':' and '/'.",
        pattern=r"^[^\x00-,;-@\[-^`{-\u00a0]{1,128}$",
    )
}
_PARAMETERS: Final[Schemas] = {
    "parameters": {"type": ["object", "boolean", "null"], "description": "A JSON Schema."},
    **each(ANYTHING, "description", "strict"),
}
_FUNCTION: Final[Schemas] = {"type": one_of(("function", None))}
_CUSTOM: Final[Schemas] = {"type": constant("custom")}
_GRAMMAR: Final[Schemas] = {"type": constant("grammar")}
_DEFINITION: Final[Schemas] = {"syntax": one_of(SYNTAXES), "definition": text(minLength=1)}
_INPUT: Final[Schemas] = {
    "description": ANYTHING,
    "format": either(
        record({}, {"type": one_of(("text", None))}),
        record({**_GRAMMAR, "grammar": record(_DEFINITION)}),
        record({**_GRAMMAR, **_DEFINITION}),
        NOTHING,
    ),
}
_TOOL: Final = either(
    record({"function": record(_NAMED, _PARAMETERS)}, _FUNCTION),
    record(_NAMED, {**_PARAMETERS, **_FUNCTION, "function": NOTHING}),
    record({**_CUSTOM, "custom": record(_NAMED, _INPUT)}),
    record({**_CUSTOM, **_NAMED}, {**_INPUT, "custom": NOTHING}),
    about="A function or a custom tool, as in chat completions or as in responses.",
)
"""What `parse_tools` reads."""

_MODES: Final = one_of(("none", "auto", "required"))
_CHOSEN: Final = record({"name": TEXT})
_ALLOWED: Final[Schemas] = {"type": constant("allowed_tools")}
_TOOLS: Final[Schemas] = {"tools": array({"type": "object"}, minItems=1)}
_MODE: Final[Schemas] = {"mode": one_of(("auto", "required", None))}
_CHOICE: Final = either(
    _MODES,
    record({"type": constant("function"), "function": _CHOSEN}),
    record({"type": constant("custom"), "custom": _CHOSEN}),
    record({"type": one_of(("function", "custom")), "name": TEXT}),
    record({**_ALLOWED, "allowed_tools": record(_TOOLS, _MODE)}),
    record({**_ALLOWED, **_TOOLS}, _MODE),
    about="Which tools may or must be called; by default `auto` if there are tools.",
)
"""What `parse_tool_choice` reads."""

Tool = TypeAliasType("Tool", Annotated[Any, WithJsonSchema(_TOOL)])
ToolChoice = TypeAliasType("ToolChoice", Annotated[Any, WithJsonSchema(_CHOICE)])
FunctionDefinition = TypeAliasType(
    "FunctionDefinition", Annotated[Any, WithJsonSchema(record(_NAMED, _PARAMETERS))]
)
FUNCTION_CALL: Final = either(_MODES, record(_NAMED, about="The function that has to be called."))
