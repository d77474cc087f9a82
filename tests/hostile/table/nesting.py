"""Depth: schemas, values and groups within each other."""

from __future__ import annotations

from typing import Any

from tests.hostile.shape import BOUNDED, HostileShape, Subject, array, closed

NEST = Subject("nesting")
DEEP = BOUNDED | {"context_length_exceeded", "max_tokens_too_small"}
TOO_DEEP = frozenset({"limit_exceeded", "invalid_json", "invalid_json_schema"})


def arrays(depth: int) -> Any:
    schema: Any = {"type": "integer"}
    for _ in range(depth):
        schema = array(schema, maxItems=2)
    return schema


def objects(depth: int) -> Any:
    schema: Any = {"type": "null"}
    for level in range(depth):
        schema = closed({f"n{level}": schema})
    return schema


def enumerated(depth: int) -> Any:
    value: Any = 1
    for level in range(depth):
        value = [value] if level % 2 else {"a": value}
    return value


RECURSIVE = {"$defs": {"a": {"anyOf": [array({"$ref": "#/$defs/a"}, minItems=1), {"const": 1}]}},
             "$ref": "#/$defs/a"}  # fmt: skip
AT_LEAST_20: Any = {"$defs": {"a20": {"const": 1}}, "$ref": "#/$defs/a0"}
for _level in range(20):
    AT_LEAST_20["$defs"][f"a{_level}"] = {
        "anyOf": [array({"$ref": f"#/$defs/a{_level + 1}"}, minItems=1)] * 2
    }

SHAPES: list[HostileShape] = [
    NEST.schema("arrays 30 deep", arrays(30), outcomes=DEEP),
    NEST.schema("arrays 60 deep", arrays(60), outcomes=DEEP),
    NEST.hidden("arrays 120 deep", arrays(120), outcomes=DEEP),
    NEST.hidden("arrays 300 deep", arrays(300), outcomes=TOO_DEEP),
    NEST.hidden("arrays 900 deep", arrays(900), outcomes=TOO_DEEP),
    NEST.hidden("objects 60 deep", objects(60), outcomes=DEEP, max_tokens=900),
    NEST.hidden("objects 200 deep", objects(200), outcomes=DEEP | TOO_DEEP),
    NEST.hidden("a constant 100 deep", {"const": enumerated(100)}, outcomes=DEEP, max_tokens=900),
    NEST.hidden("a constant 400 deep", {"const": enumerated(400)}, outcomes=TOO_DEEP),
    NEST.schema("arrays as deep as the model likes", RECURSIVE, max_tokens=None),
    NEST.schema("20 levels of two equal branches", AT_LEAST_20, outcomes=DEEP),
    NEST.schema("any JSON value", True, max_tokens=None),
    NEST.schema("any JSON value within 12 tokens", True, max_tokens=12),
    NEST.schema("any object with any value", {"type": "object", "additionalProperties": {
        "type": "array", "items": {"type": "object"}}}),
    NEST.regex("a pattern 120 groups deep", "(?:a|b" * 120 + ")*" * 120),
    NEST.grammar("parentheses", 'start: p\np: "(" p ")" | p p | ""', r"[()]*"),
    NEST.grammar("brackets of four kinds", 'start: p\np: ("(" p ")" | "[" p "]" | "{" p "}" '
        '| "<" p ">")*', r"[][(){}<>]*"),
    NEST.grammar("a grammar 200 groups deep", "start: " + '("a" | ' * 200 + '"b"' + ")*" * 200,
        "[ab]*", outcomes=BOUNDED | {"invalid_grammar"}),
    NEST.grammar("a grammar 20,000 groups deep", "start: " + "(" * 20000 + '"b"' + ")" * 20000,
        "b", outcomes=frozenset({"limit_exceeded", "invalid_grammar", "ready"})),
]  # fmt: skip
