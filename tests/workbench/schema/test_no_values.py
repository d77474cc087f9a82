from __future__ import annotations

from typing import Any

import pytest

from maskwright.errors import UnsatisfiableSchemaError
from maskwright.mask import compile_json_schema
from maskwright.workbench.reading import byte_vocabulary
from maskwright.workbench.schema.no_values import contradiction

NEVER = {"type": "integer", "minimum": 3, "maximum": 2}
ENDLESS: dict[str, Any] = {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/x"}}


def needing(name: str, **more: Any) -> dict[str, Any]:
    return {"type": "object", "required": [name], "additionalProperties": False, **more}


@pytest.mark.parametrize(
    ("schema", "pointer", "message"),
    [
        (needing("a"), "/required/0", "'a' is required, but additionalProperties forbids it"),
        (needing("a", properties={"a": NEVER}), "/properties/a", "contradict"),
        (needing("a", properties={"a": False}), "/properties/a", "no value matches false"),
        (needing("a", properties={"a": needing("b")}), "/properties/a/required/0", "'b'"),
        ({"$ref": "#/$defs/x", "$defs": {"x": NEVER}}, "/$defs/x", "contradict"),
        ({"allOf": [{"type": "integer"}, NEVER]}, "/allOf/1", "contradict"),
        ({"anyOf": [NEVER, False]}, "/anyOf/0", "contradict"),
        ({"type": "array", "minItems": 1, "items": NEVER}, "/items", "contradict"),
        (needing("a", properties={"a": {"$ref": "#"}}), "", "without end"),
        ({"$ref": "#/$defs/x", "$defs": {"x": ENDLESS}}, "/$defs/x", "without end"),
        (NEVER, None, ""),
        (False, None, ""),
    ],
)
def test_where_it_is(schema: Any, pointer: str | None, message: str) -> None:
    with pytest.raises(UnsatisfiableSchemaError):
        compile_json_schema(schema, byte_vocabulary())
    found = contradiction(schema)
    assert (None if found is None else found.pointer) == pointer
    assert found is None or message in found.message
