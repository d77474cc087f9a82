from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from maskwright.cli.input.shipped import shipped
from maskwright.grammar.dialects.read import read_grammar
from maskwright.mask import compile_json_schema
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
    grammar = compile_json_schema(schema, VOCABULARY, whitespace="compact", escapes="needed")
    return covered_schema(schema, grammar, grammar.min_tokens + 150, 0)


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


def test_what_no_value_can_use_is_missing() -> None:
    schema = {"anyOf": [{"const": 1}, {"type": "integer", "maximum": 0, "minimum": 3}]}
    assert covered(schema).missing == ("/anyOf/1",)


def test_the_texts_of_a_grammar_name_what_they_use() -> None:
    found = covered_rules(read_grammar('root ::= "a" | x\nx ::= "b"').rules)
    assert dict(found.texts) == {"a": ("root:1",), "b": ("root:2", "x:1")}
    assert (found.missing, found.alternatives) == ((), 3)
