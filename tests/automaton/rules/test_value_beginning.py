"""The beginning of a JSON value, read once more: where it stands is where the machine stands."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright import compile_json_schema
from maskwright.automaton.leaf.table import LeafTable
from maskwright.automaton.rules.value_places import ValueBeginning, read_beginning
from maskwright.automaton.rules.values import RuleValues
from maskwright.grammar.rules.tree import JsonValue
from maskwright.grammar.schema.parse import ParseOptions, parse_schema
from maskwright.limits import DEFAULT_LIMITS
from tests.matching import BYTES, EVERY_BYTE, after, allowed

NAMED = {
    "type": "object",
    "properties": {"name": {"enum": ["a", "b"]}, "n": {"type": "integer"}},
    "additionalProperties": False,
}
CASES: list[tuple[Any, str]] = [
    ({}, "{"),
    ({}, '{"name": "weather", "arg'),
    ({}, "[true"),
    ({}, "[[{"),
    ({"uniqueItems": True}, "[1, 2, [3], "),
    ({"anyOf": [NAMED, {"type": "array"}]}, '{"name": "a", "n": 1'),
    ({"properties": {"x": {"minItems": 1}}}, '{"x": [{}, '),
]


def beginning(schema: Any, text: bytes) -> ValueBeginning | None:
    """Where a value of a schema stands after `text`."""
    leaves = LeafTable()
    value = JsonValue(parse_schema(schema, ParseOptions()).root, "spaced")
    values = RuleValues(leaves, DEFAULT_LIMITS)
    return read_beginning(values.contexts(value), (values.root(value),), leaves, text)


@pytest.mark.parametrize(("schema", "text"), CASES)
def test_what_may_follow_is_what_the_machine_lets_follow(schema: Any, text: str) -> None:
    begun = after(compile_json_schema(schema, EVERY_BYTE, whitespace="spaced"), text)
    assert begun is not None
    expected = {bytes([token]) for token in allowed(begun) if token < 256}
    found = {byte for byte in BYTES if beginning(schema, text.encode() + byte) is not None}
    assert found == expected


def test_what_was_left_on_the_way_is_reported() -> None:
    found = beginning({}, b'{"a": [')
    assert found is not None
    assert len(found.contexts) == 3
    assert [one.at for one in found.left] == [1, 1, 4, 6]
