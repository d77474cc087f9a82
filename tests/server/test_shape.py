from __future__ import annotations

from typing import Any

import pytest

from maskwright.server.fields import Fields
from maskwright.server.response_format import FreeText, JsonShape, parse_response_format

SCHEMA = {"type": "object", "properties": {"z": {}, "a": {}, "m": {}}}
INNER = "response_format.json_schema.schema"

SPELLINGS: list[tuple[Any, Any]] = [
    (None, FreeText()),
    ({"type": "text"}, FreeText()),
    ({"type": "json_object"}, JsonShape({"type": "object"}, "response_format", shown=False)),
    ({"type": "json_object", "schema": SCHEMA}, JsonShape(SCHEMA, "response_format.schema")),
    ({"type": "json_schema", "json_schema": {"schema": SCHEMA}}, JsonShape(SCHEMA, INNER)),
    (
        {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA, "strict": True}},
        JsonShape(SCHEMA, INNER),
    ),
    (
        {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA, "strict": False}},
        JsonShape(SCHEMA, INNER),
    ),
    (
        {
            "type": "json_schema",
            "json_schema": {"schema": SCHEMA, "description": "d"},
        },
        JsonShape(SCHEMA, INNER),
    ),
    ({"type": "json_schema", "schema": SCHEMA}, JsonShape(SCHEMA, "response_format.schema")),
    (
        {"type": "json_schema", "name": "n", "strict": True, "schema": SCHEMA},
        JsonShape(SCHEMA, "response_format.schema"),
    ),
    (
        {"type": "json_schema", "json_schema": {"name": "any"}},
        JsonShape(True, "response_format.json_schema", shown=False),
    ),
    ({"type": "json_schema", "json_schema": {"schema": False}}, JsonShape(False, INNER)),
]


@pytest.mark.parametrize(("sent", "read"), SPELLINGS, ids=str)
def test_spellings(sent: Any, read: Any) -> None:
    assert parse_response_format(Fields({"response_format": sent})) == read


def test_the_schema_keeps_its_order() -> None:
    assert JsonShape(SCHEMA, "").text() == '{"type":"object","properties":{"z":{},"a":{},"m":{}}}'
