"""Arguments as parameters: which are there, in which order, and which schemas are refused."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.errors import UnsupportedSchemaError
from maskwright.grammar.rules.tree import JsonValue
from maskwright.grammar.schema.parse import ParseOptions, parse_schema
from maskwright.grammar.shape.shapes import Shapes
from maskwright.grammar.tools.arguments import Parameters
from maskwright.grammar.tools.formats import ParameterStyle
from maskwright.grammar.tools.members import DeclaredMembers
from tests.grammar.spelling import Captured, Reader

STYLE = ParameterStyle(("<", "$key", ">", "$value", "</>"))


def readings(schema: Any, text: str) -> set[Captured]:
    """What each reading of `text` as parameters captures; any JSON array or object is a value."""
    root = parse_schema(schema, ParseOptions()).root
    expression = Parameters(
        STYLE, {}, DeclaredMembers(Shapes(), "one by one"), JsonValue
    ).expression(root)
    return Reader(text, lambda _, value: isinstance(value, list | dict)).readings(expression)


PAIR: dict[str, Any] = {
    "properties": {"a": {"type": "integer"}, "b": {"type": "string"}},
    "required": ["b"],
}


@pytest.mark.parametrize(
    ("schema", "text", "captured"),
    [
        (PAIR, "<a>1</><b>x</>", (("json:a", "1"), ("string:b", "x"))),
        (PAIR, "<b>x</>", (("string:b", "x"),)),
        (PAIR, "<a>1</>", None),  # b is required
        (PAIR, "<b>x</><a>1</>", None),  # not in the order of the schema
        (PAIR, "<a>x</><b>x</>", None),
        (PAIR, "<b>x</><c>1</>", None),  # declared ones only
        (PAIR, "<b>x</></>", None),  # the text after a string can't be in it
        ({}, "", ()),
        ({"properties": {"a": {"type": ["integer", "string"]}}}, "<a>1</>", (("json:a", "1"),)),
        ({"properties": {"a": {"type": ["array", "string"], "maxLength": 9}}}, "<a>[1]</>",
         (("json:a", "[1]"),)),
        ({"properties": {"a": {"type": ["array", "string"]}}}, "<a>[1]</>", (("json:a", "[1]"),)),
        ({"properties": {"a": {"type": ["array", "string"]}}}, "<a>[1</>", (("string:a", "[1"),)),
        ({"properties": {"a": {}}}, '<a>{"b": 1}</>', (("json:a", '{"b": 1}'),)),
        ({"properties": {"a": {}}}, "<a>[INFO] b</>", (("string:a", "[INFO] b"),)),
        ({"properties": {"a": True}}, "<a>true</>", (("json:a", "true"),)),
        ({"properties": {"a": {"type": ["array", "integer"]}}}, "<a>[1]</>", (("json:a", "[1]"),)),
        ({"properties": {"a": {"enum": ["x", 1]}}}, "<a>x</>", (("string:a", "x"),)),
        ({"anyOf": [{"required": ["a"]}, {"required": ["b"]}], **PAIR}, "<b>x</>",
         (("string:b", "x"),)),
    ],
)  # fmt: skip
def test_parameters(schema: Any, text: str, captured: Captured | None) -> None:
    assert readings(schema, text) == (set() if captured is None else {captured})


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"minProperties": 1}, None),
        ({"minProperties": 2}, "minProperties beyond"),
        ({"maxProperties": 2}, None),
        ({"maxProperties": 1}, "maxProperties below"),
    ],
)
def test_bounds_on_the_number_of_parameters(keywords: Any, message: str | None) -> None:
    schema = {**PAIR, **keywords}
    if message is None:
        assert readings(schema, "<b>x</>")
        return
    with pytest.raises(UnsupportedSchemaError, match=message) as refused:
        readings(schema, "<b>x</>")
    assert refused.value.pointer == f"/{next(iter(keywords))}"


def test_a_map_of_parameters_is_refused_and_members_left_out_are_listed() -> None:
    """Within a parameter objects are JSON, and have all their members."""
    free = {"type": "object", "additionalProperties": {"type": "string"}}
    with pytest.raises(UnsupportedSchemaError, match="members that the schema") as refused:
        readings(free, "")
    assert refused.value.pointer == "/additionalProperties"
    schemas: list[tuple[Any, list[str]]] = [
        ({"type": "object"}, [""]),
        ({"properties": {"a": free}}, [""]),
        ({"properties": {"a": free}, "additionalProperties": False}, []),
    ]
    for schema, narrowed in schemas:
        members = DeclaredMembers(Shapes(), "one by one")
        root = parse_schema(schema, ParseOptions()).root
        Parameters(STYLE, {}, members, JsonValue).expression(root)
        assert list(members.narrowed) == narrowed
