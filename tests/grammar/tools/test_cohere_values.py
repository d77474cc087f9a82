"""Arguments as Cohere writes them, against the jsonschema package."""

from __future__ import annotations

import json
from html import escape
from typing import Any

import jsonschema
import pytest

from maskwright.errors import UnsupportedSchemaError
from maskwright.grammar.rules.tree import Expression
from maskwright.grammar.schema.parse import ParseOptions, parse_schema
from maskwright.grammar.shape.shapes import Shapes
from maskwright.grammar.tools.cohere_values import CohereValues
from maskwright.grammar.tools.members import DeclaredMembers
from tests.grammar.spelling import Captured, Reader


def readings(schema: Any, text: str) -> set[Captured]:
    """What each reading of `text` as arguments captures."""
    rules: dict[str, Expression] = {}
    members = DeclaredMembers(Shapes(), "as elements")
    root = parse_schema(schema, ParseOptions()).root
    expression = CohereValues(members, "f", rules, {}).expression(root)
    return Reader(text, lambda _schema, _value: False, rules).readings(expression)


def written(value: Any, key: str | None = None) -> str:
    """A value as an element; its type and text as the notation has them."""
    match value:
        case str():
            type, inside = "raw", value
        case dict():
            type = "dict"
            inside = "".join(written(each, name) for name, each in value.items())
        case list():
            type, inside = "list", "".join(map(written, value))
        case _:
            type, inside = "json", json.dumps(value)
    named = "" if key is None else f' name="{escape(key)}"'
    return f'<cofl:value{named} type="{type}">{inside}</cofl:value>'


VALUES: list[Any] = [
    *(1, -2, 1.5, True, False, None),
    *("", "a", "1", "true", "é", 'x <b> & "c"\n', "[1]", "</cofl:list>"),
    *([], [1], ["a"], [1, 2], [1, "a"], [[1]], [[]], [None, True], [{"k": 1}]),
    *({}, {"k": 1}, {"k": "a"}, {"k": 1, "l": None}, {"l": None}, {"k": [1]}, {"k": {"k": 1}}),
]
K = {"type": "integer"}
SCHEMAS: list[Any] = [
    K,
    {"type": "string"},
    {"type": ["string", "integer"]},
    {"type": "string", "maxLength": 1},
    {"type": "boolean"},
    {"enum": [1, "1", None]},
    {"type": "array"},
    {"type": "array", "items": K},
    {"type": "array", "items": {"type": ["string", "integer"]}, "minItems": 2},
    {"type": "array", "prefixItems": [K, {"type": "string"}], "items": False},
    {"type": "array", "items": {"type": "array", "items": K}},
    {"type": "object", "properties": {"k": K, "l": {"type": "null"}}},
    {"type": "object", "properties": {"k": {"type": ["string", "array"]}}, "required": ["k"]},
    {"anyOf": [{"type": "array", "items": K}, {"type": "object", "properties": {"k": K}}]},
]


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
def test_a_value_is_accepted_if_it_is_valid(schema: Any) -> None:
    whole = {"properties": {"a": schema}, "required": ["a"]}
    valid = jsonschema.Draft202012Validator(schema).is_valid
    declared = {*schema.get("properties", {})} or ({"k"} if "anyOf" in schema else set[str]())
    for value in VALUES:
        text = written(value, "a")
        found = readings(whole, text)
        others = isinstance(value, dict) and set(value) - declared
        within = schema == {"type": "array"} and value == [{"k": 1}]  # no member is declared
        assert bool(found) is (valid(value) and not others and not within), text
        if found:
            inside = text.removeprefix(text[: text.index(">") + 1]).removesuffix("</cofl:value>")
            capture = {str: "string", list: "cohere", dict: "cohere"}.get(type(value), "json")
            assert found == {((f"{capture}:a", inside),)}


@pytest.mark.parametrize("name", ['a"b', "a&b", "<a>", "&amp;"])
def test_names_are_escaped(name: str) -> None:
    schema = {"properties": {name: K}}
    assert readings(schema, written(1, name)) == {((f"json:{name}", "1"),)}
    assert not readings(schema, f'<cofl:value name="{name}" type="json">1</cofl:value>')


def test_a_string_ends_at_the_first_end() -> None:
    schema = {"properties": {"a": {"type": "string"}, "b": {"type": "string"}}}
    two = written("x", "a") + written("y", "b")
    assert readings(schema, two) == {(("string:a", "x"), ("string:b", "y"))}
    assert not readings(schema, written("x</cofl:value>", "a"))


def test_members_come_in_the_order_of_the_schema() -> None:
    schema = {"properties": {"a": K, "b": K}, "required": ["b"]}
    assert readings(schema, written(1, "a") + written(2, "b"))
    assert readings(schema, written(2, "b"))
    assert not readings(schema, written(2, "b") + written(1, "a"))
    assert not readings(schema, written(1, "a"))


def test_maps_are_refused() -> None:
    schema = {"properties": {"a": {"type": "object", "additionalProperties": K}}}
    with pytest.raises(UnsupportedSchemaError, match="as elements"):
        readings(schema, "")
