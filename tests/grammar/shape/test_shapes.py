"""The normal form against `jsonschema`: a value fits the shape of a schema if it is an instance."""

from __future__ import annotations

import jsonschema
import pytest

from maskwright.grammar.schema.tree import Json
from maskwright.grammar.shape.shapes import Shapes
from tests.grammar.shape.semantics import VALUES, fits, schema

A1: Json = {"properties": {"a": {"const": 1}}, "required": ["a"]}
LIST: Json = {"type": "array", "items": {"$ref": "#"}, "maxItems": 2}

DOCUMENTS: list[Json] = [
    {},
    True,
    False,
    {"type": "null"},
    {"type": ["integer", "object"]},
    {"type": ["integer", "number"]},
    {"const": 1},
    {"enum": [1, True, "a", [1], {"a": 1}, None]},
    {"enum": [1, 1.5, 12.5], "type": "integer"},
    {"enum": []},
    {"allOf": [{"enum": [1, 2, 3]}, {"enum": [3, 2.0, 7]}]},
    {"not": {"enum": [1, "a", None, False, []]}},
    {"not": {"type": "integer"}},
    {"minimum": 2, "not": {"multipleOf": 7}},
    {"allOf": [{"minimum": 1}, {"not": {"const": 2}}, {"multipleOf": 0.5}]},
    {"minLength": 1, "not": {"pattern": "^a"}},
    {"oneOf": [{"minLength": 1}, {"maxLength": 1}, {"type": "null"}]},
    {"if": {"maxLength": 1}, "then": {"pattern": "b"}, "else": {"minLength": 3}},
    {"prefixItems": [{"type": "integer"}], "items": {"type": "string"}},
    {"allOf": [{"prefixItems": [True, {"const": 2}]}, {"items": {"type": "integer"}}]},
    {"contains": {"const": 1}, "minContains": 2},
    {"contains": {"const": 1}, "minContains": 0, "maxContains": 1, "uniqueItems": True},
    {"not": {"uniqueItems": True}},
    {"not": {"items": {"type": "integer"}}},
    {"not": {"prefixItems": [True, {"const": 2}], "items": {"const": 3}}},
    {"minItems": 2, "maxItems": 1},
    {"properties": {"a": {"type": "integer"}}, "additionalProperties": False},
    {"patternProperties": {"^a": {"type": "integer"}}, "properties": {"a": {"minimum": 1}}},
    {"required": ["a", "b"], "maxProperties": 1},
    {"required": ["a"], "properties": {"a": False}},
    {"required": ["a"], "properties": {"a": False}, "anyOf": [True, {"minimum": 1}]},
    {"propertyNames": {"pattern": "^a"}, "minProperties": 1},
    {"not": {"propertyNames": {"maxLength": 1}}},
    {"not": {"properties": {"a": {"type": "integer"}}, "required": ["b"]}},
    {"not": {"patternProperties": {"^a": {"const": 1}}, "additionalProperties": {"const": 2}}},
    {"dependentRequired": {"a": ["b"]}},
    {"dependentSchemas": {"b": A1}},
    {"anyOf": [A1, {"type": "array", "items": A1}]},
    {"oneOf": [A1, {"required": ["b"]}]},
    {"properties": {"a": {"$ref": "#"}}, "additionalProperties": False, "type": "object"},
    LIST,
    {"not": LIST},
]


@pytest.mark.parametrize("document", DOCUMENTS, ids=str)
def test_values_of_a_shape_are_the_instances(document: Json) -> None:
    validator = jsonschema.Draft202012Validator(document)
    shapes, root = Shapes(), frozenset([schema(document)])
    assert [v for v in VALUES if fits(shapes, root, v) != validator.is_valid(v)] == []


PAIRS: list[tuple[Json, Json]] = [
    ({"type": "integer"}, {"minimum": 2}),
    ({"properties": {"a": {"type": "integer"}}}, {"required": ["a"]}),
    ({"items": {"type": "integer"}}, {"anyOf": [{"minItems": 2}, {"type": "object"}]}),
    ({"enum": [1, "a"]}, False),
]


@pytest.mark.parametrize(("left", "right"), PAIRS, ids=str)
def test_values_of_a_conjunction_satisfy_all_of_it(left: Json, right: Json) -> None:
    validator = jsonschema.Draft202012Validator({"allOf": [left, right]})
    shapes, both = Shapes(), frozenset([schema(left), schema(right)])
    assert [v for v in VALUES if fits(shapes, both, v) != validator.is_valid(v)] == []


def test_a_shape_is_made_once() -> None:
    shapes, root = Shapes(), frozenset([schema({"type": "object"})])
    assert shapes.normal_form(root) is shapes.normal_form(root)


@pytest.mark.parametrize("around", [[], [{"required": ["x"]}, True]], ids=["alone", "in a union"])
def test_names_keep_the_order_of_the_document(around: list[Json]) -> None:
    """In each branch, also where a part that comes later in it declares a name first."""
    first = {"properties": {"c": {}, "a": {}}}
    document: Json = {"allOf": [first], "properties": {"b": {}, "a": {}}}
    if around:
        document["anyOf"] = around
    for shape in Shapes().normal_form(frozenset([schema(document)])).objects:
        assert shape.names[: shape.declared] == ("c", "a", "b")
