"""Schemas that refer to themselves about one and the same value."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright import compile_json_schema
from maskwright.errors import SchemaError
from maskwright.grammar.schema.parse import parse_schema
from maskwright.grammar.schema.parse_options import ParseOptions
from tests.matching import EVERY_BYTE

X: Any = {"$ref": "#/$defs/x"}
CIRCLES: list[Any] = [
    X,
    {"allOf": [{"type": "object"}, X]},
    {"anyOf": [True, X]},
    {"oneOf": [{"type": "null"}, X]},
    {"not": X},
    {"if": X},
    {"if": {"type": "null"}, "then": X},
    {"if": {"type": "null"}, "else": X},
    {"dependentSchemas": {"a": X}},
    {"$dynamicAnchor": "x", "$dynamicRef": "#x"},
    {"anyOf": [{"$ref": "#/$defs/y"}, True]},
]
NO_CIRCLES: list[Any] = [
    {"properties": {"a": X}},
    {"anyOf": [{"type": "null"}, {"items": X}]},
    {"allOf": [{"$ref": "#/$defs/z"}, {"$ref": "#/$defs/z"}]},
    {"not": {"contains": X}},
    {"unevaluatedProperties": X},
]


def defined(schema: Any) -> dict[str, Any]:
    below = {"type": "object", "properties": {"a": X}}
    return {"$defs": {"x": schema, "y": {"not": X}, "z": below}}


@pytest.mark.parametrize("circle", CIRCLES, ids=str)
def test_a_document_that_is_one_is_refused(circle: Any) -> None:
    with pytest.raises(SchemaError, match="refers to itself without end"):
        parse_schema({**X, **defined(circle)}, ParseOptions())


@pytest.mark.parametrize("circle", CIRCLES, ids=str)
@pytest.mark.parametrize("around", [X, {"not": X}, {"anyOf": [X, {"type": "null"}]}], ids=str)
def test_one_within_a_document_has_no_value(circle: Any, around: Any) -> None:
    """So that what is around it can be used, and no answer fails midway."""
    members = {"a": around, "b": {"const": 1}}
    shape = {"type": "object", "properties": members, "additionalProperties": False}
    shape |= defined(circle)
    grammar = compile_json_schema(shape, EVERY_BYTE, whitespace="compact")
    assert [entry.note for entry in grammar.report.annotations if entry.note] == [
        "refers to itself without end, about one and the same value: no value satisfies it"
    ]
    matcher = grammar.matcher()
    assert matcher.accept_bytes(b'{"a') == len('{"')
    assert matcher.accept_bytes(b'b":1}') == len('b":1}')
    assert matcher.accepting


@pytest.mark.parametrize("schema", NO_CIRCLES, ids=str)
def test_other_recursion_is_none(schema: Any) -> None:
    parsed = parse_schema({**X, **defined(schema)}, ParseOptions())
    assert not any(one.never for one in parsed.schemas.values())
