"""Unions and conjunctions: what multiplies out, and what must be distinguished."""

from __future__ import annotations

from typing import Any

from tests.hostile.shape import ALWAYS, BOUNDED, HostileShape, Subject, array, closed

UNION = Subject("unions")
SCHEMA_ERRORS = frozenset({"unsatisfiable_json_schema"})
WIDE = BOUNDED | {"context_length_exceeded"}
"""Also right for a shape whose schema may not fit into the model's context."""


def overlapping(count: int, width: int) -> list[Any]:
    """Objects that each have `width` properties with patterns that overlap the others'."""
    return [
        {
            "type": "object",
            "properties": {
                f"p{at}": {
                    "type": "string",
                    "pattern": f"^[a-z]{{{1 + at},{9 + option}}}.*{option}",
                }
                for at in range(width)
            },
        }
        for option in range(count)
    ]


def two_required(first: str, second: str) -> Any:
    return {"anyOf": [{"required": [first]}, {"required": [second]}]}


def large(option: int) -> Any:
    """One of many large objects that a constant distinguishes."""
    fields = {f"field_{option}_{at}": {"type": ["string", "null"]} for at in range(30)}
    return closed({"kind": {"const": f"kind {option}"}, **fields}, ["kind"])


def tower(depth: int, keyword: str) -> Any:
    """`keyword` within itself, `depth` times; each level has two options."""
    schema: Any = {"type": "integer"}
    for level in range(depth):
        schema = {keyword: [schema, {"type": "string", "minLength": level}]}
    return schema


def alternating(depth: int) -> Any:
    schema: Any = {"type": "object"}
    for level in range(depth):
        keyword = ("allOf", "anyOf", "oneOf")[level % 3]
        schema = {keyword: [schema, {"required": [f"r{level}"]}, {"minProperties": level}]}
    return schema


TWELVE = {
    "type": "object",
    "allOf": [two_required(f"a{at}", f"b{at}") for at in range(12)],
}
PRODUCT = {
    "allOf": [
        {"anyOf": [{"type": "string", "pattern": f"{letter}.{{{at}}}{letter}"} for at in range(4)]}
        for letter in "abcdefgh"
    ]
}
NESTED_NOT: Any = {"type": "string", "minLength": 2}
for _ in range(20):
    NESTED_NOT = {"not": {"not": {"allOf": [NESTED_NOT, {"not": {"type": "null"}}]}}}
CONDITIONS = {
    "type": "object",
    "allOf": [
        {
            "if": {"properties": {f"k{at}": {"type": "integer"}}, "required": [f"k{at}"]},
            "then": {"required": [f"t{at}"]},
            "else": {"required": [f"e{at}"]},
        }
        for at in range(10)
    ],
}
UNEVALUATED = {
    "type": "object",
    "anyOf": [{"properties": {f"p{at}": {"minimum": at}}} for at in range(12)],
    "unevaluatedProperties": False,
}
MANY_CONTAINS = {
    "type": "array",
    "allOf": [{"contains": {"type": "integer", "multipleOf": at}} for at in range(2, 7)],
    "maxItems": 12,
}

SHAPES: list[HostileShape] = [
    UNION.schema("exactly one of 12 objects with 8 overlapping patterns",
        {"oneOf": overlapping(12, 8)}, outcomes=WIDE),
    UNION.schema("exactly one of 4 objects with 3 overlapping patterns",
        {"oneOf": overlapping(4, 3)}),
    UNION.schema("any of 12 objects with 8 overlapping patterns", {"anyOf": overlapping(12, 8)},
        outcomes=WIDE),
    UNION.schema("all of 12 choices of a required name", TWELVE),
    UNION.schema("all of 20 choices of a required name",
        {"type": "object", "allOf": [two_required(f"a{at}", f"b{at}") for at in range(20)]}),
    UNION.schema("a product of 4 to the 8th patterns", PRODUCT),
    UNION.hidden("exactly one of 41 large objects", {"oneOf": [large(at) for at in range(41)]}),
    UNION.hidden("exactly one of 41 large objects within 60 tokens",
        {"oneOf": [large(at) for at in range(41)]}, max_tokens=60),
    UNION.hidden("any of 300 large objects", {"anyOf": [large(at) for at in range(300)]}),
    *(
        UNION.schema(f"{keyword} 30 levels deep", tower(30, keyword), outcomes=WIDE | SCHEMA_ERRORS)
        for keyword in ("allOf", "anyOf", "oneOf")
    ),
    UNION.schema("allOf, anyOf, oneOf in turn, 24 levels", alternating(24), outcomes=WIDE),
    UNION.schema("negated 40 times", NESTED_NOT, outcomes=WIDE | SCHEMA_ERRORS),
    UNION.schema("ten conditions about ten names", CONDITIONS, outcomes=WIDE),
    UNION.schema("what none of 12 branches evaluates", UNEVALUATED),
    UNION.schema("five kinds of items that must be there", MANY_CONTAINS),
    UNION.schema("exactly one of ranges that overlap",
        {"oneOf": [
        {"type": "integer", "minimum": at, "maximum": 10 * at + 9} for at in range(60)]}),
    UNION.schema("exactly one of ten multiples",
        {"oneOf": [
        {"type": "integer", "multipleOf": at} for at in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29)]}),
    UNION.schema("no object of eight kinds",
        {"type": "object", "not": {"anyOf": overlapping(8, 4)}}, outcomes=WIDE),
    UNION.schema("any value but one of 500",
        {"not": {"enum": list(range(500))}}, outcomes=WIDE),
    UNION.hidden("a union of arrays that begin alike", {"anyOf": [
        {"type": "array", "prefixItems": [{"type": "string"}] * at + [{"const": at}],
         "minItems": at + 1, "maxItems": at + 1, "items": False} for at in range(24)]}),
    UNION.schema("exactly one of arrays that contain",
        {"oneOf": [
        {"type": "array", "contains": {"const": at}, "maxItems": 8} for at in range(6)]}),
    UNION.schema("dependent schemas in a circle", {
        "type": "object", "minProperties": 1,
        "properties": {f"n{at}": {"type": "boolean"} for at in range(14)},
        "additionalProperties": False,
        "dependentSchemas": {f"n{at}": {"anyOf": [{"required": [f"n{(at + 1) % 14}"]},
            {"required": [f"n{(at + 5) % 14}"]}]} for at in range(14)}}, outcomes=WIDE),
    UNION.schema("a nullable union of unions", array({"anyOf": [
        {"anyOf": [{"type": "null"}, {"type": "string", "maxLength": at}]} for at in range(40)]},
        maxItems=6), outcomes=ALWAYS | WIDE),
]  # fmt: skip
