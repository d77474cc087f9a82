"""Tools: many, large, recursive, with names and descriptions that look like calls."""

from __future__ import annotations

from typing import Any

from tests.hostile.shape import ALWAYS, BOUNDED, HostileShape, Subject, array, closed

TOOL = Subject("tools")
LONG = BOUNDED | {"context_length_exceeded"}
"""Also right where the tools don't fit into the model's context, since the prompt lists them."""
PERSON = {
    "properties": {
        "name": {"title": "Name", "type": "string"},
        "age": {"title": "Age", "type": "integer"},
    },
    "required": ["age", "name"],
    "type": "object",
}
TREE = {
    "type": "object",
    "$defs": {"node": closed({"value": {"type": "integer"},
                              "left": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]},
                              "right": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}})},
    "properties": {"root": {"$ref": "#/$defs/node"}},
    "required": ["root"],
    "additionalProperties": False,
}  # fmt: skip


def named(name: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name}}


def text(**more: Any) -> Any:
    return closed({"value": {"type": "string", **more}})


SHAPES: list[HostileShape] = [
    TOOL.tools("a forced function with listed and other names", [PERSON], named("call_0"),
        max_tokens=None, outcomes=ALWAYS),
    TOOL.tools("the same within 60 tokens", [PERSON], named("call_0"), max_tokens=60,
        outcomes=ALWAYS),
    TOOL.tools("the same under auto", [PERSON], "auto", outcomes=ALWAYS),
    TOOL.tools("the same, streamed", [PERSON], named("call_0"), max_tokens=None, stream=True,
        outcomes=ALWAYS),
    TOOL.tools("a map of strings", [{"type": "object", "additionalProperties": {"type": "string"},
        "minProperties": 5}]),
    TOOL.tools("three members of any name", [{"type": "object", "minProperties": 3}]),
    TOOL.tools("any arguments", [{}]),
    TOOL.tools("an idn-hostname", [text(format="idn-hostname")]),
    TOOL.tools("two counters about letters", [text(pattern=r"^.{0,1000}a.{0,1000}b.{0,12}$")]),
    TOOL.tools("letters before capitals", [text(pattern=r"^\p{L}{1,200}(\p{Lu}|\p{N}){3,90}$")]),
    TOOL.tools("40 small objects", [closed({"v": array(closed({"a": {"enum": [*range(9)]},
        "b": {"type": "boolean"}}), uniqueItems=True, minItems=12, maxItems=18)})]),
    TOOL.tools("a tree", [TREE]),
    TOOL.tools("names of up to 64 letters", [{"type": "object", "minProperties": 1,
        "additionalProperties": False,
        "patternProperties": {"^[a-zA-Z0-9-]{1,64}$": {"type": "string"}}}]),
    TOOL.tools("200 tools", [{"type": "object", "properties": {f"a{at}": {"type": "integer"}}}
        for at in range(200)], outcomes=LONG),
    TOOL.tools("20 tools with patterns that overlap", [text(pattern=f"^.{{{at},{3 * at + 9}}}a.*b$")
        for at in range(20)], outcomes=LONG),
    TOOL.tools("8 tools with formats", [text(format=name) for name in ("idn-hostname", "iri", "uri",
        "idn-email", "regex", "duration", "ipv6", "uri-template")], outcomes=LONG),
    TOOL.tools("12 tools of which one is called under auto", [text(format="idn-hostname",
        maxLength=30 + at) for at in range(12)], "auto", outcomes=LONG),
    TOOL.tools("what can't be called", [PERSON, False], "required",
        outcomes=BOUNDED | {"unsatisfiable_json_schema", "invalid_value"}),
]  # fmt: skip
