"""How families of models write tool calls: one small file each, in `tool_formats/`.

A template is a text with placeholders: `$name` (the tool), `$arguments`, `$index` (a number),
`$key` and `$value` (of one parameter), `$text`. Everything else is literal text. The styles of
structural tags in which arguments are written one by one are templates too.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Final, Literal

from msgspec import field
from msgspec.structs import replace

from maskwright.errors import InputError
from maskwright.immutable import Acyclic

Template = tuple[str, ...]
"""Texts and placeholders (`$name`) in alternation."""

_FOLDER: Final = files("maskwright.grammar.tools") / "tool_formats"
_TEMPLATES: Final = ("call", "parameter", "begin", "separator", "end", "text")
_PLACEHOLDER: Final = re.compile(r"(\$[a-z]+)")


class ToolFormat(Acyclic):
    """The templates of one family."""

    name: str
    call: Template
    """One call, with `$name`, `$arguments` and optionally `$index`."""
    parameter: Template = ()
    """One parameter, with `$key` and `$value`, if arguments are written one by one."""
    begin: Template = ()
    """Before the first call."""
    separator: Template = ()
    """Between two calls."""
    end: Template = ()
    """After the last call."""
    text: Template = ("$text",)
    """An answer without calls."""
    reasoning: tuple[str, str] | None = None
    """The marks around a reasoning section before the answer; None if the family has none."""
    parallel: bool = True
    """Whether an answer may contain several calls."""
    literals: Literal["json", "python"] = "json"
    """How other arguments are written: as a JSON object, or as Python's keyword arguments."""
    alone: bool = False
    """Whether an answer with calls contains nothing else. An answer without calls then doesn't
    begin like a call."""
    trigger: str = ""
    """A beginning of the first call that free text never contains."""


@cache
def tool_format(name: str) -> ToolFormat:
    """Return the format of a name. Raises `InputError`, which lists the names, if there is none."""
    if name not in tool_format_names():
        known = ", ".join(tool_format_names())
        raise InputError(f"there is no tool format {name!r}; there are {known}", param="format")
    data = tomllib.loads((_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    templates = {key: template_of(value) for key, value in data.items() if key in _TEMPLATES}
    plain = {key: value for key, value in data.items() if key not in _TEMPLATES}
    if "reasoning" in plain:
        begin, end = plain["reasoning"]
        plain["reasoning"] = (begin, end)
    format = ToolFormat(name, **templates, **plain)
    # What stands before the first call, or else the beginning of a call.
    first = "".join(format.begin) or format.call[0]
    return format if format.trigger else replace(format, trigger=first)


@cache
def tool_format_names() -> tuple[str, ...]:
    """Return the names of all formats, sorted."""
    names = (file.name for file in _FOLDER.iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


def template_of(text: str) -> Template:
    """Return the texts and placeholders of a template."""
    return tuple(part for part in _PLACEHOLDER.split(text) if part)


_TOOL_FORMATS: Final = {"qwen_xml": "qwen_coder", "minimax_xml": "minimax", "glm_xml": "glm"}
"""Styles whose parameters a tool format has too."""
_JSON_TYPES: Final = ("string", "number", "boolean", "null", "array", "object")


class ParameterStyle(Acyclic):
    """How one parameter is written: `$key`, `$value`, and where `types` has an entry for each JSON
    type, `$type` before the value."""

    template: Template
    types: Mapping[str, str] = field(default_factory=dict[str, str])


_TYPED: Final = {
    # DeepSeek V3.2
    "deepseek_xml": ParameterStyle(
        template_of('<｜DSML｜parameter name="$key" string="$type">$value</｜DSML｜parameter>\n'),
        {"string": "true"} | dict.fromkeys(_JSON_TYPES[1:], "false"),
    ),
    # Kimi K3
    "kimi_k3_xml": ParameterStyle(
        template_of(
            '<|open|>argument key="$key" type="$type"<|sep|>$value<|close|>argument<|sep|>'
        ),
        {name: name for name in _JSON_TYPES},
    ),
}


def parameter_style(style: str) -> ParameterStyle:
    """Return the style of a name."""
    if style in _TYPED:
        return _TYPED[style]
    return ParameterStyle(tool_format(_TOOL_FORMATS[style]).parameter)
