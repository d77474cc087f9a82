"""Completions of levels of JSON in each phase of their reading, with every style of whitespace."""

from __future__ import annotations

import json
from typing import Any

import pytest

from maskwright import compile_json_schema
from tests.automaton.finish.test_completion import completion
from tests.matching import EVERY_BYTE, matches

PAIR = {
    "type": "object",
    "properties": {"a": {"const": 1}, "b": {"const": [2]}},
    "required": ["a", "b"],
    "additionalProperties": False,
}
TWO = {"type": "array", "items": {"const": 7}, "minItems": 2}
FREE = {"type": "object", "minProperties": 2}
UNIQUE = {"type": "array", "uniqueItems": True, "items": {"enum": ["a", "b", "cc"]}, "minItems": 3}
NESTED_UNIQUE = {
    "type": "array", "uniqueItems": True, "minItems": 2,
    "items": {"type": "array", "items": {"enum": [0, 1]}, "minItems": 2, "maxItems": 2},
}  # fmt: skip
REPEATED = {
    "not": {"type": "array", "uniqueItems": True},
    "type": "array",
    "items": {"enum": [1, 2]},
}
FORKS = {
    "type": "object",
    "properties": {"x": {"type": "array", "items": {"$ref": "#"}}, "long": TWO, "b": {"const": 1}},
    "additionalProperties": False,
    "anyOf": [{"required": ["long"]}, {"required": ["b"]}],
}

CASES: list[tuple[Any, str, str, str]] = [
    # schema, whitespace, text, completion
    # The first item or name
    (PAIR, "compact", "{", '"a":1,"b":[2]}'),
    (PAIR, "spaced", "{", '"a": 1, "b": [2]}'),
    (PAIR, "pretty", "{", '\n  "a": 1,\n  "b": [\n    2\n  ]\n}'),
    (TWO, "compact", "[", "7,7]"),
    (TWO, "pretty", "[", "\n  7,\n  7\n]"),
    ({"type": "array"}, "compact", "[", "]"),
    # A name, after a comma
    (PAIR, "compact", '{"a":1,', '"b":[2]}'),
    (FREE, "compact", '{"x":0,', '"":1}'),
    # A value
    (PAIR, "compact", '{"a":', '1,"b":[2]}'),
    (PAIR, "spaced", '{"a": ', '1, "b": [2]}'),
    (TWO, "compact", "[7,", "7]"),
    # A comma or the closing bracket
    (PAIR, "compact", '{"a":1', ',"b":[2]}'),
    (PAIR, "pretty", '{\n  "a": 1', ',\n  "b": [\n    2\n  ]\n}'),
    (TWO, "compact", "[7,7", "]"),
    # Levels below
    (PAIR, "compact", '{"a":1,"b":[2', "]}"),
    ({"type": "array", "items": TWO, "minItems": 2}, "compact", "[[7", ",7],[7,7]]"),
    # Levels below that are completed in several ways, and wait for one value
    (FORKS, "compact", '{"x":[', '],"b":1}'),
    (FORKS, "compact", '{"x":[{"x":[{', '"b":1}],"b":1}],"b":1}'),
    (FORKS, "compact", '{"x":[{"x":[{"long":[', '7,7]}],"b":1}],"b":1}'),
    # Items that must differ, by what has been read of the present one
    (UNIQUE, "compact", '["a","', 'b","cc"]'),
    (UNIQUE, "compact", '["b","a"', ',"cc"]'),
    (NESTED_UNIQUE, "compact", "[[0,0],[0,", "1]]"),
    (NESTED_UNIQUE, "compact", "[[0,1],[0,", "0]]"),
    (REPEATED, "compact", "[1,", "1]"),
    (REPEATED, "compact", "[2,1,", "1]"),
]


@pytest.mark.parametrize(("schema", "whitespace", "text", "expected"), CASES)
def test_completions_in_each_phase(schema: Any, whitespace: Any, text: str, expected: str) -> None:
    grammar = compile_json_schema(schema, EVERY_BYTE, whitespace=whitespace)
    assert completion(grammar, text) == expected.encode()
    assert matches(grammar, text + expected)
    json.loads(text + expected)
