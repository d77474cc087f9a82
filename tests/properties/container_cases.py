"""Small schemas of the keywords that see a container as a whole: its names, counts and repeats."""

from __future__ import annotations

from typing import Any

from tests.properties.schema_cases import NESTED, OBJECTS, Case
from tests.properties.universe import Blocks

_INTEGER = {"type": "integer"}
_STRING = {"type": "string"}
_OBJECT = {"type": "object"}
_ARRAY = {"type": "array"}
_DIGIT = {"^[0-9]$": _INTEGER}
_CLOSED = {**_OBJECT, "additionalProperties": False}
DIGITS = Blocks(scalars=("1", '"a"'), names=('"0"', '"1"', '"a"'), longest=13)
THREE = Blocks(scalars=("1",), names=('"0"', '"1"', '"a"'), longest=19)
SPELLED_TWICE = Blocks(scalars=("1",), names=('"a"', '"b"', r'"\u0061"'), longest=18)
ITEMS = Blocks(scalars=("1", "2", '"a"'), arrays=True, longest=9)
REPEATS = Blocks(scalars=("1", "1.0", "2", '"a"', '"b"', "null", "true"), arrays=True, longest=11)

_OF_OBJECTS: dict[str, tuple[Any, Blocks]] = {
    "names that differ": ({**_OBJECT, "additionalProperties": {"const": 1}}, SPELLED_TWICE),
    "patternProperties": ({**_OBJECT, "patternProperties": {"a": _INTEGER}}, OBJECTS),
    "overlapping patterns": (
        {**_OBJECT, "patternProperties": {"[ab]": {"minimum": 1}, "[bc]": _INTEGER}},
        OBJECTS,
    ),
    "patterns that exclude each other": (
        {**_OBJECT, "patternProperties": {"[ab]": _INTEGER, "[bc]": _STRING}},
        OBJECTS,
    ),
    "patterns and a declared name": (
        {**_OBJECT, "properties": {"a": {}}, "patternProperties": {"[ab]": _INTEGER}},
        OBJECTS,
    ),
    "patterns only": ({**_CLOSED, "patternProperties": {"^[ab]": _INTEGER}}, OBJECTS),
    "names of a finite language": ({**_CLOSED, "patternProperties": _DIGIT}, DIGITS),
    "a few names, and at least two": (
        {**_CLOSED, "patternProperties": {"^[01]$": _INTEGER}, "minProperties": 2},
        DIGITS,
    ),
    "as many names as there are": (
        {
            **_CLOSED,
            "properties": {"a": {}},
            "patternProperties": {"^[01]$": _INTEGER},
            "minProperties": 3,
        },
        THREE,
    ),
    "patterns and others": (
        {**_OBJECT, "patternProperties": _DIGIT, "additionalProperties": _STRING},
        DIGITS,
    ),
    "propertyNames": ({**_OBJECT, "propertyNames": {"pattern": "^[ab]$"}}, OBJECTS),
    "propertyNames of an enum": (
        {**_OBJECT, "propertyNames": {"enum": ["a", "c"]}, "minProperties": 2},
        OBJECTS,
    ),
    "propertyNames and required": (
        {**_OBJECT, "propertyNames": {"maxLength": 1}, "required": ["b"]},
        OBJECTS,
    ),
    "no names": ({**_OBJECT, "propertyNames": False}, OBJECTS),
    "minProperties": ({**_OBJECT, "minProperties": 2}, OBJECTS),
    "minProperties of two names": (
        {**_OBJECT, "propertyNames": {"pattern": "^[ab]$"}, "minProperties": 2},
        SPELLED_TWICE,
    ),
    "maxProperties": ({**_OBJECT, "maxProperties": 1}, OBJECTS),
    "maxProperties and required": (
        {**_OBJECT, "maxProperties": 2, "required": ["b"], "properties": {"a": _INTEGER}},
        OBJECTS,
    ),
    "exactly two": (
        {
            **_CLOSED,
            "properties": {"b": {}, "a": {}, "c": {}},
            "minProperties": 2,
            "maxProperties": 2,
        },
        OBJECTS,
    ),
    "dependentRequired": ({**_OBJECT, "dependentRequired": {"a": ["b"], "b": ["a"]}}, OBJECTS),
    "dependentRequired of declared names": (
        {**_CLOSED, "properties": {"b": {}, "a": {}}, "dependentRequired": {"a": ["b"]}},
        OBJECTS,
    ),
    "dependentSchemas": (
        {
            **_OBJECT,
            "properties": {"a": {}, "b": {}},
            "dependentSchemas": {"a": {"maxProperties": 1}, "b": {"required": ["c"]}},
        },
        OBJECTS,
    ),
    "unevaluatedProperties": (
        {
            **_OBJECT,
            "properties": {"a": {}},
            "anyOf": [{"patternProperties": {"b": _INTEGER}}, True],
            "unevaluatedProperties": False,
        },
        OBJECTS,
    ),
    "unevaluated behind a condition": (
        {
            **_OBJECT,
            "properties": {"a": {}},
            "if": {"required": ["a"]},
            "then": {"patternProperties": {"b": {}}},
            "unevaluatedProperties": _STRING,
        },
        OBJECTS,
    ),
    "unevaluated within allOf": (
        {
            **_OBJECT,
            "properties": {"a": {}},
            "allOf": [{"patternProperties": {"^b": _INTEGER}}],
            "unevaluatedProperties": False,
        },
        OBJECTS,
    ),
}

_OF_ARRAYS: dict[str, tuple[Any, Blocks]] = {
    "contains": ({**_ARRAY, "contains": _STRING}, ITEMS),
    "contains a constant": ({**_ARRAY, "contains": {"const": 1}, "maxItems": 2}, ITEMS),
    "minContains": ({**_ARRAY, "contains": _INTEGER, "minContains": 2}, ITEMS),
    "minContains 0": ({**_ARRAY, "contains": _INTEGER, "minContains": 0}, ITEMS),
    "maxContains": ({**_ARRAY, "contains": _INTEGER, "maxContains": 1}, ITEMS),
    "between": (
        {**_ARRAY, "contains": {"const": 1}, "minContains": 1, "maxContains": 2, "maxItems": 3},
        ITEMS,
    ),
    "two contains": (
        {**_ARRAY, "allOf": [{"contains": {"const": 1}}, {"contains": _STRING}], "maxItems": 2},
        ITEMS,
    ),
    "contains behind a prefix": (
        {**_ARRAY, "prefixItems": [_STRING], "contains": {"const": 1}, "maxItems": 2},
        ITEMS,
    ),
    "uniqueItems": ({**_ARRAY, "uniqueItems": True, "items": {"type": ["integer", "null"]}}, ITEMS),
    "unique scalars": (
        {**_ARRAY, "uniqueItems": True, "items": {"enum": [1, True, None, "a"]}, "minItems": 2},
        REPEATS,
    ),
    "all values of an enum": (
        {**_ARRAY, "uniqueItems": True, "items": {"enum": [1, 2, "a"]}, "minItems": 3},
        REPEATS,
    ),
    "values that run out": (
        {
            **_ARRAY,
            "uniqueItems": True,
            "prefixItems": [{"enum": [1, 2]}, {"enum": [1, "a"]}, {"const": 2}],
            "items": False,
            "minItems": 3,
        },
        REPEATS,
    ),
    "unique from an enum": (
        {**_ARRAY, "uniqueItems": True, "items": {"enum": [1, 2]}},
        REPEATS,
    ),
    "unique and contains": (
        {
            **_ARRAY,
            "uniqueItems": True,
            "items": {"enum": [1, 2, "a"]},
            "contains": {"const": 2},
            "minItems": 2,
        },
        REPEATS,
    ),
    "unique, dealt out": (
        {
            **_ARRAY,
            "uniqueItems": True,
            "prefixItems": [{"enum": [1, 2]}, {"const": 1}],
            "items": {"enum": [1, 2, "a"]},
            "minItems": 3,
        },
        REPEATS,
    ),
    "unique, a scalar or an array": (
        {
            **_ARRAY,
            "uniqueItems": True,
            "prefixItems": [{"enum": [1, []]}, {"enum": [[], [1]]}],
            "items": {"enum": [1, [1]]},
            "minItems": 3,
        },
        REPEATS,
    ),
    "unique and counted": (
        {
            **_ARRAY,
            "uniqueItems": True,
            "items": {"enum": [1, 2, "a", None]},
            "contains": {"type": "integer"},
            "minContains": 2,
            "maxContains": 2,
            "minItems": 3,
        },
        REPEATS,
    ),
    "unique strings before a constant": (
        {
            **_ARRAY,
            "uniqueItems": True,
            "prefixItems": [{"type": "string"}],
            "items": {"const": "a"},
            "minItems": 2,
        },
        REPEATS,
    ),
    "unique arrays": (
        {**_ARRAY, "uniqueItems": True, "items": {"enum": [[], [1], 1]}, "minItems": 2},
        ITEMS,
    ),
    "unevaluatedItems": (
        {
            **_ARRAY,
            "prefixItems": [_INTEGER],
            "anyOf": [{"prefixItems": [True, _STRING]}, True],
            "unevaluatedItems": False,
        },
        ITEMS,
    ),
    "unevaluated beside contains": (
        {**_ARRAY, "contains": {"const": 1}, "unevaluatedItems": _STRING},
        ITEMS,
    ),
    "unevaluated within allOf": (
        {**_ARRAY, "allOf": [{"prefixItems": [_STRING]}], "unevaluatedItems": _INTEGER},
        ITEMS,
    ),
}

_NESTED: dict[str, Any] = {
    "unique objects": {
        **_ARRAY,
        "uniqueItems": True,
        "items": {"enum": [{"a": 1}, {"a": 1, "b": 1}, {}]},
        "minItems": 2,
    },
    "names that differ, at two depths": {
        **_OBJECT,
        "additionalProperties": {**_OBJECT, "additionalProperties": _INTEGER},
    },
}

TWO_AT_ONCE = ("]]", "],[", "}}", "]}")
"""Tokens that can end two items that must differ; such tokens are left to be spelled."""

CONTAINERS = [
    *(
        Case(f"{name}, in order" * (order == "schema") or name, each, blocks, order)
        for name, (each, blocks) in _OF_OBJECTS.items()
        for order in ("any", "schema")
    ),
    *(Case(name, each, blocks, without=TWO_AT_ONCE) for name, (each, blocks) in _OF_ARRAYS.items()),
    *(Case(name, each, NESTED, without=TWO_AT_ONCE) for name, each in _NESTED.items()),
]
