"""References: recursion, doubling, circles, and long chains of definitions."""

from __future__ import annotations

from typing import Any

from tests.hostile.shape import ALWAYS, BOUNDED, HostileShape, Subject, array, closed

REFERENCE = Subject("references")
INVALID = frozenset({"invalid_json_schema", "unsatisfiable_json_schema"})
UNSUPPORTED = frozenset({"unsupported_json_schema"})
LONG = BOUNDED | {"context_length_exceeded"}


def ref(name: object) -> dict[str, str]:
    return {"$ref": f"#/$defs/{name}"}


def doubled(levels: int, keyword: str) -> Any:
    """Each definition names the next one twice: 2 to the power of `levels` ways down."""
    steps = {f"d{at}": {keyword: [ref(f"d{at + 1}"), ref(f"d{at + 1}")]} for at in range(levels)}
    return {"$defs": {**steps, f"d{levels}": {"type": "integer"}}, **ref("d0")}


def chained(length: int) -> Any:
    links: dict[str, Any] = {f"c{at}": ref(f"c{at + 1}") for at in range(length)}
    return {"$defs": {**links, f"c{length}": {"type": "boolean"}}, **ref("c0")}


def mutual(count: int) -> Any:
    """Objects of `count` kinds, each of which may hold every other kind."""
    kinds = {
        f"k{at}": closed(
            {f"m{other}": ref(f"k{other}") for other in range(count) if other != at}, []
        )
        for at in range(count)
    }
    return {"$defs": kinds, **ref("k0")}


EXPRESSION: Any = {
    "$defs": {
        "e": {
            "anyOf": [
                {"type": "number"},
                {"type": "string", "pattern": "^[a-z]+$"},
                closed({"op": {"enum": ["+", "-", "*"]}, "of": array(ref("e"), minItems=2)}),
                closed({"not": ref("e")}),
                array(ref("e"), minItems=1),
            ]
        }
    },
    **ref("e"),
}
TREE_EXACTLY_ONE: Any = {
    "$defs": {
        "t": {
            "oneOf": [
                {"type": "object", "properties": {"l": ref("t"), "r": ref("t")}},
                {"type": "object", "required": ["leaf"]},
                {"type": "array", "items": ref("t")},
            ]
        }
    },
    **ref("t"),
}
DYNAMIC: Any = {
    "$id": "https://example.test/tree",
    "$dynamicAnchor": "node",
    "type": "object",
    "properties": {"data": True, "children": array({"$dynamicRef": "#node"})},
    "unevaluatedProperties": False,
}

SHAPES: list[HostileShape] = [
    REFERENCE.schema("doubled 40 times in anyOf", doubled(40, "anyOf"), outcomes=LONG),
    REFERENCE.schema("doubled 40 times in allOf", doubled(40, "allOf"), outcomes=LONG),
    REFERENCE.schema("doubled 16 times in oneOf", doubled(16, "oneOf"), outcomes=LONG | INVALID),
    REFERENCE.schema("doubled 40 times in oneOf", doubled(40, "oneOf"), outcomes=LONG | INVALID),
    REFERENCE.schema("doubled 20 times in anyOf, streamed", doubled(20, "anyOf"), stream=True,
        outcomes=LONG),
    REFERENCE.schema("a chain of 40 references", chained(40), outcomes=ALWAYS),
    REFERENCE.hidden("a chain of 3,000 references", chained(3000)),
    REFERENCE.schema("a circle of two", {"$defs": {"a": ref("b"), "b": ref("a")}, **ref("a")},
        outcomes=INVALID),
    REFERENCE.schema("itself", {"$ref": "#"}, outcomes=INVALID),
    REFERENCE.schema("itself in allOf", {"allOf": [{"$ref": "#"}, {"type": "object"}]},
        outcomes=INVALID),
    REFERENCE.schema("not itself", {"not": {"$ref": "#"}}, outcomes=INVALID | BOUNDED),
    REFERENCE.schema("an object that needs itself",
        {"$defs": {"n": closed({"n": ref("n")})}, **ref("n")}, outcomes=INVALID),
    REFERENCE.schema("six kinds that hold each other", mutual(6)),
    REFERENCE.hidden("40 kinds that hold each other", mutual(40)),
    REFERENCE.schema("an expression", EXPRESSION, outcomes=ALWAYS),
    REFERENCE.schema("a tree that is exactly one of three", TREE_EXACTLY_ONE),
    REFERENCE.schema("a dynamic reference", DYNAMIC),
    REFERENCE.schema("a reference to another host",
        {"$ref": "https://example.test/schema.json"}, outcomes=UNSUPPORTED | INVALID),
    REFERENCE.schema("a reference to nowhere", {"$ref": "#/$defs/absent"}, outcomes=INVALID),
    REFERENCE.schema("the meta-schema", {"$ref": "https://json-schema.org/draft/2020-12/schema"}),
    REFERENCE.schema("the meta-schema of draft 7",
        {"$ref": "http://json-schema.org/draft-07/schema#"}),
    REFERENCE.schema("no meta-schema",
        {"type": "object", "not": {"$ref": "http://json-schema.org/draft-07/schema#"}}),
    REFERENCE.schema("a recursive conjunction", {
        "$defs": {"a": {"properties": {"x": ref("a"), "y": ref("b")}},
                  "b": {"properties": {"x": ref("b"), "z": ref("a")}}},
        "type": "object", "allOf": [ref("a"), ref("b")]}),
]  # fmt: skip
