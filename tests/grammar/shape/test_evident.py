"""A value that is evident is there: held against a search, and against each kind of assertion."""

from __future__ import annotations

import random
from typing import Any

import pytest

from maskwright.automaton.satisfy.shortest import ShortestValues
from maskwright.errors import LimitError
from maskwright.grammar.schema.tree import Json
from maskwright.grammar.shape.evident import EvidentValues
from tests.automaton.solving import conjunction, solver
from tests.properties.algebra_cases import ALGEBRA
from tests.properties.container_cases import CONTAINERS
from tests.properties.schema_cases import CASES
from tests.properties.schemas import combined, schema

A_B: dict[str, Any] = {"properties": {"a": {}, "b": {}}}
NODE: dict[str, Any] = {"type": "object", "properties": {"next": {"$ref": "#"}}}
EVIDENT: list[tuple[Json, bool]] = [
    ({}, True),
    (False, False),
    ({"enum": [None]}, True),
    ({"enum": [[]]}, False),  # nobody looks into it for half a surrogate pair
    ({"enum": []}, False),
    ({"enum": ["\ud800"]}, False),
    ({"type": "string", "enum": [1]}, False),
    ({"type": "string", "enum": [1, "a"]}, True),
    ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "null"}}}, True),
    ({"allOf": [{"type": "string"}, {"type": "null"}]}, False),
    ({"allOf": [{"type": "number"}, {"type": "integer"}]}, True),
    ({"anyOf": [False, {"type": "null"}]}, True),
    ({"anyOf": [False, {"type": "null"}], "type": "string"}, False),
    ({"anyOf": [{"required": ["a"]}], "type": "object", **A_B}, False),  # both are of objects
    ({"oneOf": [{"type": "null"}]}, False),
    ({"not": {"type": "null"}}, False),
    # strings
    ({"type": "string", "minLength": 3}, True),
    ({"type": "string", "pattern": "^a+$"}, True),
    ({"type": "string", "pattern": "^a+$", "minLength": 3}, False),
    ({"type": ["string", "null"], "pattern": "^a+$", "minLength": 3}, True),
    ({"type": "string", "minLength": 3, "maxLength": 2}, False),
    # numbers
    ({"type": "integer", "minimum": 3}, True),
    ({"type": "integer", "exclusiveMinimum": 3}, True),
    ({"type": "integer", "exclusiveMinimum": 3, "exclusiveMaximum": 4}, False),
    ({"type": "number", "exclusiveMinimum": 3, "exclusiveMaximum": 4}, False),  # but there is one
    ({"type": "integer", "minimum": 5, "multipleOf": 5}, True),
    ({"type": "integer", "minimum": 2, "maximum": 4, "multipleOf": 5}, False),
    ({"type": "number", "minimum": 7, "multipleOf": 7e-300}, True),
    ({"type": "number", "minimum": 1e-300, "maximum": 1e-280, "multipleOf": 7e-300}, False),
    # arrays
    ({"type": ["string", "array"], "uniqueItems": True}, True),
    ({"type": "array", "items": False}, True),
    ({"type": "array", "items": False, "minItems": 1}, False),
    ({"type": "array", "items": False, "prefixItems": [{}], "minItems": 1}, True),
    ({"type": "array", "items": False, "prefixItems": [{}], "minItems": 2}, False),
    ({"type": "array", "minItems": 1, "maxItems": 0}, False),
    ({"type": "array", "minItems": 2, "uniqueItems": True}, False),
    ({"type": "array", "contains": {}}, False),
    # objects
    ({"type": "object", "properties": {"a": False}}, True),
    ({"type": "object", "required": ["a"]}, True),
    ({"type": "object", "required": ["a"], "properties": {"a": False}}, False),
    ({"type": "object", "required": ["a"], "additionalProperties": False}, False),
    ({"type": "object", "required": ["a"], "additionalProperties": False, **A_B}, True),
    ({"type": "object", "required": ["\ud800"]}, False),
    ({"type": "object", "required": ["a"], "patternProperties": {"b": False}}, False),
    ({"type": "object", "required": ["a"], "propertyNames": {"maxLength": 1}}, False),
    ({"type": "object", "required": ["a"], "minProperties": 1}, True),
    ({"type": "object", "required": ["a"], "minProperties": 2}, False),
    ({"type": "object", "required": ["a"], "maxProperties": 0}, False),
    ({"allOf": [{"required": ["a"]}, A_B, {"type": "object"}]}, True),
    (NODE, True),
    ({**NODE, "required": ["next"]}, False),
]


@pytest.mark.parametrize(("document", "expected"), EVIDENT, ids=str)
def test_evident(document: Json, expected: bool) -> None:
    assert bool(EvidentValues({}).has_value(conjunction(document))) is expected


def test_a_value_within_many_levels_is_left_to_a_search() -> None:
    deep: Any = {"type": "null"}
    for _ in range(100):
        deep = {"type": "array", "items": deep, "minItems": 1}
    assert not EvidentValues({}).has_value(conjunction(deep))
    assert solver().satisfiable(conjunction(deep))


def test_a_value_that_is_too_large_is_left_to_a_search() -> None:
    tree: dict[str, Any] = {"n0": {"type": "null"}}
    for at in range(1, 16):
        below = {"$ref": f"#/$defs/n{at - 1}"}
        tree[f"n{at}"] = {"type": "array", "items": below, "minItems": 2}
    for at, expected in ((10, True), (15, False)):
        document = {"$ref": f"#/$defs/n{at}", "$defs": tree}
        assert bool(EvidentValues({}).has_value(conjunction(document))) is expected


def documents() -> list[Json]:
    drawn = random.Random(11)
    listed = [case.schema for case in (*CASES, *ALGEBRA, *CONTAINERS)]
    return listed + [make(drawn) for make in (schema, combined) for _ in range(400)]


def test_what_is_evident_is_found_by_a_search() -> None:
    confirmed = 0
    for document in documents():
        value = conjunction(document)
        if EvidentValues({}).has_value(value):
            try:
                found = ShortestValues(solver().values).of(value)
            except LimitError:
                continue
            assert found is not None, document
            confirmed += 1
    assert confirmed > 200
