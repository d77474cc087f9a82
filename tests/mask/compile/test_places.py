"""Where in a document the schema of a part of a value stands."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.grammar.schema.parse import ParseOptions, parse_schema
from maskwright.grammar.schema.tree import Schema
from maskwright.mask.compile.constructs import has_pointer, pointer_at

DOCUMENT: dict[str, Any] = {
    "properties": {
        "plain": {"type": "integer"},
        "list": {"prefixItems": [{"const": 1}], "items": {"type": "null"}},
        "bag": {"contains": {"const": 2}},
        "tree": {"$ref": "#/$defs/tree"},
        "a/b": {"type": "string"},
    },
    "patternProperties": {"^x": {"minimum": 3}},
    "additionalProperties": {"type": "object"},
    "allOf": [{"if": {"required": ["p"]}, "then": {"properties": {"late": {"const": 4}}}}],
    "$defs": {"tree": {"anyOf": [{"type": "null"}, {"items": {"$ref": "#/$defs/tree"}}]}},
}


def root(document: Any = DOCUMENT) -> Schema:
    return parse_schema(document, ParseOptions()).root


@pytest.mark.parametrize(
    ("path", "pointer"),
    [
        ([], ""),
        (["plain"], "/properties/plain"),
        (["plain", "deeper"], "/properties/plain"),
        (["list", 0], "/properties/list/prefixItems/0"),
        (["list", 7], "/properties/list/items"),
        (["bag", 7], "/properties/bag/contains"),
        (["a/b"], "/properties/a~1b"),
        (["xylophone"], "/patternProperties/^x"),
        (["other"], "/additionalProperties"),
        (["tree", 1, 2], "/$defs/tree/anyOf/1/items"),
    ],
)
def test_pointer_at(path: list[str | int], pointer: str) -> None:
    assert pointer_at(root(), path) == pointer


def test_conditions_apply_to_the_value_itself() -> None:
    document = {**DOCUMENT, "additionalProperties": True}
    assert pointer_at(root(document), ["late"]) == "/allOf/0/then/properties/late"


@pytest.mark.parametrize(
    ("pointer", "known"),
    [
        ("", True),
        ("/properties/list/prefixItems/0", True),
        ("/$defs/tree/anyOf/1", True),
        ("/allOf/0/then/properties/late/const", True),
        ("/properties/list/prefixItems/1/x", False),
        ("/properties/unknown/type", False),
    ],
)
def test_has_pointer(pointer: str, known: bool) -> None:
    assert has_pointer(root(), pointer) is known
