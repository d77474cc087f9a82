"""What demands less than its author is likely to think is reported, with the way out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from maskwright.grammar.schema.drafts import KEYWORDS, READ_BY_NAME, Draft
from maskwright.grammar.schema.parse import ParseOptions, parse_schema
from maskwright.grammar.schema.remarks import looks_like_schema
from tests.grammar.shape.semantics import satisfies

TEXT: dict[str, Any] = {"type": "string"}
ORDER: dict[str, Any] = {"type": "object", "properties": {"id": {"type": "integer"}}}


def remarks(document: Any, **options: Any) -> list[tuple[str, str]]:
    """The rule and the place of each remark."""
    report = parse_schema(document, ParseOptions(**options)).report
    return [(each.rule, each.place) for each in report.annotations if each.rule]


def warnings(document: Any) -> str:
    return "\n".join(parse_schema(document, ParseOptions()).report.warnings)


@pytest.mark.parametrize(
    ("document", "way_out"),
    [
        ({"name": "order", "schema": ORDER}, "the schema stands in 'schema'; give that alone"),
        ({"name": "f", "parameters": ORDER, "strict": True}, "stands in 'parameters'"),
        ({"function": {"name": "f", "parameters": ORDER}}, "stands in 'function.parameters'"),
        ({"name": TEXT, "age": {"type": "integer"}}, '"properties": {"name": …}'),
        ({"name": TEXT, "free": True}, '"properties": {"name": …}'),
        ({"title": "Person", "name": TEXT}, '"properties": {"name": …}'),
        (
            {"openapi": "3.1.0", "paths": {}, "components": {"schemas": {"Order": ORDER}}},
            '"$ref": "#/components/schemas/Order"',
        ),
        ({"swagger": "2.0", "definitions": {"Order": ORDER}}, '"$ref": "#/definitions/Order"'),
        ({"openapi": "3.1.0", "paths": {}}, '"$ref": "#/definitions/NAME"'),
        ({"$defs": {"Order": ORDER}}, '"$ref": "#/$defs/Order"'),
        ({"title": "x", "description": "y"}, "say its 'type'"),
        ({"requirements": ["a"]}, "say its 'type'"),
    ],
    ids=str,
)
def test_a_schema_that_demands_nothing(document: Any, way_out: str) -> None:
    assert ("demands-nothing", "") in remarks(document)
    assert way_out in warnings(document)
    beside = {"type": "object", **document}
    assert ("demands-nothing", "") not in remarks(beside)


@pytest.mark.parametrize(
    "document",
    [
        True,
        {},
        {"$schema": "https://json-schema.org/draft/2020-12/schema", "$comment": "any"},
        {"type": "object", "properties": {"a": {}, "b": {"title": "B"}, "c": True}},
        {"type": "object", "properties": {"schema": ORDER, "parameters": {"title": "any"}}},
        {"$ref": "#/$defs/a", "$defs": {"a": TEXT}},
        {"enum": [None, {"type": None}]},
        {"const": None},
        {"type": "string", "default": None, "example": {"type": "string"}},
        {"type": "string", "x-shape": {"type": "string"}},
        {"type": "array", "items": {"type": "number", "format": "double"}},
    ],
    ids=str,
)
def test_what_needs_no_remark(document: Any) -> None:
    assert remarks(document) == []


def test_an_inner_schema_that_is_a_bare_map_or_a_wrapper() -> None:
    inner = {"street": TEXT, "city": TEXT}
    document = {"type": "object", "properties": {"address": inner, "order": {"schema": ORDER}}}
    assert remarks(document) == [
        ("demands-nothing", "/properties/address"),
        ("demands-nothing", "/properties/order"),
    ]


def test_a_property_that_stands_among_the_keywords() -> None:
    document = {"type": "object", "city": TEXT, "required": ["city"]}
    assert remarks(document) == [("misplaced-schema", "/city")]
    assert "put it into 'properties'" in warnings(document)
    assert remarks({"type": "object", "city": "Rome", "remark": {"text": "x"}}) == []


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("emial", "email"),
        ("e-mail", "email"),
        ("datetime", "date-time"),
        ("date_time", "date-time"),
        ("url", "uri"),
        ("URL", "uri"),
        ("UUID", "uuid"),
        ("uuid4", "uuid"),
        ("guid", "uuid"),
        ("IPv4", "ipv4"),
        ("ip", "ipv4"),
        ("hostName", "hostname"),
        ("regexp", "regex"),
    ],
)
def test_a_format_by_another_name(name: str, meant: str) -> None:
    document = {"items": {"type": "string", "format": name}}
    assert remarks(document) == [("unknown-format", "/items/format")]
    assert f"the format {name!r} is unknown" in warnings(document)
    assert f"did you mean {meant!r}?" in warnings(document)
    assert remarks(document, enforce_formats=False) == []
    assert remarks({"items": {"type": "string", "format": meant}}) == []


def test_a_format_that_nothing_resembles() -> None:
    document = {"type": "string", "format": "phone"}
    assert remarks(document) == [("unknown-format", "/format")]
    assert "a 'pattern' says what is allowed" in warnings(document)


@pytest.mark.parametrize("name", ["int32", "int64", "float", "double", "password", "binary"])
def test_formats_of_openapi_that_say_nothing_of_strings(name: str) -> None:
    assert remarks({"type": "number", "format": name}) == []


def test_nullable_of_openapi() -> None:
    assert remarks({"type": "string", "nullable": True}) == [("nullable", "/nullable")]
    assert "put \"null\" into 'type' or 'anyOf'" in warnings({"type": "string", "nullable": True})
    for silent in ({"nullable": False}, {"type": ["string", "null"], "nullable": True}):
        assert remarks({"type": "string", **silent}) == []


def test_keywords_that_a_reference_hides() -> None:
    document = {"$ref": "#/definitions/a", "minLength": 2, "title": "A", "definitions": {"a": TEXT}}
    assert remarks(document, draft=Draft.DRAFT7) == [("hidden-keyword", "/minLength")]
    assert remarks(document) == []


def test_keywords_of_later_drafts() -> None:
    document = {"type": "object", "properties": {"a": {"const": 1}}, "if": {"required": ["a"]}}
    old = {"$schema": "http://json-schema.org/draft-04/schema#", **document}
    assert set(remarks(old)) == {
        ("keyword-of-later-draft", "/if"),
        ("keyword-of-later-draft", "/properties/a/const"),
    }
    assert "name a draft from draft6 on in '$schema'" in warnings(old)
    assert "name a draft from draft7 on in '$schema'" in warnings(old)
    assert remarks(document) == []
    assert remarks({"type": "array", "additionalItems": {"type": "string"}}) == []


@pytest.mark.parametrize("keyword", sorted(READ_BY_NAME))
def test_a_keyword_that_is_null_is_absent(keyword: str) -> None:
    """As encoders of Go and C# write what is absent; in every draft, wherever a schema stands."""
    for draft in Draft:
        for document, place in (
            ({keyword: None}, ""),
            ({"items": {"type": "string", keyword: None}}, "/items"),
            ({"properties": {"a": {keyword: None}}}, "/properties/a"),
        ):
            if place == "/items" and keyword == "type":
                continue
            parsed = parse_schema(document, ParseOptions(draft=draft))
            assert ("null-keyword", f"{place}/{keyword}") in remarks(document, draft=draft)
            assert keyword not in {each.keyword for each in parsed.report.enforced} - {
                *("items", "type", "properties")
            }
    assert all(satisfies(parse_schema({keyword: None}, ParseOptions()).root, v) for v in (1, {}))


def test_null_is_a_value_where_values_stand() -> None:
    document = {"properties": {"a": {"const": None}, "b": {"enum": [None, {"type": None}]}}}
    root = parse_schema(document, ParseOptions()).root
    assert satisfies(root, {"a": None, "b": {"type": None}})
    assert not satisfies(root, {"a": 1})
    assert not satisfies(root, {"b": {}})
    assert remarks(document) == []
    assert "const" in KEYWORDS[Draft.DRAFT2020]


def test_a_property_may_have_the_name_of_a_keyword() -> None:
    document = {"properties": {"required": {"type": "string"}, "properties": {"enum": None}}}
    assert remarks(document) == [("null-keyword", "/properties/properties/enum")]


def test_null_as_the_name_of_a_type() -> None:
    assert 'is written "null", as a string' in warnings({"type": None, "minimum": 1})


def test_an_encoder_of_go_and_its_references() -> None:
    """All fields of a structure are written; references of every kind still lead somewhere."""
    document = {
        "$id": None,
        "$schema": None,
        "$ref": None,
        "type": "object",
        "required": None,
        "additionalProperties": None,
        "properties": {"a": {"$ref": "#b", "enum": None}},
        "$defs": {"b": {"$anchor": "b", "type": "string", "anyOf": None, "properties": None}},
    }
    root = parse_schema(document, ParseOptions()).root
    assert satisfies(root, {"a": "x", "b": 1})
    assert not satisfies(root, {"a": 1})


REPEATED = [
    ('{"type": "object", "type": "string"}', "/type", {"type": "string"}),
    ('{"items": {"minimum": 1, "minimum": 5}}', "/items/minimum", {"items": {"minimum": 5}}),
    (
        '{"properties": {"a": {"type": "null"}, "b": true, "a": {"type": "integer"}}}',
        "/properties/a",
        {"properties": {"a": {"type": "integer"}, "b": True}},
    ),
    ('{"const": {"x": 1, "x": 2}}', "/const/x", {"const": {"x": 2}}),
    ('{"default": {"x": 1, "x": 2}, "type": "null"}', "/default/x", {"type": "null"}),
]


@pytest.mark.parametrize(("text", "place", "meaning"), REPEATED)
def test_a_name_that_stands_twice_in_one_object(text: str, place: str, meaning: Any) -> None:
    assert ("repeated-name", place) in remarks(text)
    assert "stands 2 times in one object, where the last one counts" in warnings(text)
    assert ("repeated-name", place) not in remarks(json.loads(text))
    values: list[Any] = [None, 1, 3, 5, "a", [1], [5], {"a": None}, {"a": 1}, {"x": 1}, {"x": 2}]
    read, plain = (parse_schema(each, ParseOptions()).root for each in (text, meaning))
    assert [satisfies(read, v) for v in values] == [satisfies(plain, v) for v in values]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"type": "string"}, True),
        ({"type": ["string", "null"]}, True),
        ({"$ref": "#/x"}, True),
        ({"enum": []}, True),
        ({"properties": {}}, True),
        ({"type": "json_schema"}, False),
        ({"type": {"type": "string"}}, False),
        ({"$ref": {}}, False),
        ({}, False),
        ([], False),
        (True, False),
    ],
    ids=str,
)
def test_what_looks_like_a_schema(value: Any, expected: bool) -> None:
    assert looks_like_schema(value) is expected
