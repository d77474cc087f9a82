"""The shortest value of each conjunction."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from maskwright.automaton.value.witness_text import compact
from tests.automaton.solving import conjunction, solver

A_B: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"const": 1}}}
TREE: dict[str, Any] = {"type": "object", "properties": {"l": {"$ref": "#"}, "r": {"$ref": "#"}}}
SHORTEST: list[tuple[Any, int | None]] = [
    # schema, bytes of its shortest value
    (True, 1),
    (False, None),
    ({"type": "string"}, 2),
    ({"type": "string", "minLength": 3}, 5),
    ({"type": ["string", "array"], "minLength": 3}, 2),
    ({"enum": ["abc", 1234, [1]]}, 3),
    ({"type": "number", "exclusiveMinimum": 9}, 2),
    ({"type": "number", "minimum": 1000}, 3),  # 1e3
    ({"type": "array", "minItems": 2}, 5),
    ({"type": "array", "minItems": 3, "uniqueItems": True}, 7),
    ({"type": "array", "contains": {"type": "string"}, "minItems": 2}, 6),
    ({"type": "array", "not": {"uniqueItems": True}, "items": {"enum": [10, 2]}}, 5),
    (A_B, 2),
    ({**A_B, "required": ["a"]}, 8),
    ({**A_B, "required": ["a", "b"]}, 14),
    ({**A_B, "minProperties": 1}, 7),
    ({"anyOf": [{**TREE, "required": ["l"]}, {"const": 100}]}, 3),
    ({**TREE, "required": ["l"]}, None),
    (
        {
            "type": "array",
            "prefixItems": [{"anyOf": [{"$ref": "#"}, {"const": 12}]}],
            "minItems": 1,
        },
        4,
    ),
]


@pytest.mark.parametrize(("schema", "count"), SHORTEST)
def test_the_shortest_value(schema: Any, count: int | None) -> None:
    found = solver().shortest.of(conjunction(schema))
    if count is None:
        assert found is None
        return
    assert found is not None
    text = compact(found)
    assert len(text) == count, text
    jsonschema.validate(json.loads(text), schema)


def test_values_that_depend_on_each_other_are_all_settled() -> None:
    """Each of a chain of arrays is as short as the next one allows, whichever is asked first."""
    definitions = {
        f"v{n}": {"type": "array", "items": {"$ref": f"#/$defs/v{n + 1}"}, "minItems": 1}
        for n in range(6)
    }
    schema = {"$ref": "#/$defs/v0", "$defs": {**definitions, "v6": {"enum": [1, "ab"]}}}
    found = solver().shortest.of(conjunction(schema))
    assert found is not None
    assert compact(found) == "[[[[[[1]]]]]]"
