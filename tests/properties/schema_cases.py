"""Small schemas that cover each keyword and how keywords meet, with blocks to build texts of."""

from __future__ import annotations

from typing import Any, NamedTuple

from tests.properties.universe import Blocks

_WHOLE = ("0", "1", "2", "10", "12", "15", "20", "100", "101", "-0", "-1", "-2", "-12", "01")
_FRACTIONS = ("1.0", "1.00", "1.5", "1.50", "1.05", "2.5", "2.0", "10.0", "-1.5", "0.0", "-0.0")
_SMALL = ("0.5", "0.05", "0.10", "-0.5", ".5", "1.")
SCALARS = Blocks(scalars=(*_WHOLE, *_FRACTIONS, *_SMALL, "true", "false", "null"), longest=5)
STRINGS = Blocks(
    scalars=tuple(
        f'"{text}"'
        for text in [
            *("", "a", "b", "ab", "ba", "aa", "abc", "aab", "bab", "1", "a1", "é", "aé", "/"),
            *(r"\u0061", r"\u0061b", r"a\u0062", r"\u00e9", r"\/", r"\n", r"\u000A", r"\"", r"\\"),
            *(r"\ud83d\ude00", "😀", r"\ud83d", r"\ude00", r"\ud83dx"),
        ]
    ),
    longest=16,
)
FORMATTED = Blocks(
    scalars=tuple(
        f'"{text}"'
        for text in [
            *("1.0.0.1", "1.0.0.255", "1.0.0.256", "1.0.0.01", "1.0.0", "1.0.0.1."),
            *("2024-02-29", "2023-02-29", "2023-12-31", "2023-13-01", "1999-01-01", "2023-1-1", ""),
        ]
    ),
    longest=12,
)
ARRAYS = Blocks(scalars=("1", "2", "null", '"a"'), arrays=True, longest=8)
OBJECTS = Blocks(scalars=("1", '"a"'), names=('"a"', '"b"', '"c"'), longest=13)
NESTED = Blocks(scalars=("1", "2"), names=('"a"', '"b"'), arrays=True, longest=12)
ESCAPED_NAMES = Blocks(scalars=("1", "2"), names=('"a"', '"b"', r'"\u0061"'), longest=18)
SPACED = Blocks(
    scalars=("1",), names=('"a"', '"b"'), arrays=True, spaces=("", " ", "\n"), longest=8
)

TOKENS = (
    *('":', '"},', '","', '":{"', '{"', '{"a', '{"a":', '"a":', '"b":1', "}}", "]]", "],[", "[["),
    *("ab", "1,", ',"', '"a"', "1}", "[1", "[1,", "1.", ".5", "10", "-1", "0.", r"\u00", r"\u006"),
    *(
        "tr",
        "true",
        "null",
        "ull",
        "  ",
        " 1",
        ", ",
        ": ",
        '1,"b',
        '"]',
        "]}",
        "{}",
        "[]",
        'a"',
        '""',
    ),
)
CHARACTER_TOKENS = (b"\xc3\xa9", b"a\xc3", b'\xa9"', b"\xf0\x9f", b"\x98\x80")
"""Tokens that end inside a character, or begin there."""


class Case(NamedTuple):
    name: str
    schema: Any
    blocks: Blocks
    order: str = "any"
    without: tuple[str, ...] = ()
    """Tokens that its vocabulary lacks."""


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


INTEGER = {"type": "integer"}
LIST: dict[str, Any] = {
    "$defs": {"list": {"type": "array", "items": {"$ref": "#/$defs/list"}, "maxItems": 2}},
    "$ref": "#/$defs/list",
}
TREE: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"$ref": "#"}, "b": {"const": 1}},
    "required": ["b"],
    "additionalProperties": False,
}

CASES = [
    Case("null", {"type": "null"}, SCALARS),
    Case("boolean", {"type": "boolean"}, SCALARS),
    Case("integer", INTEGER, SCALARS),
    Case("number", {"type": "number"}, SCALARS),
    Case("integer or null", {"type": ["integer", "null"]}, SCALARS),
    Case("integer or number", {"type": ["integer", "number"]}, SCALARS),
    Case("minimum", {"type": "integer", "minimum": 2}, SCALARS),
    Case("maximum", {"type": "integer", "maximum": 2}, SCALARS),
    Case("negative range", {"type": "integer", "minimum": -2, "maximum": 1}, SCALARS),
    Case("open range", {"type": "number", "exclusiveMinimum": 1, "exclusiveMaximum": 2}, SCALARS),
    Case("fractional range", {"type": "number", "minimum": 0.05, "maximum": 1.5}, SCALARS),
    Case("around zero", {"type": "number", "minimum": -0.5, "maximum": 0}, SCALARS),
    Case("only zero", {"type": "number", "minimum": 0, "maximum": 0}, SCALARS),
    Case("not zero", {"type": "number", "exclusiveMinimum": 0}, SCALARS),
    Case(
        "forbidden and required, of objects alone",
        {"required": ["a"], "properties": {"a": False}, "anyOf": [{"minimum": 1}, {"maxItems": 0}]},
        NESTED,
    ),
    Case("bound without type", {"minimum": 10}, SCALARS),
    Case("enum", {"enum": [1, 1.5, None, True]}, SCALARS),
    Case("enum and bound", {"enum": [0, 1, 2, 15], "minimum": 1, "exclusiveMaximum": 15}, SCALARS),
    Case("enum and type", {"enum": [0, 1.5, "a", None], "type": "number"}, SCALARS),
    Case("const", {"const": 0}, SCALARS),
    Case("const with fraction", {"const": 1.0}, SCALARS),
    Case("const true is not 1", {"const": True}, SCALARS),
    Case("any of scalars", {"anyOf": [INTEGER, {"const": None}, {"minimum": 2}]}, SCALARS),
    Case("all of bounds", {"allOf": [INTEGER, {"minimum": 1}, {"maximum": 12}]}, SCALARS),
    Case(
        "siblings of anyOf",
        {"type": "number", "minimum": 1, "anyOf": [{"maximum": 1}, {"minimum": 12}]},
        SCALARS,
    ),
    Case(
        "one of scalars",
        {"oneOf": [{"const": 1}, {"enum": [2, None]}, {"const": 1.0}, {"maximum": 12}]},
        SCALARS,
    ),
    Case("string", {"type": "string"}, STRINGS),
    Case("minLength", {"type": "string", "minLength": 2}, STRINGS),
    Case("maxLength", {"type": "string", "maxLength": 1}, STRINGS),
    Case("length in characters", {"type": "string", "minLength": 1, "maxLength": 1}, STRINGS),
    Case("pattern", {"type": "string", "pattern": "^a"}, STRINGS),
    Case("pattern unanchored", {"type": "string", "pattern": "ab"}, STRINGS),
    Case("pattern at the end", {"type": "string", "pattern": "b$"}, STRINGS),
    Case("pattern and length", {"type": "string", "pattern": "^[ab]+$", "maxLength": 2}, STRINGS),
    Case("pattern lookahead", {"type": "string", "pattern": "^(?!.*ab)[ab]*$"}, STRINGS),
    Case("pattern not ascii", {"type": "string", "pattern": "^[^a-z]$"}, STRINGS),
    Case("pattern beyond the plane", {"type": "string", "pattern": "^[😀-😂]$"}, STRINGS),
    Case("pattern escape", {"type": "string", "pattern": '^\\n$|"|/'}, STRINGS),
    Case("enum of strings", {"enum": ["a", "ab", "aé", "\n", "😀", ""]}, STRINGS),
    Case("enum and pattern", {"enum": ["a", "ab", "b", "abc"], "pattern": "b"}, STRINGS),
    Case(
        "any of strings", {"anyOf": [{"const": "ab"}, {"pattern": "^b"}, {"const": "é"}]}, STRINGS
    ),
    Case(
        "one of strings",
        {"oneOf": [{"const": "a"}, {"enum": ["b", "ab"]}, {"const": "ab"}, {"pattern": "^b"}]},
        STRINGS,
    ),
    Case("array", {"type": "array"}, ARRAYS),
    Case("items", {"type": "array", "items": INTEGER}, ARRAYS),
    Case("items without type", {"items": {"type": "string"}}, ARRAYS),
    Case("no items", {"type": "array", "items": False}, ARRAYS),
    Case("minItems", {"type": "array", "items": INTEGER, "minItems": 2}, ARRAYS),
    Case("maxItems", {"type": "array", "items": INTEGER, "maxItems": 2}, ARRAYS),
    Case("exactly one", {"type": "array", "minItems": 1, "maxItems": 1}, ARRAYS),
    Case("maxItems 0", {"type": "array", "maxItems": 0}, ARRAYS),
    Case("prefixItems", {"type": "array", "prefixItems": [INTEGER, {"type": "null"}]}, ARRAYS),
    Case(
        "prefix and rest",
        {"type": "array", "prefixItems": [{"const": "a"}], "items": {"const": 1}},
        ARRAYS,
    ),
    Case(
        "a tuple",
        {
            "prefixItems": [{"const": 1}, {"const": 2}],
            "items": False,
            "minItems": 2,
            "type": "array",
        },
        ARRAYS,
    ),
    Case("impossible second item", {"prefixItems": [INTEGER, False], "type": "array"}, ARRAYS),
    Case("enum of arrays", {"enum": [[], [1], [1, 2], [[1]], "a"]}, ARRAYS),
    Case(
        "any of arrays",
        {
            "anyOf": [{"items": {"const": 1}, "minItems": 2}, {"items": {"const": 2}}],
            "type": "array",
        },
        ARRAYS,
    ),
    Case(
        "all of arrays",
        {"allOf": [{"items": INTEGER}, {"prefixItems": [{"const": 2}]}, {"maxItems": 3}]},
        ARRAYS,
    ),
    Case("recursive arrays", LIST, ARRAYS),
    Case("anything", {}, ARRAYS),
    Case("true", True, OBJECTS),
    Case(
        "one of tagged objects",
        {
            "oneOf": [
                {"properties": {"a": {"const": 1}}, "required": ["a"]},
                {"properties": {"a": {"const": "a"}, "b": False}, "required": ["a"]},
                {"required": ["b"], "properties": {"b": True}, "additionalProperties": False},
            ],
            "type": "object",
        },
        OBJECTS,
    ),
    Case("object", {"type": "object"}, OBJECTS),
    Case("closed object", _object(a=INTEGER, b={"type": "string"}), OBJECTS),
    Case("required", {**_object(a=True, b=True), "required": ["b"]}, OBJECTS),
    Case("required, not declared", {"type": "object", "required": ["b"]}, OBJECTS),
    Case("all required", {**_object(a={}, b={}), "required": ["b", "a"]}, OBJECTS),
    Case(
        "additional properties",
        {
            "type": "object",
            "properties": {"a": INTEGER},
            "additionalProperties": {"type": "string"},
        },
        OBJECTS,
    ),
    Case("only additional", {"type": "object", "additionalProperties": {"const": 1}}, OBJECTS),
    Case("forbidden name", {"type": "object", "properties": {"a": False}}, OBJECTS),
    Case("empty object", {"type": "object", "additionalProperties": False}, OBJECTS),
    Case(
        "any of objects",
        {
            "anyOf": [
                {**_object(a={"const": 1}, b={}), "required": ["a", "b"]},
                {**_object(a={"const": "a"}, c={}), "required": ["a"]},
            ]
        },
        OBJECTS,
    ),
    Case(
        "any of overlapping",
        {
            "type": "object",
            "properties": {"a": {}, "b": {}},
            "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
        },
        OBJECTS,
    ),
    Case(
        "all of objects",
        {
            "allOf": [
                {"required": ["a"]},
                {"properties": {"a": INTEGER}},
                {"properties": {"b": False}},
            ]
        },
        OBJECTS,
    ),
    Case("enum of objects", {"enum": [{"a": 1}, {"a": "a", "b": 1}, 1]}, OBJECTS),
    Case("escaped names", {**_object(a={"const": 1}), "required": ["a"]}, ESCAPED_NAMES),
    Case("escaped forbidden name", {"type": "object", "properties": {"a": False}}, ESCAPED_NAMES),
    Case(
        "escaped name's value",
        {"type": "object", "properties": {"a": {"const": 1}}, "additionalProperties": {"const": 2}},
        ESCAPED_NAMES,
    ),
    Case("nested", _object(a=_object(b=INTEGER), b={"type": "array", "items": INTEGER}), NESTED),
    Case("recursive", TREE, NESTED),
    Case(
        "mutual recursion",
        {
            "$defs": {
                "even": {"type": "array", "items": {"$ref": "#/$defs/odd"}, "maxItems": 1},
                "odd": {"type": "array", "items": {"$ref": "#/$defs/even"}, "minItems": 1},
            },
            "$ref": "#/$defs/even",
        },
        NESTED,
    ),
    Case(
        "recursion through anyOf",
        {
            "anyOf": [
                {"const": 1},
                {"type": "array", "items": {"$ref": "#"}},
                _object(a={"$ref": "#"}),
            ]
        },
        NESTED,
    ),
    Case(
        "a branch without end",
        {"anyOf": [{"const": 1}, {**_object(a={"$ref": "#/anyOf/1"}), "required": ["a"]}]},
        NESTED,
    ),
    Case(
        "branches that part late",
        {
            "anyOf": [
                _object(a={"type": "array", "items": {"const": 1}}, b={"const": 1}),
                _object(a={"type": "array", "items": {"const": 2}}, b={"const": 2}),
            ]
        },
        NESTED,
    ),
    Case(
        "branches within branches",
        {
            "type": "object",
            "properties": {"a": {"anyOf": [{"const": 1}, {**_object(b={}), "required": ["b"]}]}},
            "anyOf": [{"required": ["a"]}, {"properties": {"b": {"const": 2}}}],
            "additionalProperties": {"type": ["integer", "array"]},
        },
        NESTED,
    ),
    Case("spaces", {"type": ["object", "array"]}, SPACED),
    Case("spaces and names", {**_object(a={}, b={}), "required": ["b"]}, SPACED),
    Case("in order", _object(b=INTEGER, a={"type": "string"}), OBJECTS, "schema"),
    Case(
        "in order, some required",
        {**_object(b={}, a={}, c={}), "required": ["a"]},
        OBJECTS,
        "schema",
    ),
    Case(
        "in order, others last",
        {"type": "object", "properties": {"b": INTEGER}},
        OBJECTS,
        "schema",
    ),
    Case(
        "in order, required ones not declared",
        {"type": "object", "properties": {"b": {}}, "required": ["c", "b"]},
        OBJECTS,
        "schema",
    ),
    Case("in order, nested", _object(b=_object(b=INTEGER, a=INTEGER), a=INTEGER), NESTED, "schema"),
]
