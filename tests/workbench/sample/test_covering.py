from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import jsonschema
import pytest

from maskwright.grammar.dialects.read import read_grammar
from maskwright.mask import Grammar, compile_json_schema
from maskwright.shipped import shipped
from maskwright.workbench.reading import byte_vocabulary
from maskwright.workbench.sample.covering import (
    Covered,
    SchemaCoverage,
    covered_rules,
    covered_schema,
)

VOCABULARY = byte_vocabulary()
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "kind": {"enum": ["a", 2, None]},
        "either": {"anyOf": [{"type": "integer"}, {"$ref": "#/$defs/list"}]},
    },
    "patternProperties": {"^x": {"type": "boolean"}},
    "additionalProperties": {"const": 7},
    "$defs": {"list": {"type": "array", "items": {"$ref": "#"}, "prefixItems": [{"const": 1}]}},
}


@pytest.mark.parametrize(
    ("value", "used"),
    [
        ({}, {""}),
        ({"kind": 2}, {"", "/properties/kind", "/properties/kind/enum/1"}),
        ({"xy": True}, {"", "/patternProperties/^x"}),
        ({"o": 7}, {"", "/additionalProperties"}),
        ({"either": 1}, {"", "/properties/either", "/properties/either/anyOf/0"}),
        (
            {"either": [1, {"o": 7}]},
            {
                "",
                "/properties/either",
                "/properties/either/anyOf/1",
                "/$defs/list",
                "/$defs/list/prefixItems/0",
                "/$defs/list/items",
                "/additionalProperties",
            },
        ),
    ],
)
def test_what_a_value_uses(value: Any, used: set[str]) -> None:
    coverage = SchemaCoverage(SCHEMA)
    assert coverage.of(value) == used
    assert used <= coverage.items
    assert len(coverage.items) == 13


def covered(schema: Any) -> Covered:
    def compiled(wanted: Any, documents: Mapping[str, Any]) -> Grammar:
        return compile_json_schema(
            wanted, VOCABULARY, whitespace="compact", escapes="needed", documents=documents
        )

    return covered_schema(schema, compiled, None, 0)


SLOW = ("contact", "event", "invoice", "log_line", "product", "resume")
"""Shipped schemas for which many texts are tried."""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name
        for name in shipped("schema")
    ],
)
def test_shipped_schemas_are_covered_by_valid_values(name: str) -> None:
    schema = json.loads(shipped("schema")[name].file.read_bytes())
    found = covered(schema)
    assert found.missing == ()
    assert {each for _, names in found.texts for each in names} == SchemaCoverage(schema).items
    for text, _ in found.texts:
        jsonschema.validate(json.loads(text), schema)


TWO = {"anyOf": [{"minimum": 5, "type": "number"}, {"type": "object", "required": ["xyz"]}]}
TWO_STRINGS = [
    {"type": "string", "pattern": "^[0-9a-f]{8}-x$"},
    {"type": "string", "pattern": "^a{3}$"},
]


@pytest.mark.parametrize(
    ("schema", "missing"),
    [
        ({"anyOf": TWO_STRINGS}, ()),
        ({"oneOf": [{"type": "string", "pattern": "^[b-z]+:"}, *TWO_STRINGS]}, ()),
        ({"anyOf": [{"type": "string", "format": name} for name in ("email", "ipv4", "date")]}, ()),
        ({"properties": {"a/b": {"anyOf": TWO_STRINGS, "allOf": [{"maxLength": 40}]}}}, ()),
        ({"properties": {"a": {"anyOf": TWO_STRINGS, "maxLength": 4}}}, ("/properties/a/anyOf/0",)),
        (  # parts of what is met only if a listed name is, and only in the second item
            {"properties": {"list": {"prefixItems": [{}, {"enum": [5, "abc"]}], "items": TWO}}},
            (),
        ),
        ({"anyOf": [*TWO_STRINGS, {"type": "array", "items": {"$ref": "#"}}]}, ()),
        ({"properties": {"next": {"$ref": "#"}, "kind": {"enum": ["x", "y"]}}}, ()),
        (
            {
                "$schema": "http://json-schema.org/draft-04/schema#",
                "properties": {"list": {"items": {"$ref": "#/definitions/a b"}}},
                "definitions": {"a b": {"properties": {"c": {"anyOf": TWO_STRINGS}}}},
            },
            (),
        ),
        (
            {
                "properties": {"a": {"type": "string"}, "b": {"type": "string", "maxLength": 9}},
                "if": {"properties": {"a": {"const": "ab"}}, "required": ["a"]},
                "then": {"properties": {"b": {"pattern": "^b{7}$"}}, "required": ["b"]},
                "else": {"properties": {"b": {"pattern": "^c+$"}}},
            },
            (),
        ),
    ],
)
def test_what_random_texts_hardly_meet_is_used(schema: Any, missing: tuple[str, ...]) -> None:
    found = covered(schema)
    assert found.missing == missing
    for text, _ in found.texts:
        jsonschema.validate(json.loads(text), schema)


def test_what_no_value_can_use_is_missing() -> None:
    schema = {"anyOf": [{"const": 1}, {"type": "integer", "maximum": 0, "minimum": 3}]}
    assert covered(schema).missing == ("/anyOf/1",)


def test_the_texts_of_a_grammar_name_what_they_use() -> None:
    found = covered_rules(read_grammar('root ::= "a" | x\nx ::= "b"').rules)
    assert dict(found.texts) == {"a": ("root:1",), "b": ("root:2", "x:1")}
    assert (found.missing, found.alternatives) == ((), 3)
