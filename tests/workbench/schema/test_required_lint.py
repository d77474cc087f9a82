from __future__ import annotations

from typing import Any

import pytest

from maskwright.workbench.schema.lint import subschemas, unlisted

LISTED = {"properties": {"a": True, "b": True}}
NEEDED = {"required": ["a"]}


@pytest.mark.parametrize(
    ("schema", "pointers"),
    [
        ({**LISTED, "required": ["a", "c"]}, ["/required/1"]),
        ({**LISTED, "anyOf": [NEEDED, {"required": ["b"]}]}, []),
        ({**LISTED, "anyOf": [NEEDED, {"required": ["c"]}]}, ["/anyOf/1/required/0"]),
        ({**LISTED, "allOf": [{"oneOf": [NEEDED]}]}, []),
        ({"allOf": [LISTED, NEEDED]}, []),
        ({"allOf": [{"$ref": "#/$defs/x"}, NEEDED], "$defs": {"x": LISTED}}, []),
        ({"if": {"required": ["c"]}, "then": NEEDED, **LISTED}, []),
        ({"if": {"required": ["c"]}, "else": {"required": ["d"]}}, ["/else/required/0"]),
        ({"not": {"anyOf": [NEEDED, {"required": ["c"]}]}}, []),  # it has to be absent
        ({"dependentSchemas": {"a": {"required": ["b"]}}, **LISTED}, []),
        ({**LISTED, "items": NEEDED}, ["/items/required/0"]),  # another value
        ({"properties": {"not": NEEDED}}, ["/properties/not/required/0"]),
        ({**NEEDED, "patternProperties": {"^a": True}}, []),
        ({**NEEDED, "additionalProperties": {"type": "null"}}, []),
        ({"additionalProperties": False, "anyOf": [NEEDED]}, []),  # reported as unsatisfiable
    ],
)
def test_required_properties_that_are_not_listed(schema: Any, pointers: list[str]) -> None:
    assert [each.pointer for each in unlisted(subschemas(schema))] == pointers
