"""How a `%json` asks for whitespace, as llguidance reads it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from maskwright import compile_grammar
from maskwright.errors import GrammarError
from maskwright.grammar.dialects.guidance_options import style_of
from tests.matching import EVERY_BYTE, matches

STYLES: list[tuple[Any, str]] = [
    (True, "flexible"),
    ({}, "flexible"),
    ({"x-guidance": {}}, "flexible"),
    ({"x-guidance": {"whitespace_flexible": False}}, "compact"),
    ({"x-guidance": {"item_separator": ", ", "key_separator": ": "}}, "flexible"),
    (
        {
            "x-guidance": {
                "whitespace_flexible": False,
                "item_separator": ", ",
                "key_separator": ": ",
                "coerce_one_of": True,
                "whitespace_pattern": None,
            }
        },
        "spaced",
    ),
    ({"x-guidance": {"whitespace_flexible": None, "whitespace_pattern": None}}, "flexible"),
]


@pytest.mark.parametrize(("schema", "style"), STYLES)
def test_styles(schema: Any, style: str) -> None:
    assert style_of(schema) == style
    grammar = compile_grammar(f"start: %json {json.dumps(schema)}", EVERY_BYTE)
    assert matches(grammar, '{"a":[1,2]}') == (style != "spaced")
    assert matches(grammar, '{"a": [1, 2]}') == (style != "compact")
    assert matches(grammar, '{ "a" :[1,2]}') == (style == "flexible")


@pytest.mark.parametrize(
    "options",
    [
        5,
        {"whitespace": False},
        {"whitespace_pattern": " *"},
        {"whitespace_flexible": 1},
        {"item_separator": ";"},
        {"item_separator": [","]},
        {"whitespace_flexible": False, "item_separator": ", "},
    ],
)
def test_what_cant_be_done_is_refused(options: Any) -> None:
    with pytest.raises(GrammarError, match="in this schema"):
        compile_grammar(f"start: %json {json.dumps({'x-guidance': options})}", EVERY_BYTE)
