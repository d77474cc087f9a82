"""The structure of a schema as tracks: every keyword is in the picture."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.workbench.diagram.schema_tracks import schema_tracks
from maskwright.workbench.diagram.tracks import Track


def labels(track: Track) -> list[str]:
    parts: list[Any] = []
    track.walk(parts.append)
    return [part.text for part in parts if hasattr(part, "text")]


@pytest.mark.parametrize(
    ("schema", "shown"),
    [
        (
            {"type": "string", "minLength": 2, "pattern": "^a"},
            "string of 2 or more characters like /^a/",
        ),
        ({"type": "string", "format": "date"}, "string in format date"),
        ({"type": "integer", "minimum": 1, "maximum": 9}, "integer ≥ 1 ≤ 9"),
        ({"multipleOf": 3}, "number multiple of 3"),
        ({"type": "array", "uniqueItems": True}, "uniqueItems: true"),
        ({"type": "object", "minProperties": 2}, "minProperties: 2"),
        ({"type": "array", "items": {"type": "null"}, "minItems": 2, "maxItems": 4}, "2 to 4×"),
        ({"required": ["a"]}, '"a"'),
        ({"patternProperties": {"^x": True}}, "name like /^x/"),
        ({"not": {"const": 1}}, "not"),
        ({"if": {"const": 1}, "then": False}, "no value"),
        ({"enum": [*range(30)]}, "… 6 more"),
        ({"type": "strange"}, "strange"),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"const": 5}}}, "#/$defs/a"),
        ({"allOf": [{"const": 1}, {"const": 2}]}, "and also"),
        (True, "any value"),
        (False, "no value"),
    ],
)
def test_a_keyword_is_shown(schema: Any, shown: str) -> None:
    assert shown in labels(schema_tracks(schema)["#"])


def test_annotations_are_left_out() -> None:
    schema = {"type": "null", "title": "T", "description": "D", "default": None}
    assert labels(schema_tracks(schema)["#"]) == ["null"]


def test_what_is_referred_to_has_a_diagram() -> None:
    schema = {
        "$ref": "#/$defs/a",
        "$defs": {"a": {"items": {"$ref": "#"}}, "b": {}, "c": {"$ref": "#/$defs/b"}},
    }
    assert list(schema_tracks(schema)) == ["#", "#/$defs/a"]
    assert list(schema_tracks({"$ref": "#/$defs/none"})) == ["#"]
