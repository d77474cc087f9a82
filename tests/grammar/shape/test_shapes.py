"""The normal form against `jsonschema`: a value fits the shape of a schema if it is an instance."""

from __future__ import annotations

import jsonschema
import pytest

from maskwright.grammar.regular.terms import EMPTY, words
from maskwright.grammar.schema.tree import Json
from maskwright.grammar.shape import scalars
from maskwright.grammar.shape.shapes import Shapes
from maskwright.grammar.shape.unions import Branches
from tests.grammar.shape.semantics import VALUES, fits, schema

A1: Json = {"properties": {"a": {"const": 1}}, "required": ["a"]}
LIST: Json = {"type": "array", "items": {"$ref": "#"}, "maxItems": 2}

APART: list[Json] = [
    {"anyOf": [{"type": "string", "minLength": 2}, {"type": "object", **A1}, {"type": "null"}]},
    {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "number", "minimum": 2}]},
    {"anyOf": [{"enum": ["a", 1]}, {"type": "string", "pattern": "^b"}, False]},
    {
        "anyOf": [
            {"type": "object", "properties": {"b": {}, "a": False}, "required": ["a"]},
            {"type": "array", "minItems": 1, "contains": {"const": 1}},
        ]
    },
    {"anyOf": [{"$ref": "#/$defs/x"}, {"type": "null"}], "$defs": {"x": {"type": "object", **A1}}},
    {"anyOf": [{"type": "object", "required": ["b", "a"]}, {"type": "boolean"}]},
    {"oneOf": [{"type": "string"}, {"type": "object", **A1}, {"type": ["null", "integer"]}]},
    {"oneOf": [{"type": "array", "items": {"const": 1}}, {"enum": ["a", 1]}, False]},
]
"""Unions of which one option at most is for arrays, and one for objects; and where exactly one must
hold, for strings, and for other scalars."""

DOCUMENTS: list[Json] = [
    *APART,
    {"anyOf": [{"type": "object", **A1}, {"type": "object", "required": ["b"]}]},
    {"oneOf": [{"type": "object", **A1}, {"type": ["null", "integer"]}, {"type": "integer"}]},
    {"oneOf": [{"$ref": "#/$defs/x"}, {"$ref": "#/$defs/x"}], "$defs": {"x": {"type": "null"}}},
    {"anyOf": [{"type": "object", **A1}, {"type": "null", "properties": {"b": {}, "a": {}}}]},
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
    {"enum": ["a", "ab", "b"], "pattern": "a"},
    {"enum": ["a", "b"], "type": "integer"},
    {"enum": ["a", "b"], "not": {"const": "b"}},
    {"allOf": [{"enum": ["a", "b", 1]}, {"enum": ["b", "ab"]}]},
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


def test_a_list_of_strings_asks_no_questions_about_other_scalars(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scalars, "numbers_of", None)
    found = Shapes().normal_form(frozenset([schema({"enum": ["b", "a"]})]))
    assert (found.strings, found.scalars) == (words(["a", "b"]), EMPTY)
    assert (found.arrays, found.objects) == ((), ())


@pytest.mark.parametrize("document", APART, ids=str)
def test_options_apart_have_the_shape_of_any_union(
    document: Json, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their shapes are put together; branches would be multiplied out type by type."""
    value = frozenset([schema(document)])
    with monkeypatch.context() as patch:
        patch.setattr(Branches, "branches", None)
        found = Shapes().normal_form(value)
    monkeypatch.setattr(Shapes, "_union", lambda *_: None)
    expected = Shapes().normal_form(value)
    assert (found.strings, found.scalars) == (expected.strings, expected.scalars)
    for one, other in zip(
        (*found.arrays, *found.objects), (*expected.arrays, *expected.objects), strict=True
    ):
        kept = {*one.__struct_fields__} - {"others", "verdicts"}
        assert [getattr(one, name) for name in kept] == [getattr(other, name) for name in kept]


@pytest.mark.parametrize(
    "document",
    [
        {"enum": ["a", "ab", "b"], "pattern": "a"},
        {"allOf": [{"enum": ["a", "ab", "b"]}, {"pattern": "a"}]},
        {"if": {"pattern": "a"}, "then": {"enum": ["a", "ab", "b"]}, "else": False},
    ],
    ids=str,
)
def test_words_beside_a_pattern_are_a_list(document: Json) -> None:
    shape = Shapes().normal_form(frozenset([schema(document)]))
    assert shape.strings is words(["a", "ab"])
