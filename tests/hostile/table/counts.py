"""Counts: lengths, numbers of items and members, divisors and ranges."""

from __future__ import annotations

from tests.hostile.shape import ALWAYS, BOUNDED, HostileShape, Subject, array, closed

COUNT = Subject("counts")
TOO_LONG = frozenset({"max_tokens_too_small", "limit_exceeded"})
"""Right for what has no text that is short enough."""
UNSATISFIABLE = frozenset({"unsatisfiable_json_schema"})

SHAPES: list[HostileShape] = [
    COUNT.schema("three members of any name",
        {"type": "object", "minProperties": 3, "maxProperties": 3}),
    COUNT.schema("three members, one of them listed", {
        "type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"],
        "minProperties": 3}, max_tokens=30),
    COUNT.schema("30 members of any name", {"type": "object", "minProperties": 30}),
    COUNT.schema("1,000 members of any name", {"type": "object", "minProperties": 1000},
        outcomes=BOUNDED | TOO_LONG),
    COUNT.schema("half of 40 optional members", {
        **closed({f"p{at}": {"type": "boolean"} for at in range(40)}, []),
        "minProperties": 20, "maxProperties": 21}),
    COUNT.schema("a string of 100 to 100,000 characters",
        {"type": "string", "minLength": 100, "maxLength": 100000}),
    COUNT.schema("a string of ten million characters", {"type": "string", "minLength": 10**7},
        outcomes=TOO_LONG),
    COUNT.schema("a string of up to ten million characters",
        {"type": "string", "maxLength": 10**7}),
    COUNT.schema("a pattern of up to 50,000 characters",
        {"type": "string", "pattern": "^[a-z ]*$", "maxLength": 50000}),
    COUNT.schema("a pattern of an odd length of 301 to 999",
        {"type": "string", "pattern": "^(..)*.$", "minLength": 301, "maxLength": 999},
        max_tokens=600),
    COUNT.schema("an array of 100,000 items", array({"type": "integer"}, minItems=100000),
        outcomes=TOO_LONG),
    COUNT.schema("a property of 100,000 items that may be left out",
        closed({"a": array({}, minItems=100000), "b": {"type": "integer"}}, ["b"]),
        outcomes=ALWAYS),
    COUNT.schema("an array of up to 10**12 items", array({"type": "null"}, maxItems=10**12)),
    COUNT.schema("150 to 160 items, each of its own kind",
        {"type": "array", "prefixItems": [{"const": at} for at in range(160)], "minItems": 150,
         "items": False}, max_tokens=1200, outcomes=BOUNDED | {"context_length_exceeded"}),
    COUNT.schema("exactly 20 items that match, of 40",
        array({"type": "integer", "minimum": 0, "maximum": 99}, contains={"multipleOf": 7},
              minContains=20, maxContains=20, minItems=40, maxItems=40)),
    COUNT.schema("20 items that match, of any number",
        array({"type": "string", "maxLength": 3}, contains={"pattern": "^a"}, minContains=20)),
    COUNT.schema("at most two of each of five kinds", {"type": "array", "minItems": 8, "allOf": [
        {"contains": {"const": at}, "minContains": 0, "maxContains": 2} for at in range(5)]}),
    COUNT.schema("a multiple of 2,477", {"type": "integer", "multipleOf": 2477}),
    COUNT.schema("a multiple of 2,503", {"type": "integer", "multipleOf": 2503}),
    COUNT.schema("a multiple of 0.123456789", {"type": "number", "multipleOf": 0.123456789}),
    COUNT.schema("a multiple of 37, 41 and 43, in a range", {"allOf": [
        {"type": "integer", "multipleOf": at, "minimum": 10**6, "maximum": 10**15}
        for at in (37, 41, 43)]}),
    COUNT.schema("no multiple of 2, 3, 5, 7, 11 or 13", {"type": "integer", "minimum": 1000,
        "maximum": 10**9, "not": {"anyOf": [{"multipleOf": at} for at in (2, 3, 5, 7, 11, 13)]}}),
    COUNT.schema("a range without a multiple",
        {"type": "integer", "multipleOf": 1000, "minimum": 1001, "maximum": 1999},
        outcomes=UNSATISFIABLE),
    COUNT.schema("a number between two that differ by 1e-300",
        {"type": "number", "minimum": 1e-300, "maximum": 2e-300}),
    COUNT.schema("a number near the largest", {"type": "number", "minimum": 1e308}),
    COUNT.schema("an integer of 300 digits", {"type": "integer", "minimum": 10**299},
        max_tokens=600),
    COUNT.schema("a decimal of 40 digits",
        {"type": "number", "multipleOf": 1e-40, "minimum": 0, "maximum": 1}),
    COUNT.schema("60 integers in ranges of their own", closed(
        {f"n{at}": {"type": "integer", "minimum": 7**(at % 12), "maximum": 11**(at % 12 + 1)}
         for at in range(60)}, []), outcomes=BOUNDED | {"context_length_exceeded"}),
    COUNT.schema("more items than there may be", array(True, minItems=5, maxItems=4),
        outcomes=UNSATISFIABLE),
    COUNT.schema("three levels of 9 to 11 items",
        array(array(array({"type": "boolean"}, minItems=2, maxItems=3), minItems=2, maxItems=4),
              minItems=9, maxItems=11), max_tokens=400),
    COUNT.schema("a plain string without a token limit", {"type": "string"}, max_tokens=None,
        outcomes=ALWAYS),
]  # fmt: skip
