"""How a family of models writes tool calls: one small data file each, in `tool_formats/`.

Templates are texts with placeholders: `$name` (the tool), `$arguments`, `$index` (a number), `$key`
and `$value` (of one parameter), `$text`. Everything else stands for itself.
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
"""Texts and placeholders (`$name`) in turn."""

_FOLDER: Final = files("maskwright.grammar.tools") / "tool_formats"
_TEMPLATES: Final = ("call", "parameter", "begin", "separator", "end", "text", "reasoning")
_PLACEHOLDER: Final = re.compile(r"(\$[a-z]+)")


@dataclass(frozen=True, slots=True)
class ToolFormat:
    """The spellings of one family, as they stand in an answer."""

    name: str
    call: Template
    """One call, with `$name` and `$arguments` (and perhaps `$index`)."""
    parameter: Template = ()
    """One parameter, with `$key` and `$value`, where arguments are written so; else they are
    JSON."""
    begin: Template = ()
    """Before the first call."""
    separator: Template = ()
    """Between two calls."""
    end: Template = ()
    """After the last call."""
    text: Template = ("$text",)
    """An answer in words."""
    reasoning: Template = ()
    """A reasoning section before the answer; empty if the family has none."""
    parallel: bool = True
    """Whether an answer may hold several calls."""
    literals: Literal["json", "python"] = "json"
    """How arguments that aren't written one by one are: as a JSON object, or as Python's keyword
    arguments."""
    alone: bool = False
    """Whether calls are the whole answer, so that words don't begin like one."""
    trigger: str = ""
    """A beginning of the first call that never stands in an answer in words."""


@cache
def tool_format(name: str) -> ToolFormat:
    """The format of that name. Raises `InputError` with the names there are."""
    if name not in tool_format_names():
        known = ", ".join(tool_format_names())
        raise InputError(f"there is no tool format {name!r}; there are {known}", param="format")
    data = tomllib.loads((_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    templates = {key: _template(value) for key, value in data.items() if key in _TEMPLATES}
    plain = {key: value for key, value in data.items() if key not in _TEMPLATES}
    format = ToolFormat(name, **templates, **plain)
    return format if format.trigger else replace(format, trigger=_first_text(format))


@cache
def tool_format_names() -> tuple[str, ...]:
    """All formats, sorted."""
    names = (file.name for file in _FOLDER.iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


def _template(text: str) -> Template:
    return tuple(part for part in _PLACEHOLDER.split(text) if part)


def _first_text(format: ToolFormat) -> str:
    """What stands before the first call, or else its beginning up to the first placeholder."""
    return "".join(format.begin) or format.call[0]
