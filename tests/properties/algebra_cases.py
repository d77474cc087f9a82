"""Small schemas of the boolean keywords, and of constraints on scalars that meet there."""

from __future__ import annotations

from typing import Any

from tests.properties.schema_cases import (
    ARRAYS,
    FORMATTED,
    NESTED,
    OBJECTS,
    SCALARS,
    STRINGS,
    Case,
)

_INTEGER = {"type": "integer"}
_NUMBER = {"type": "number"}
_STRING = {"type": "string"}
_OBJECT = {"type": "object"}
_DRAFT_4 = "http://json-schema.org/draft-04/schema#"

_NOT: dict[str, tuple[Any, Any]] = {
    "type": ({"type": ["integer", "null"]}, SCALARS),
    "const": ({"const": 1}, SCALARS),
    "enum": ({"enum": [1, True, None, "a"]}, SCALARS),
    "a range": ({"type": "number", "minimum": 1, "exclusiveMaximum": 10}, SCALARS),
    "a bound": ({"minimum": 1}, SCALARS),
    "multipleOf": ({"multipleOf": 2}, SCALARS),
    "not": ({"not": {"type": "integer"}}, SCALARS),
    "anyOf": ({"anyOf": [{"type": "boolean"}, {"minimum": 2}]}, SCALARS),
    "allOf": ({"allOf": [{"type": "integer"}, {"minimum": 2}]}, SCALARS),
    "oneOf": ({"oneOf": [{"type": "integer"}, {"minimum": 2}]}, SCALARS),
    "if": ({"if": {"type": "integer"}, "then": {"minimum": 2}, "else": {"const": None}}, SCALARS),
    "pattern": ({"type": "string", "pattern": "b"}, STRINGS),
    "length": ({"type": "string", "minLength": 1, "maxLength": 2}, STRINGS),
    "items": ({"items": _INTEGER}, ARRAYS),
    "prefixItems": ({"prefixItems": [_INTEGER, _STRING]}, ARRAYS),
    "item counts": ({"minItems": 1, "maxItems": 2}, ARRAYS),
    "contains": ({"contains": {"const": 1}}, ARRAYS),
    "maxContains": ({"contains": {"const": 1}, "minContains": 1, "maxContains": 1}, ARRAYS),
    "const of an array": ({"const": [1]}, ARRAYS),
    "enum of arrays": ({"enum": [[], [1, 1], [[]]]}, ARRAYS),
    "unevaluatedItems": ({"prefixItems": [{}], "unevaluatedItems": _INTEGER}, ARRAYS),
    "properties": ({"properties": {"a": _INTEGER, "b": _STRING}}, OBJECTS),
    "required": ({"required": ["a", "b"]}, OBJECTS),
    "additionalProperties": ({"properties": {"a": {}}, "additionalProperties": False}, OBJECTS),
    "patternProperties": ({"patternProperties": {"[ab]": _INTEGER}}, OBJECTS),
    "propertyNames": ({"propertyNames": {"pattern": "^[ab]$"}}, OBJECTS),
    "property counts": ({"minProperties": 1, "maxProperties": 1}, OBJECTS),
    "dependentRequired": ({"dependentRequired": {"a": ["b"]}}, OBJECTS),
    "dependentSchemas": ({"dependentSchemas": {"a": {"required": ["b"]}}}, OBJECTS),
    "unevaluatedProperties": (
        {"properties": {"a": {}}, "unevaluatedProperties": _INTEGER},
        OBJECTS,
    ),
    "const of an object": ({"const": {"a": 1}}, OBJECTS),
    "nothing": (False, SCALARS),
}
"""What is forbidden, by its keyword; once alone, and once among values of the type it is about."""
_TYPES = {ARRAYS: {"type": "array"}, OBJECTS: _OBJECT, STRINGS: _STRING, SCALARS: _NUMBER}

ALGEBRA = [
    *(Case(f"not {name}", {"not": each}, blocks) for name, (each, blocks) in _NOT.items()),
    *(
        Case(f"{name} denied among its type", {**_TYPES[blocks], "not": each}, blocks)
        for name, (each, blocks) in _NOT.items()
        if name not in ("type", "not")
    ),
    Case("oneOf disjoint", {"oneOf": [_INTEGER, {"type": "null"}]}, SCALARS),
    Case("oneOf overlapping", {"oneOf": [_INTEGER, {"minimum": 2}]}, SCALARS),
    Case("oneOf of three", {"oneOf": [_INTEGER, {"minimum": 2}, {"maximum": 10}]}, SCALARS),
    Case("oneOf and siblings", {**_NUMBER, "oneOf": [_INTEGER, {"maximum": 1}]}, SCALARS),
    Case("oneOf of strings", {**_STRING, "oneOf": [{"pattern": "a"}, {"minLength": 2}]}, STRINGS),
    Case("oneOf of arrays", {"oneOf": [{"items": _INTEGER}, {"minItems": 2}]}, ARRAYS),
    Case(
        "oneOf of objects",
        {"oneOf": [{"required": ["a"]}, {"required": ["b"]}], **_OBJECT},
        OBJECTS,
    ),
    Case(
        "oneOf of objects with typed members",
        {
            "oneOf": [
                {"properties": {"a": _INTEGER}, "required": ["a"]},
                {"properties": {"b": _INTEGER}, "required": ["b"]},
                {"properties": {"a": _STRING, "b": _STRING}, "required": ["b", "a"]},
            ],
            **_OBJECT,
        },
        OBJECTS,
    ),
    Case(
        "oneOf within oneOf",
        {"oneOf": [{"oneOf": [_INTEGER, {"minimum": 2}]}, {"enum": [1, 2, None]}]},
        SCALARS,
    ),
    Case(
        "oneOf by a constant",
        {
            "oneOf": [
                {"properties": {"a": {"const": 1}}, "required": ["a"]},
                {"properties": {"a": {"const": "a"}, "b": _INTEGER}, "required": ["a"]},
            ],
            **_OBJECT,
        },
        OBJECTS,
    ),
    Case(
        "several allOf",
        {
            "allOf": [
                {"anyOf": [_INTEGER, {"type": "null"}]},
                {"not": {"const": 12}},
                {"oneOf": [{"minimum": 2}, {"maximum": 15}]},
            ]
        },
        SCALARS,
    ),
    Case("if then", {"if": _INTEGER, "then": {"minimum": 2}}, SCALARS),
    Case("if else", {"if": _INTEGER, "else": {"type": "boolean"}}, SCALARS),
    Case("if alone", {"if": _INTEGER, "type": "number"}, SCALARS),
    Case(
        "if about members",
        {
            **_OBJECT,
            "if": {"properties": {"a": {"const": 1}}, "required": ["a"]},
            "then": {"required": ["b"]},
            "else": {"properties": {"b": _STRING}},
        },
        OBJECTS,
    ),
    Case(
        "if about items",
        {"type": "array", "if": {"contains": {"const": 1}}, "then": {"maxItems": 2}},
        ARRAYS,
    ),
    Case("true among others", {"anyOf": [True, _INTEGER]}, SCALARS),
    Case("false among others", {"oneOf": [False, _INTEGER]}, SCALARS),
    Case("multipleOf", {"type": "number", "multipleOf": 2}, SCALARS),
    Case("multipleOf a fraction", {"type": "number", "multipleOf": 0.5}, SCALARS),
    Case("multipleOf within a range", {"multipleOf": 5, "minimum": 1, "type": "number"}, SCALARS),
    Case("several multipleOf", {"allOf": [{"multipleOf": 2}, {"multipleOf": 5}]}, SCALARS),
    Case("no type", {"minimum": 2, "minLength": 1, "minItems": 1, "required": ["a"]}, NESTED),
    Case("enum of containers", {"enum": [[1], {"a": [2]}, {"b": {}}, []]}, NESTED),
    Case("const of a container", {"const": {"b": [1]}}, NESTED),
    Case(
        "const and properties", {"enum": [{"a": 1}, {"a": 2}], "not": {"const": {"a": 2}}}, NESTED
    ),
    Case(
        "exclusive in draft 4",
        {"$schema": _DRAFT_4, "minimum": 1, "exclusiveMinimum": True, "maximum": 12},
        SCALARS,
    ),
    Case(
        "both exclusive in draft 4",
        {
            "$schema": _DRAFT_4,
            "type": "number",
            "minimum": 1,
            "exclusiveMinimum": True,
            "maximum": 2,
            "exclusiveMaximum": True,
        },
        SCALARS,
    ),
    Case("format", {"type": "string", "format": "ipv4"}, FORMATTED),
    Case("format and pattern", {"type": "string", "format": "date", "pattern": "^20"}, FORMATTED),
    Case(
        "format denied",
        {"type": "string", "pattern": r"^[0-9]\.0\.0\.[0-9]{1,3}$", "not": {"format": "ipv4"}},
        FORMATTED,
    ),
]
