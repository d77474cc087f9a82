"""The format of calls that a chat template shows."""

from __future__ import annotations

import pytest

from maskwright.grammar.tools.formats import tool_format_names
from maskwright.server.recipes import tool_format_of
from tests.grammar.tools.test_tools import FORMATS

WITHOUT_MARKS = {
    "json": "json",
    "llama_pythonic": "json",  # by the example in its template
    "llama3_json": "json",  # by a mark that stands elsewhere in its template
}
"""Formats whose calls have nothing that other texts don't: what is taken for them."""


@pytest.mark.parametrize("format", FORMATS)
def test_the_marks_of_a_family_tell_its_format(format: str) -> None:
    one, two = FORMATS[format]
    for call in filter(None, (one, two)):
        template = "{% for m in messages %}" + call + "{% endfor %}"
        assert tool_format_of(template) == WITHOUT_MARKS.get(format, format)


@pytest.mark.parametrize(
    ("template", "format"),
    [
        ("", "json"),
        ("[func_name1(params_name1=params_value1)]", "llama_pythonic"),
        ('{{- "<|python_tag|>" + call }}', "llama3_json"),
        # Of several marks the one that fewer families have counts:
        ("<tool_call><function=f>", "qwen_coder"),
        ("<tool_call>f<arg_key>", "glm"),
        ("[TOOL_CALLS]f[ARGS]", "mistral_v11"),
        ("<|python_tag|>[func_name1(params_name1", "llama_pythonic"),
        ("<｜tool▁call▁begin｜>function<｜tool▁sep｜>", "deepseek_v3"),
    ],
)
def test_templates(template: str, format: str) -> None:
    assert tool_format_of(template) == format


def test_every_format_exists() -> None:
    found = {tool_format_of("".join(FORMATS[format])) for format in FORMATS}
    assert found <= set(tool_format_names())
