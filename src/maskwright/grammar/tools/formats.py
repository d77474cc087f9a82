"""How families of models write tool calls: one small file each, in `tool_formats/`.

A template is a text with placeholders: `$name` (the tool), `$arguments`, `$index` (a number),
`$key` and `$value` (of one parameter), `$text`. Everything else is literal text.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Final, Literal

from maskwright.errors import InputError

Template = tuple[str, ...]
"""Texts and placeholders (`$name`) in alternation."""

_FOLDER: Final = files("maskwright.grammar.tools") / "tool_formats"
_TEMPLATES: Final = ("call", "parameter", "begin", "separator", "end", "text")
_PLACEHOLDER: Final = re.compile(r"(\$[a-z]+)")


@dataclass(frozen=True, slots=True)
class ToolFormat:
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
    return format if format.trigger else replace(format, trigger=_first_text(format))


@cache
def tool_format_names() -> tuple[str, ...]:
    """Return the names of all formats, sorted."""
    names = (file.name for file in _FOLDER.iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


def template_of(text: str) -> Template:
    """Return the texts and placeholders of a template."""
    return tuple(part for part in _PLACEHOLDER.split(text) if part)


def _first_text(format: ToolFormat) -> str:
    """Return the text before the first call, or else the beginning of a call up to its first
    placeholder."""
    return "".join(format.begin) or format.call[0]
