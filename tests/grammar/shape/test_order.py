"""The order of the names that a schema declares."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.grammar.schema.parse import ParseOptions, parse_schema
from maskwright.grammar.shape.shapes import Shapes, name_order

A, B, C = ({name: {}} for name in "abc")
ORDERS: list[tuple[Any, str]] = [
    ({"properties": {"b": {}, "a": {}}}, "ba"),
    ({"allOf": [{"properties": B}], "properties": {"a": {}, "b": {}}}, "ba"),
    ({"properties": A, "allOf": [{"properties": C}, {"properties": B}]}, "acb"),
    ({"required": ["b", "a"], "properties": {"a": {}, "b": {}}}, "ab"),
    ({"$ref": "#/$defs/d", "properties": A, "$defs": {"d": {"properties": C}}}, "ca"),
    ({"allOf": [{"allOf": [{"properties": C}], "properties": B}], "properties": A}, "cba"),
    ({"oneOf": [{"properties": B}, {"properties": {"a": {}, "b": {}}}], "properties": C}, "bac"),
    ({"properties": {"a": {"properties": C}, "b": {}}, "items": {"properties": C}}, "ab"),
    ({"not": {"properties": C}, "properties": A}, "a"),
    ({"not": {"properties": {"c": {"const": 1}}}}, ""),
    ({"not": {"required": ["c"]}, "required": ["a"], "dependentRequired": {"a": ["a"]}}, ""),
    ({"if": {"properties": C}, "then": {"properties": B}, "properties": A}, "cba"),
]


@pytest.mark.parametrize(("document", "expected"), ORDERS, ids=str)
def test_names_come_as_the_document_has_them(document: Any, expected: str) -> None:
    root = parse_schema(document, ParseOptions()).root
    assert "".join(name_order([root])) == expected
    for shape in Shapes().normal_form(frozenset([root])).objects:
        assert "".join(shape.names[: shape.declared]) == expected
