"""Reads the tools of a request, and which of them may be called."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final, Literal, TypeAlias, cast
from unicodedata import category

from maskwright.errors import InputError, named
from maskwright.grammar.dialects.detect import DIALECTS, Dialect
from maskwright.grammar.schema.document import kind_of, loaded
from maskwright.grammar.schema.tree import Json
from maskwright.immutable import Acyclic

MOST_NAME: Final = 128
"""Characters of a tool's name."""
_SIGNS: Final = "_-.:/"

Mode = Literal["none", "auto", "required", "one"]
"""How many calls an answer has: none, any number ("auto"), at least one, or exactly one."""

Syntax: TypeAlias = Literal["text", "regex"] | Dialect


class CustomInput(Acyclic):
    """The input of a custom tool: any text, or a text of a grammar or of a regular expression.
    `place`: the dotted path of the definition."""

    syntax: Syntax = "text"
    definition: str = ""
    place: str = ""


SYNTAXES: Final = ("regex", *DIALECTS)
"""In which the input of a custom tool may be defined."""

_FUNCTION: Final = ("type", "name", "description", "parameters", "strict")
_CUSTOM: Final = ("type", "name", "description", "format")

_PARAMETERS: Final = dict.fromkeys(
    [
        *("args", "args_schema", "arguments", "inputSchema", "input_schema", "json_schema"),
        *("parametersJsonSchema", "parameters_json_schema", "params", "properties", "schema"),
    ],
    "parameters",
)
"""Names that the parameters of a function have elsewhere."""

_FORMATS: Final = dict.fromkeys(
    ["definition", "grammar", "lark", "pattern", "regex", "syntax"], "format"
)
"""Names of what belongs into the format of a custom tool."""

_NEUTRAL: Final[Mapping[str, tuple[object, str]]] = {
    "defer_loading": (
        False,
        "this server has no search for tools; send the tools that the model shall know",
    ),
    "allowed_callers": (["direct"], "only the model itself calls tools here; leave it out"),
}
"""Fields of tools that are not obeyed: the value without an effect, and what to do instead."""

_NEAR: Final = 0.8
"""Likeness (`difflib`'s ratio) from which on a name is taken for a misspelt one."""

INPUT_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {"input": {"type": "string"}},
    "required": ["input"],
    "additionalProperties": False,
}
"""The arguments of a custom tool, which to a model is a function."""


class Tool(Acyclic):
    """A function, or a custom tool, which has an `input`.

    `parameters`: the JSON Schema of its arguments; `place`: its dotted path in the request.
    """

    name: str
    parameters: dict[str, Any] | bool
    place: str
    input: CustomInput | None = None


class ToolChoice(Acyclic):
    mode: Mode
    tools: tuple[Tool, ...]
    """The tools that may be called."""


def parse_tools(tools: Sequence[Json]) -> tuple[Tool, ...]:
    """Read tools in the form of OpenAI's chat completions (`{"type": "function", "function": {…}}`)
    or responses (with all fields in one object); custom tools likewise.

    Raises `InputError` with the place of the first error.
    """
    by_name: dict[str, Tool] = {}
    for at, item in enumerate(tools):
        tool = _tool(item, f"tools[{at}]", by_name)
        by_name[tool.name] = tool
    return tuple(by_name.values())


def _tool(item: Json, place: str, taken: Container[str]) -> Tool:
    """Read a tool, whose name is none of `taken`."""
    if isinstance(item, type):
        raise _wrong(
            place,
            f"must be an object, not {named(item)}: pass {{'type': 'function', 'function': "
            f"{{'name': {item.__name__!r}, 'parameters': {item.__name__}}}}}",
        )
    fields = _object(item, place)
    kind = "function" if fields.get("type") is None else fields["type"]
    if kind not in ("function", "custom"):
        reason = f"{kind!r} is not supported; use 'function' or 'custom'"
        raise _wrong(f"{place}.type", reason, "unsupported_value")
    _check_neutral(fields, place)
    known, meant = (_CUSTOM, _FORMATS) if kind == "custom" else (_FUNCTION, _PARAMETERS)
    if fields.get(kind) is not None:
        _check_beside(fields, place, kind, meant)
        place = f"{place}.{kind}"
        fields = _object(fields[kind], place)
        _check_neutral(fields, place)
    _check_names(fields, place, known, meant)
    name = _name(fields, place, taken)
    if kind == "custom":
        return Tool(
            name, dict(INPUT_SCHEMA), *_custom_input(fields.get("format"), f"{place}.format")
        )
    given = fields.get("parameters")
    parameters = given if isinstance(given, str) else loaded(given)  # no text, as in OpenAI's APIs
    if parameters is None or parameters == {}:
        parameters = {"type": "object", "additionalProperties": False}
    if not isinstance(parameters, dict | bool):
        raise _wrong(f"{place}.parameters", f"of tool {name!r} must be a JSON Schema")
    return Tool(name, cast("dict[str, Any] | bool", parameters), f"{place}.parameters")


def _name(fields: Mapping[str, Any], place: str, taken: Container[str]) -> str:
    name = fields.get("name")
    if not isinstance(name, str) or not 0 < len(name) <= MOST_NAME or not all(map(_in_name, name)):
        raise _wrong(
            f"{place}.name",
            f"must be 1 to {MOST_NAME} letters and digits of any script, "
            f"{', '.join(map(repr, _SIGNS[:-1]))} and {_SIGNS[-1]!r}",
        )
    if name in taken:
        raise InputError(
            f"two tools are named {name!r}", param=f"{place}.name", code="duplicate_tool"
        )
    return name


def _in_name(character: str) -> bool:
    """Whether a name of a tool may contain a character. Marks are parts of letters."""
    return character in _SIGNS or category(character)[0] in "LMN"


def _custom_input(given: Json, at: str) -> tuple[str, CustomInput]:
    """Read the `format` of a custom tool, and return its place too: a text, or a grammar in an
    object of its own (chat completions) or beside its type (responses)."""
    format = {} if given is None else _object(given, at)
    kind = format.get("type", "text")
    if kind not in ("text", "grammar"):
        raise _wrong(f"{at}.type", f"{kind!r} must be 'text' or 'grammar'")
    if kind == "text":
        return at, CustomInput(place=at)
    if format.get("grammar") is not None:
        at = f"{at}.grammar"
        format = _object(format["grammar"], at)
    syntax, definition = format.get("syntax"), format.get("definition")
    if syntax not in SYNTAXES:
        reason = f"{syntax!r} must be one of {', '.join(map(repr, SYNTAXES))}"
        raise _wrong(f"{at}.syntax", reason)
    if not isinstance(definition, str) or not definition:
        raise _wrong(f"{at}.definition", "must be the text of the grammar")
    return at, CustomInput(cast(Syntax, syntax), definition, f"{at}.definition")


def _check_neutral(fields: Mapping[str, Any], place: str) -> None:
    """Refuse what of a tool would have to be obeyed, and is not."""
    for name, (neutral, way_out) in _NEUTRAL.items():
        value = fields.get(name)
        if value is not None and value != neutral:
            raise InputError(
                f"{place}.{name}: {way_out}",
                param=f"{place}.{name}",
                code="unsupported_parameter",
            )


def _check_beside(
    fields: Mapping[str, Any], place: str, inner: str, meant: Mapping[str, str]
) -> None:
    """Refuse what would define a tool and stands beside the object with its definition."""
    for name, value in fields.items():
        right = name if name in meant.values() else meant.get(name)
        if right is not None and value is not None:
            way_out = f"send {place}.{inner}.{right}"
            reason = f"stands beside {inner}, where it has no effect; {way_out}"
            raise _wrong(f"{place}.{name}", reason, "unknown_field")


def _check_names(
    fields: Mapping[str, Any], place: str, known: Sequence[str], meant: Mapping[str, str]
) -> None:
    """Refuse a name that stands for one of the `known` ones elsewhere (`meant`), or resembles one:
    without its definition, a tool would be another one. Further fields are shown to the model."""
    for name, value in fields.items():
        if value is None or name in known:
            continue
        near = get_close_matches(name.lower(), known, n=1, cutoff=_NEAR)
        right = meant.get(name, near[0] if near else None)
        if right is not None:
            raise InputError(
                f"{place} has the unknown field {name!r}; did you mean {right!r}?",
                param=f"{place}.{name}",
                code="unknown_field",
            )


def parse_tool_choice(choice: Json, tools: tuple[Tool, ...]) -> ToolChoice:
    """Read `none`, `auto`, `required`, one function, or a list of allowed ones. None means `auto`
    if there are tools. Raises `InputError` for a tool that isn't offered."""
    if choice is None:
        return ToolChoice("auto" if tools else "none", tools)
    if isinstance(choice, str):
        return ToolChoice(_mode(choice, tools), tools)
    fields = _object(choice, "tool_choice")
    if fields.get("disable_parallel_tool_use"):
        raise _wrong(
            "tool_choice.disable_parallel_tool_use",
            "is not read here; send parallel_tool_calls: false",
            "unsupported_parameter",
        )
    match fields.get("type"):
        case "function" | "custom" as kind:
            inner = fields.get(kind) or fields
            name = _object(inner, f"tool_choice.{kind}").get("name")
            return ToolChoice("one", (_named(name, tools, f"tool_choice.{kind}.name"),))
        case "allowed_tools":
            inner = _object(fields.get("allowed_tools") or fields, "tool_choice.allowed_tools")
            return _allowed(inner, tools)
        case kind:
            reason = f"{kind!r} is not supported; use 'function', 'custom' or 'allowed_tools'"
            raise _wrong("tool_choice.type", reason, "unsupported_value")


def _allowed(fields: Mapping[str, Any], tools: tuple[Tool, ...]) -> ToolChoice:
    place = "tool_choice.allowed_tools.tools"
    listed = fields.get("tools")
    if not isinstance(listed, list) or not listed:
        raise _wrong(place, "must list the tools")
    by_name: dict[str, Tool] = {}
    for at, item in enumerate(cast(list[Json], listed)):
        entry = _object(item, f"{place}[{at}]")
        inner = entry.get("function") or entry.get("custom") or entry
        name = _object(inner, f"{place}[{at}]").get("name")
        tool = _named(name, tools, f"{place}[{at}]")
        by_name[tool.name] = tool
    mode = fields.get("mode", "auto")
    if mode not in ("auto", "required"):
        raise InputError(
            f"mode {mode!r} must be 'auto' or 'required'", param="tool_choice.allowed_tools.mode"
        )
    return ToolChoice(mode, tuple(by_name.values()))


def _mode(choice: str, tools: tuple[Tool, ...]) -> Mode:
    if choice not in ("none", "auto", "required"):
        reason = f"{choice!r} must be 'none', 'auto', 'required' or name a function"
        raise _wrong("tool_choice", reason, "unsupported_value")
    if choice == "required" and not tools:
        reason = "demands a call, and there are no tools: send some, or leave tool_choice out"
        raise _wrong("tool_choice", reason)
    return choice if tools else "none"


def _named(name: object, tools: tuple[Tool, ...], place: str) -> Tool:
    for tool in tools:
        if tool.name == name:
            return tool
    offered = ", ".join(tool.name for tool in tools) or "none"
    raise InputError(f"tool_choice names {name!r}; the tools are: {offered}", param=place)


def _object(value: object, place: str) -> Mapping[str, Any]:
    if isinstance(value, Mapping):
        return cast(Mapping[str, Any], value)
    raise _wrong(place, f"must be an object, not {kind_of(value)}")


def _wrong(place: str, reason: str, code: str | None = None) -> InputError:
    """The error that what stands at a place is wrong, with the reason after its name."""
    return InputError(f"{place} {reason}", param=place, code=code)
