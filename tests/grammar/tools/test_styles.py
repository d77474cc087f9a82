"""How each style of structural tags writes a parameter."""

from __future__ import annotations

from typing import get_args

import pytest

from maskwright.grammar.tags.tree import Style
from maskwright.grammar.tools.formats import parameter_style, tool_format

TYPES = {"string", "number", "boolean", "null", "array", "object"}
OTHERS = {"json", "cohere_xml"}
"""Styles without a template of one parameter."""


@pytest.mark.parametrize("name", sorted({*get_args(Style)} - OTHERS))
def test_every_style_has_a_key_and_a_value(name: str) -> None:
    style = parameter_style(name)
    assert [part for part in style.template if part in ("$key", "$value")] == ["$key", "$value"]
    assert ("$type" in style.template) is bool(style.types)
    assert set(style.types) in (set(), TYPES)
    if style.types:
        assert style.template.index("$type") < style.template.index("$value")


@pytest.mark.parametrize(
    ("style", "format"),
    [("qwen_xml", "qwen_coder"), ("minimax_xml", "minimax"), ("glm_xml", "glm")],
)
def test_styles_of_tool_formats_are_theirs(style: str, format: str) -> None:
    assert parameter_style(style).template == tool_format(format).parameter
    assert parameter_style(style).types == {}


def test_types_before_values() -> None:
    assert parameter_style("kimi_k3_xml").types == {name: name for name in TYPES}
    types = parameter_style("deepseek_xml").types
    assert {name for name, said in types.items() if said == "true"} == {"string"}
    assert set(types.values()) == {"true", "false"}
