"""The shortest value of each conjunction."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from maskwright import LimitError, Limits, compile_json_schema
from maskwright.automaton.satisfy.shortest import check_readable
from maskwright.automaton.value.witness_text import compact
from tests.automaton.solving import conjunction, object_, solver
from tests.hostile.table.unions import overlapping
from tests.matching import EVERY_BYTE

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


def test_what_can_be_read_in_too_many_ways_is_refused_early() -> None:
    """A search through the sets of options that a value may rule out would find nothing sooner."""
    limits = Limits(work=100_000)
    with pytest.raises(LimitError, match="'p0' can be read in more than 4,096 ways") as refused:
        compile_json_schema({"oneOf": overlapping(12, 8)}, EVERY_BYTE, limits=limits)
    assert refused.value.limit == "alternatives"
    assert refused.value.construct is not None
    assert compile_json_schema({"oneOf": overlapping(4, 3)}, EVERY_BYTE, limits=limits)


def test_the_ways_of_all_alternatives_count_together() -> None:
    negated = [
        {"not": {"required": ["v", f"w{e}"], "properties": {"v": {"pattern": e}}}} for e in "abc"
    ]
    schema = {"type": "object", "properties": {"v": {"type": "string"}}, "allOf": negated}
    start, value = object_(schema), conjunction(schema)
    check_readable(value, [start], 8)
    check_readable(value, [start, start], 16)
    check_readable(value, [object_({"type": "object", "properties": {"v": {}}})] * 9, 8)
    with pytest.raises(LimitError, match="'v' can be read in more than 15 ways"):
        check_readable(value, [start, start], 15)
