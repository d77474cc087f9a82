"""What is unevaluated, against `jsonschema`, which keeps account of it while it validates."""

from __future__ import annotations

import jsonschema
import pytest

from maskwright.errors import LimitError
from maskwright.grammar.schema.tree import AnyOf, Json, Unevaluated
from maskwright.grammar.shape.shapes import Shapes
from maskwright.grammar.shape.unevaluated import ResolvedAssertions
from maskwright.limits import Limits, Work
from tests.bounds import counted_calls
from tests.grammar.shape.semantics import VALUES, fits, schema

A: Json = {"properties": {"a": True}}
B: Json = {"properties": {"b": {"const": 1}}}
NONE: Json = {"unevaluatedProperties": False}
NO_ITEMS: Json = {"unevaluatedItems": False}

DOCUMENTS: list[Json] = [
    NONE,
    {**A, **NONE},
    {**A, "unevaluatedProperties": {"type": "integer"}},
    {"additionalProperties": True, **NONE},
    {"patternProperties": {"^a": True}, **NONE},
    {"allOf": [A, B], **NONE},
    {"anyOf": [{**A, "required": ["a"]}, {**B, "required": ["b"]}], **NONE},
    {"oneOf": [{**A, "required": ["a"]}, {**B, "required": ["b"]}], **NONE},
    {"anyOf": [{**A, "minProperties": 1}, {"type": "array"}, False], **NONE},
    {"if": {**A, "required": ["a"]}, "then": B, "else": {"properties": {"c": True}}, **NONE},
    {"not": A, **NONE},
    {"dependentSchemas": {"a": B}, **A, **NONE},
    {"allOf": [{**A, **NONE}], **B},
    {"allOf": [{**A, "unevaluatedProperties": {"minimum": 1}}], **NONE},
    {"$ref": "#/$defs/a", **NONE, "$defs": {"a": A}},
    {"not": {**A, **NONE}},
    NO_ITEMS,
    {"prefixItems": [True], **NO_ITEMS},
    {"prefixItems": [True], "items": {"type": "integer"}, **NO_ITEMS},
    {"contains": {"type": "integer"}, **NO_ITEMS},
    {"contains": {"const": 1}, "unevaluatedItems": {"type": "string"}},
    {"anyOf": [{"prefixItems": [{"const": 1}]}, {"prefixItems": [True, {"const": 2}]}], **NO_ITEMS},
    {"if": {"minItems": 2}, "then": {"items": True}, "else": {"prefixItems": [True]}, **NO_ITEMS},
]


@pytest.mark.parametrize("document", DOCUMENTS, ids=str)
def test_values_as_the_validator_has_them(document: Json) -> None:
    validator = jsonschema.Draft202012Validator(document)
    shapes, root = Shapes(), frozenset([schema(document)])
    differing = [v for v in VALUES if fits(shapes, root, v) != validator.is_valid(v)]
    assert differing == []


def test_a_schema_is_not_changed_and_its_cases_are_made_once() -> None:
    root = schema({**A, **NONE})
    before = root.assertions
    resolved = ResolvedAssertions()
    assert resolved.assertions(root) is resolved.assertions(root)
    assert not any(isinstance(each, Unevaluated) for each in resolved.assertions(root))
    assert root.assertions is before


def test_a_schema_without_it_is_left_alone() -> None:
    root = schema(A)
    assert ResolvedAssertions().assertions(root) is root.assertions


def test_options_of_which_one_holds_are_not_multiplied() -> None:
    """Thirty options are thirty cases of `oneOf`, and 2 to the power of 30 subsets."""
    options = [{"properties": {f"p{at}": True}} for at in range(30)]
    (union,) = ResolvedAssertions().assertions(schema({"oneOf": options, **NONE}))
    assert len(union.options) == 30  # type: ignore[union-attr]


@pytest.mark.parametrize("option", [True, A], ids=str)
def test_too_many_cases_are_refused(option: Json) -> None:
    root = schema({"properties": {"x": {"anyOf": [option] * 20, **NONE}}})
    inner = root.assertions[0].named["x"]  # type: ignore[union-attr]
    with pytest.raises(LimitError, match="fewer branches") as raised:
        ResolvedAssertions(Limits(alternatives=100)).assertions(inner)
    assert (raised.value.limit, raised.value.pointer) == ("alternatives", "/properties/x")


def test_options_without_values_are_counted_too() -> None:
    """They make no cases, so that only the count of work ends the search."""
    with counted_calls() as calls, Work(Limits(work=10_000)), pytest.raises(LimitError) as raised:
        ResolvedAssertions().assertions(schema({"anyOf": [False] * 40, **NONE}))
    assert raised.value.limit == "work"
    assert calls.count < 10 * 10_000


def test_too_many_cases_are_refused_before_any_are_made() -> None:
    options = [{"properties": {f"p{at}": True}} for at in range(13)]
    root = schema({"anyOf": options, "unevaluatedProperties": False})
    with counted_calls() as calls, pytest.raises(LimitError):
        ResolvedAssertions().assertions(root)
    assert calls.count < 500


def test_the_cases_of_an_option_are_made_once() -> None:
    options = [{"allOf": [{"properties": {f"p{at}": True}}] * 10} for at in range(8)]
    root = schema({"anyOf": options, "unevaluatedProperties": False})
    with counted_calls() as calls:
        (union,) = ResolvedAssertions().assertions(root)
    assert isinstance(union, AnyOf)
    assert len(union.options) == 2**8 - 1
    assert calls.count < 20_000
