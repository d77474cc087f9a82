"""What a schema document says: faults with their places, dialects, and the order of names."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.errors import LimitError, SchemaError, UnsupportedSchemaError
from maskwright.grammar.schema.order import name_order
from maskwright.grammar.schema.parse import ParseOptions, parse_schema
from maskwright.grammar.shape.shapes import Shapes
from maskwright.limits import Limits

NO_SCHEMA: list[tuple[Any, str]] = [
    ({"$defs": []}, "/$defs"),
    ({"$defs": {"a": 3}}, "/$defs/a"),
    ({"definitions": None}, "/definitions"),
    ({"$id": 3}, "/$id"),
    ({"properties": {"a": {"$anchor": []}}}, "/properties/a/$anchor"),
    ({"$schema": 7}, "/$schema"),
    ({"type": []}, "/type"),
    ({"type": [3]}, "/type"),
    ({"items": {"type": [{}]}}, "/items/type"),
    ({"pattern": "("}, "/pattern"),
    ({"pattern": "[z-a]"}, "/pattern"),
    ({"patternProperties": {"a{2,1}": {}}}, "/patternProperties/a{2,1}"),
]


@pytest.mark.parametrize(("document", "pointer"), NO_SCHEMA, ids=str)
def test_what_is_no_schema_is_refused_as_such(document: Any, pointer: str) -> None:
    with pytest.raises(SchemaError) as raised:
        parse_schema(document, ParseOptions())
    assert raised.value.pointer == pointer
    assert raised.value.code == "invalid_json_schema"


def test_a_pattern_that_is_not_regular_is_unsupported() -> None:
    with pytest.raises(UnsupportedSchemaError) as raised:
        parse_schema({"items": {"pattern": r"(a)\1"}}, ParseOptions())
    assert raised.value.pointer == "/items/pattern"


TOO_MUCH: list[tuple[Any, Limits, str, str]] = [
    ({"items": {"multipleOf": 0.123456789}}, Limits(), "divisor", "/items/multipleOf"),
    ({"multipleOf": 7}, Limits(divisor=6), "divisor", "/multipleOf"),
    ({"not": {"pattern": "a" * 30}}, Limits(pattern_length=29), "pattern_length", "/not/pattern"),
]


@pytest.mark.parametrize(("document", "limits", "limit", "pointer"), TOO_MUCH, ids=str)
def test_a_limit_names_its_place(document: Any, limits: Limits, limit: str, pointer: str) -> None:
    with pytest.raises(LimitError) as raised:
        parse_schema(document, ParseOptions(limits=limits))
    assert (raised.value.limit, raised.value.pointer) == (limit, pointer)
    assert pointer in raised.value.message


def test_limits_hold_as_given() -> None:
    """Both more and less than the defaults."""
    document = {"multipleOf": 2503, "type": "integer"}
    options = ParseOptions(limits=Limits(divisor=2503))
    root = frozenset([parse_schema(document, options).root])
    assert Shapes(options.limits).of(root).scalars.nullable is False
    wide = {
        "anyOf": [{"properties": {f"p{n}": {}}} for n in range(4)],
        "unevaluatedProperties": False,
    }
    for most, fits in ((40, True), (3, False)):
        limits = Limits(alternatives=most)
        root = frozenset([parse_schema(wide, ParseOptions(limits=limits)).root])
        if fits:
            assert Shapes(limits).of(root).objects
        else:
            with pytest.raises(LimitError) as raised:
                Shapes(limits).of(root)
            assert raised.value.limit == "alternatives"


VOCABULARY = "https://json-schema.org/draft/2020-12/vocab/"
META = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": "https://example.com/meta",
    "$vocabulary": {f"{VOCABULARY}core": True, f"{VOCABULARY}applicator": True},
}
USER = {
    "$schema": "https://example.com/meta",
    "properties": {"a": {"minimum": 3}, "b": False},
    "required": ["a"],
}


def test_a_vocabulary_left_out_makes_annotations_of_its_keywords() -> None:
    parsed = parse_schema(USER, ParseOptions(documents={"https://example.com/meta": META}))
    assert {entry.keyword for entry in parsed.report.enforced} == {"properties"}
    notes = {e.keyword: e.note for e in parsed.report.annotations}
    assert "vocabularies" in notes["minimum"]
    assert "vocabularies" in notes["required"]


def test_without_the_document_its_schema_is_read_as_by_default() -> None:
    parsed = parse_schema(USER, ParseOptions())
    assert {"minimum", "required"} <= {entry.keyword for entry in parsed.report.enforced}


def test_a_required_vocabulary_that_is_not_known_is_refused() -> None:
    for required in (True, False):
        vocabularies = {**META["$vocabulary"], "https://example.com/vocab/units": required}
        documents = {"https://example.com/meta": {**META, "$vocabulary": vocabularies}}
        if required:
            with pytest.raises(UnsupportedSchemaError) as raised:
                parse_schema(USER, ParseOptions(documents=documents))
            assert raised.value.pointer == "/$schema"
        else:
            parse_schema(USER, ParseOptions(documents=documents))


A, B, C = ({name: {}} for name in "abc")
ORDERS: list[tuple[Any, str]] = [
    ({"properties": {"b": {}, "a": {}}}, "ba"),
    ({"allOf": [{"properties": B}], "properties": {"a": {}, "b": {}}}, "ba"),
    ({"properties": A, "allOf": [{"properties": C}, {"properties": B}]}, "acb"),
    ({"required": ["b", "a"], "properties": {"a": {}, "b": {}}}, "ab"),
    ({"$ref": "#/$defs/d", "properties": A, "$defs": {"d": {"properties": C}}}, "ca"),
    ({"allOf": [{"allOf": [{"properties": C}], "properties": B}], "properties": A}, "cba"),
    ({"if": {"properties": C}, "then": {"properties": B}, "properties": A}, "cba"),
]


@pytest.mark.parametrize(("document", "expected"), ORDERS, ids=str)
def test_names_come_as_the_document_has_them(document: Any, expected: str) -> None:
    root = parse_schema(document, ParseOptions()).root
    assert "".join(name_order([root])) == expected
    for shape in Shapes().of(frozenset([root])).objects:
        assert "".join(shape.names[: shape.declared]) == expected
