"""The styles of structural tags in which arguments are written one by one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from maskwright.grammar.tools.formats import Template, template_of, tool_format

_TOOL_FORMATS: Final = {"qwen_xml": "qwen_coder", "minimax_xml": "minimax", "glm_xml": "glm"}
"""Styles whose parameters a tool format has too."""
_JSON_TYPES: Final = ("string", "number", "boolean", "null", "array", "object")


@dataclass(frozen=True, slots=True)
class ParameterStyle:
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
