"""Negation against the naive meaning: each value satisfies a schema or its opposite, not both."""

from __future__ import annotations

from typing import get_args

import pytest

from maskwright.grammar.regular.terms import words
from maskwright.grammar.schema.tree import (
    Assertion,
    Contains,
    DigitsOnly,
    Items,
    Json,
    NotUniqueItems,
    NotValues,
    Properties,
    Required,
    Schema,
    SomeMember,
    TypeIs,
    Unevaluated,
    negated,
)
from maskwright.grammar.shape.negation import NEGATIONS, negate
from tests.grammar.shape.semantics import VALUES, satisfies, schema

DOCUMENTS: list[Json] = [
    {},
    {"type": "integer"},
    {"type": "number"},
    {"type": ["integer", "string"]},
    {"type": ["null", "boolean", "number", "string", "array", "object"]},
    {"enum": [1, "a", None, [1], {"a": 1}]},
    {"const": True},
    {"minimum": 1, "exclusiveMaximum": 7},
    {"exclusiveMinimum": 1},
    {"multipleOf": 1.5},
    {"pattern": "^a"},
    {"minLength": 1, "maxLength": 2},
    {"prefixItems": [{"type": "integer"}, {}], "items": {"type": "string"}},
    {"prefixItems": [{}], "items": False},
    {"minItems": 1, "maxItems": 2},
    {"contains": {"type": "integer"}},
    {"contains": {"const": 1}, "minContains": 0, "maxContains": 1},
    {"uniqueItems": True},
    {"properties": {"a": {"type": "integer"}, "b": {}}},
    {"properties": {"a": False}},
    {"patternProperties": {"^a": {"type": "integer"}}, "additionalProperties": False},
    {"required": ["a"]},
    {"required": ["a", "b"]},
    {"properties": {"a": {"type": "string"}}, "required": ["b"]},
    {"allOf": [{"properties": {"a": {"type": "integer"}}}, {"properties": {"a": {"minimum": 5}}}]},
    {"propertyNames": {"maxLength": 1}},
    {"minProperties": 1, "maxProperties": 2},
    {"dependentRequired": {"a": ["b", "c"]}},
    {"dependentSchemas": {"a": {"minProperties": 2}}},
    {"anyOf": [{"type": "integer"}, {"minLength": 2}]},
    {"oneOf": [{"type": "integer"}, {"minimum": 2}, {"type": "string"}]},
    {"not": {"type": "object"}},
    {"if": {"type": "object"}, "then": {"required": ["a"]}, "else": {"type": "integer"}},
]


@pytest.mark.parametrize("document", DOCUMENTS, ids=str)
def test_a_value_satisfies_a_schema_or_its_negation(document: Json) -> None:
    root = schema(document)
    opposite = Schema("", (negate(root.assertions, ""),))
    assert [v for v in VALUES if satisfies(root, v) == satisfies(opposite, v)] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=str)
def test_a_negation_is_negated_back(document: Json) -> None:
    root = schema(document)
    opposite = Schema("", (negate(root.assertions, ""),))
    twice = Schema("", (negate(opposite.assertions, ""),))
    assert [v for v in VALUES if satisfies(root, v) != satisfies(twice, v)] == []


FREE, INTEGER = Schema(""), Schema("", (TypeIs(frozenset(["integer"])),))
WITHOUT_KEYWORD: list[Assertion] = [
    NotValues((1, "a", None)),
    NotUniqueItems(),
    Contains(INTEGER, 1, 2, start=1),
    Items((INTEGER,), FREE),
    SomeMember({"a": INTEGER}, ()),
    SomeMember({"a": INTEGER}, ((words(["b", "ab"]), INTEGER),), ("c",)),
]


@pytest.mark.parametrize("assertion", WITHOUT_KEYWORD, ids=lambda each: type(each).__name__)
def test_assertions_that_only_negation_makes(assertion: Assertion) -> None:
    root = Schema("", (assertion,))
    opposite = Schema("", (negate(root.assertions, ""),))
    assert [v for v in VALUES if satisfies(root, v) == satisfies(opposite, v)] == []


def test_every_assertion_has_a_negation() -> None:
    joined = {Properties, Required}
    assert set(NEGATIONS) | joined == set(get_args(Assertion)) - {Unevaluated}


def test_a_negation_is_made_once_and_not_looked_into() -> None:
    recursive = schema({"properties": {"a": {"$ref": "#"}}, "required": ["a"]})
    assert negated(recursive) is negated(recursive)
    assert negated(negated(recursive)) is recursive
    assert negated(Schema("")).never
    assert not negated(schema(False)).never


def test_properties_and_required_are_negated_without_a_union() -> None:
    """One option, not one for each keyword, which would double every conjunction that it is in."""
    root = schema({"properties": {"a": {"type": "integer"}, "b": {"const": 1}}, "required": ["c"]})
    (option,) = negate(root.assertions, "").options
    kinds = [type(each) for each in option.assertions]
    assert kinds == [TypeIs, SomeMember]


def test_no_value_breaks_a_preferred_spelling() -> None:
    """A negation of it would allow `1.0` where no integer is allowed."""
    opposite = negate((DigitsOnly(preferred=True),), "")
    assert [value for value in VALUES if satisfies(Schema("", (opposite,)), value)] == []
