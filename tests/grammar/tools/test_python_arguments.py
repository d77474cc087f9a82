"""Arguments as Python writes them, against `ast.literal_eval` and the jsonschema package."""

from __future__ import annotations

import ast
import json
from itertools import product
from typing import Any

import jsonschema
import pytest

from maskwright.errors import UnsupportedSchemaError
from maskwright.grammar.regular.derivative import contains
from maskwright.grammar.regular.terms import ANYTHING, words
from maskwright.grammar.rules.tree import Expression
from maskwright.grammar.schema.parse import ParseOptions, parse_schema
from maskwright.grammar.shape.shapes import Shapes
from maskwright.grammar.tools.members import DeclaredMembers
from maskwright.grammar.tools.python_arguments import PythonArguments, json_text, string_literal
from tests.grammar.spelling import Reader


def readings(schema: Any, text: str) -> set[Any]:
    """What each reading of `text` as arguments captures."""
    rules: dict[str, Expression] = {}
    root = parse_schema(schema, ParseOptions()).root
    expression = PythonArguments(DeclaredMembers(Shapes(), "as Python"), "f", rules).expression(
        root
    )
    return Reader(text, lambda _schema, _value: False, rules).readings(expression)


VALUES = [
    *("1", "-2", "1.5", "1e2", "True", "False", "None", "true", "null", "01", "+1", "nan"),
    *('""', "''", '"a"', "'a'", "'a\\nb'", "'\"'", "'\\''", "a", "'a", "'a\"", "'\\x00'", "'é'"),
    *("[]", "[1]", "[1, 2]", "[1,2]", "[1 ,2]", "[1, 2, 3]", "[True]", "['a']", "[[1]]", "[1,]"),
    *("{}", "{'k': 1}", '{"k":1}', "{'k': 1, 'l': None}", "{'l': None}", "{'k': 'a'}"),
    *("(1,)", "{1}", "1 ", "'a' 'b'", "[1, 'a']", "[None, 1]", "['a', 1, 1]"),
]

K = {"type": "integer"}

SCHEMAS: list[Any] = [
    {"type": "integer"},
    {"type": "number", "exclusiveMinimum": 1},
    {"type": ["boolean", "null"]},
    {"type": "string"},
    {"type": "string", "minLength": 1, "maxLength": 1},
    {"type": "string", "pattern": "^a"},
    {"enum": [1, "a", None, True]},
    {"const": "a\nb"},
    {"type": "array"},
    {"type": "array", "items": {"type": "integer"}},
    {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2},
    {"type": "array", "items": {"type": ["integer", "boolean"]}, "minItems": 1},
    {"type": "array", "prefixItems": [{"type": ["string", "null"]}], "items": {"type": "integer"}},
    {"type": "array", "prefixItems": [{"const": 1}, {"const": 2}], "items": False, "minItems": 1},
    {"type": "object", "properties": {"k": K, "l": {"type": "null"}}},
    {"type": "object", "properties": {"k": K, "l": {"type": "null"}}, "required": ["k"]},
    {"type": "object", "properties": {"k": K}, "additionalProperties": False},
    {"anyOf": [{"type": "array", "maxItems": 1}, {"type": "integer"}]},
    {},
]


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
def test_a_value_is_accepted_if_python_reads_it_and_it_is_valid(schema: Any) -> None:
    whole = {"properties": {"a": schema}, "required": ["a"]}
    accepted = 0
    for text in VALUES:
        found = readings(whole, f"a={text}")
        assert bool(found) is fits(schema, text), text
        if found:
            assert found == {((("python:a", text)),)}
            assert json.loads(json_text(text)) == ast.literal_eval(text)
            accepted += 1
    assert accepted


def fits(schema: Any, text: str) -> bool:
    """Whether `text` is a literal as we write them, of a value that satisfies the schema; members
    that aren't declared are none of ours."""
    try:
        value = ast.literal_eval(text)
        json.dumps(value)
    except (ValueError, SyntaxError, TypeError):
        return False
    if text in ("(1,)", "+1", "1 ", "'a' 'b'", "[1,]", "[1 ,2]"):
        return False
    if isinstance(value, dict) and set(value) - set(schema.get("properties", ())):
        return False
    if isinstance(value, float) and value.is_integer() and schema == {"type": "integer"}:
        return True  # 1e2 is an integer
    return jsonschema.Draft202012Validator(schema).is_valid(value)


LISTS = [
    # required, texts, others
    ("", ["", "a=1", "b=1", "c=1", "a=1, b=1", "a=1,c=1", "a=1, b=1, c=1"], ["b=1, a=1", "a=1,"]),
    ("b", ["b=1", "a=1, b=1", "b=1, c=1"], ["", "a=1", "a=1, c=1", ", b=1", "a=1  , b=1"]),
    ("abc", ["a=1, b=1, c=1"], ["", "a=1, b=1", "a=1, b=1, c=1, d=1", "a = 1, b=1, c=1"]),
]


@pytest.mark.parametrize(("required", "accepted", "rejected"), LISTS)
def test_arguments_come_in_order_with_commas_between(
    required: str, accepted: list[str], rejected: list[str]
) -> None:
    schema = {"properties": {name: {"const": 1} for name in "abc"}, "required": list(required)}
    assert all(len(readings(schema, text)) == 1 for text in accepted)
    assert not any(readings(schema, text) for text in rejected)


def test_lists_within_themselves() -> None:
    schema = {
        "$defs": {"tree": {"type": "array", "items": {"$ref": "#/$defs/tree"}}},
        "properties": {"a": {"$ref": "#/$defs/tree"}},
    }
    assert readings(schema, "a=[[], [[]]]")
    assert not readings(schema, "a=[[1]]")


def test_a_string_is_written_in_every_way_that_python_reads() -> None:
    texts = ["".join(letters) for size in range(6) for letters in product("'\"\\an", repeat=size)]
    some, every = string_literal(words(["a", "\n", "'a"])), string_literal(ANYTHING)
    accepted = 0
    for text in texts:
        value: Any = None
        if not ("\\a" in text.replace("\\\\", "") or text[:1] * 3 == text[:3] or " " in text):
            try:
                value = ast.literal_eval(text)
            except (ValueError, SyntaxError):
                value = None
        one = value is not None and is_one(text)
        assert contains(every, text) is one, text
        assert contains(some, text) is (one and value in ("a", "\n", "'a")), text
        if one:
            accepted += 1
            assert json.loads(json_text(text)) == value
    assert accepted > 20


def is_one(text: str) -> bool:
    """Whether `text` is one string, not several side by side."""
    at = 1
    while at < len(text) and text[at] != text[0]:
        at += 2 if text[at] == "\\" else 1
    return at == len(text) - 1


N: Any = {"type": "null"}
MAP: Any = {"type": "object", "additionalProperties": N}
REFUSED: list[tuple[Any, str, str]] = [
    # the schema of the parameter `a`, where the keyword stands in it, what is said
    ({"type": "array", "uniqueItems": True}, "/uniqueItems", "uniqueItems can't"),
    ({"type": "array", "contains": {"const": 1}}, "/contains", "contains can't"),
    ({"not": {"uniqueItems": True}, "type": "array"}, "/not/uniqueItems", "where it is negated"),
    (MAP, "/additionalProperties", "members that the schema doesn't list"),
    ({"type": "object", "additionalProperties": True}, "/additionalProperties", "members that"),
    (
        {"type": "object", "patternProperties": {"^x": N}, "additionalProperties": False},
        "/patternProperties",
        "members that the schema doesn't list",
    ),
    ({"type": ["object", "string"], "additionalProperties": N}, "/additionalProperties", "members"),
    ({"type": "array", "items": MAP}, "/items/additionalProperties", "members that the schema"),
    (
        {"properties": {"b": {"allOf": [{"title": "c"}, MAP]}}, "additionalProperties": False},
        "/properties/b/allOf/1/additionalProperties",
        "members that the schema doesn't list",
    ),
    (
        {"type": "object", "properties": {"b": N, "c": N}, "minProperties": 1},
        "/minProperties",
        "minProperties beyond",
    ),
    (
        {"type": "object", "properties": {"b": N, "c": N}, "maxProperties": 1},
        "/maxProperties",
        "maxProperties below",
    ),
    (
        {"type": "object", "properties": {"b": K, "c": K},
         "not": {"properties": {"b": {"const": 1}, "c": {"const": 1}}}},
        "",
        "a condition on some member",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "pointer", "message"), REFUSED, ids=str)
def test_what_cannot_be_said_is_refused_by_name_and_place(
    schema: Any, pointer: str, message: str
) -> None:
    for beside in ({}, {"z": N}):
        with pytest.raises(UnsupportedSchemaError, match=message) as refused:
            readings({"properties": {**beside, "a": schema}}, "")
        assert refused.value.pointer == f"/properties/a{pointer}"


@pytest.mark.parametrize("name", ["a-b", "class", "a/b", ""])
def test_a_parameter_that_is_no_name_is_refused_at_its_place(name: str) -> None:
    with pytest.raises(UnsupportedSchemaError, match="no name in Python") as refused:
        readings({"allOf": [{"properties": {"a": N, name: N}}]}, "")
    assert refused.value.pointer == f"/allOf/0/properties/{name.replace('/', '~1')}"


def test_a_map_of_arguments_is_refused() -> None:
    with pytest.raises(UnsupportedSchemaError, match="members that the schema") as refused:
        readings(MAP, "")
    assert refused.value.pointer == "/additionalProperties"


def closed(properties: Any) -> Any:
    return {"type": "object", "properties": properties, "additionalProperties": False}


NARROWED: list[tuple[Any, list[str]]] = [
    (closed({"a": N}), []),
    (closed({"a": closed({"b": N})}), []),
    ({"type": "object"}, [""]),
    ({"properties": {"a": N}}, [""]),
    ({"properties": {"a": N}, "additionalProperties": N}, [""]),
    ({"properties": {"a": N}, "maxProperties": 1, "required": ["a"]}, []),
    ({"properties": {"a": N}, "propertyNames": {"enum": ["b"]}}, [""]),
    ({"properties": {"a": N}, "propertyNames": False}, []),
    (closed({"a": {"type": "object"}}), ["/properties/a"]),
    (closed({"a": {}}), ["/properties/a"]),
    (closed({"a": {}, "b": {}}), ["/properties/a", "/properties/b"]),
    (closed({"a": {"type": "array"}}), ["/properties/a"]),
    (closed({"a": {"type": "array", "items": {"properties": {"x": N}}}}), ["/properties/a/items"]),
    (closed({"a": {"type": "string"}, "b": {"type": ["null", "integer"]}}), []),
    (
        {**closed({"a": {"$ref": "#/$defs/t"}}), "$defs": {"t": {"properties": {"x": N}}}},
        ["/properties/a"],
    ),
]


@pytest.mark.parametrize(("schema", "narrowed"), NARROWED, ids=str)
def test_objects_of_which_members_are_left_out_are_listed(schema: Any, narrowed: list[str]) -> None:
    members = DeclaredMembers(Shapes(), "as Python")
    root = parse_schema(schema, ParseOptions()).root
    PythonArguments(members, "f", {}).expression(root)
    assert list(members.narrowed) == narrowed
