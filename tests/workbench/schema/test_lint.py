from __future__ import annotations

import json
from typing import Any

import pytest

from maskwright.mask import compile_json_schema
from maskwright.shipped import shipped
from maskwright.workbench.reading import byte_vocabulary
from maskwright.workbench.schema.lint import lint_schema

VOCABULARY = byte_vocabulary()


def found(schema: Any) -> set[tuple[str, str]]:
    report = compile_json_schema(schema, VOCABULARY).report
    return {(f.rule, f.pointer) for f in lint_schema(schema, report)}


CLOSED = {"type": "object", "additionalProperties": False}


@pytest.mark.parametrize(
    ("schema", "findings"),
    [
        (True, set()),
        (CLOSED, set()),
        ({"type": "object", "maxProperties": 3}, set()),
        ({"type": "object"}, {("unbounded-object", "")}),
        ({"type": ["string", "null"]}, {("unbounded-string", "")}),
        ({"type": "string", "maxLength": 3}, set()),
        ({"type": "string", "enum": ["a"]}, set()),
        ({"type": "string", "format": "date"}, set()),
        ({"type": "string", "pattern": "^[a-z]{2,5}$"}, set()),
        ({"type": "string", "pattern": "^[a-z]+$"}, {("unbounded-string", "")}),
        (
            {"type": "string", "pattern": "[a-z]", "maxLength": 4},
            {("open-pattern", "/pattern")},
        ),
        ({"type": "integer", "maxLength": 3}, {("no-effect", "/maxLength")}),
        ({"type": ["integer", "null"], "minimum": 3}, set()),
        ({"enum": ["a", "a "]}, {("token-trap", "/enum/1")}),
        ({"enum": ["a", "b", "a"]}, {("repeated-value", "/enum/2")}),
        ({"enum": ["a", "A", "a"]}, {("token-trap", "/enum/1"), ("repeated-value", "/enum/2")}),
        ({"enum": [1, 1.0]}, {("repeated-value", "/enum/1")}),
        ({"enum": [{"a": 1, "b": 2}, {"b": 2.0, "a": 1}]}, {("repeated-value", "/enum/1")}),
        ({"enum": [1, True, "1", [1], None]}, set()),
        ({"oneOf": [{"type": "number"}, {"type": "integer"}]}, {("ambiguous", "/oneOf/1")}),
        (
            {"if": CLOSED, "then": {"dependentSchemas": {"a": {"type": "string"}}}},
            {("unbounded-string", "/then/dependentSchemas/a")},
        ),
        (
            {"type": "array", "items": {"type": "string"}},
            {("unbounded-array", ""), ("unbounded-string", "/items")},
        ),
        ({"type": "array", "prefixItems": [True], "items": False}, set()),
        ({"maxLenght": 3}, {("unknown-keyword", "/maxLenght")}),
        (
            {"properties": {"a": True}, "required": ["a", "b"]},
            {("required-unlisted", "/required/1")},
        ),
        (
            {"properties": {"answer": True, "reasoning": True}},
            {("reasons-last", "/properties/reasoning")},
        ),
        ({"properties": {"reasoning": True, "answer": True}}, set()),
        (
            {
                "$defs": {
                    "a": {},
                    "b": {"$ref": "#/$defs/c/x"},
                    "c": {"x": {}},
                    "d": {"$anchor": "e"},
                }
            },
            {
                ("demands-nothing", ""),
                ("unused-definition", "/$defs/a"),
                ("unused-definition", "/$defs/b"),
            },
        ),
        (
            {"anyOf": [{"const": 1}, {"type": "integer", "minimum": 3, "maximum": 2}]},
            {("unsatisfiable", "/anyOf/1")},
        ),
        (
            {"properties": {"a": {"allOf": [{"const": 1}, {"const": 2}]}, "b": False}},
            {("unsatisfiable", "/properties/a")},
        ),
    ],
)
def test_what_is_found(schema: Any, findings: set[tuple[str, str]]) -> None:
    assert found(schema) == findings


@pytest.mark.parametrize("name", list(shipped("schema")))
def test_the_shipped_schemas_have_no_warnings(name: str) -> None:
    schema = json.loads(shipped("schema")[name].file.read_bytes())
    report = compile_json_schema(schema, VOCABULARY).report
    findings = lint_schema(schema, report)
    assert [finding for finding in findings if finding.severity != "note"] == []
