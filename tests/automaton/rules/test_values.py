"""The JSON values of a grammar: which are read together, and which have instances."""

from __future__ import annotations

import pytest

from maskwright.grammar.rules.tree import JsonValue
from maskwright.grammar.schema.tree import Json
from tests.automaton.rules.networks import value, values

INTEGER, PAIR = {"type": "integer"}, {"const": {"b": 1, "a": [1, 2]}}


@pytest.mark.parametrize(
    ("options", "groups"),
    [
        ([{}, {}], 1),
        ([{"whitespace": "compact"}, {"whitespace": "compact"}], 1),
        ([{"whitespace": "compact"}, {"whitespace": "spaced"}], 2),
        ([{"property_order": "schema"}, {"property_order": "any"}], 2),
        ([{"escapes": "any"}, {"escapes": "needed"}, {"escapes": "any"}], 2),
    ],
)
def test_values_with_equal_options_are_read_together(
    options: list[dict[str, str]], groups: int
) -> None:
    all_values = [value(INTEGER, **each) for each in options]
    found = values().groups(all_values)
    assert len(found) == groups
    assert sorted(map(id, all_values)) == sorted(id(each) for _, group in found for each in group)
    assert len({id(contexts) for contexts, _ in found}) == groups


def test_contexts_are_made_once() -> None:
    made = values()
    assert made.contexts(value(INTEGER)) is made.contexts(value(PAIR))


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (True, True),
        (False, False),
        ({"type": "integer", "minimum": 2, "maximum": 1}, False),
        ({"type": "object", "required": ["a"], "properties": {"a": False}}, False),
        ({"type": "array", "items": False}, True),
    ],
)
def test_which_values_are_satisfiable(schema: Json, expected: bool) -> None:
    made, asked = values(), value(schema)
    assert made.is_satisfiable(asked) is expected
    assert made.is_satisfiable(asked) is expected, "asked again"


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (value(INTEGER), b"0"),
        (value({"type": "string", "minLength": 1}), b'"a"'),
        (value({"minItems": 2, "type": "array", "items": {"const": 7}}), b"[7,7]"),
        (value(PAIR, whitespace="compact"), b'{"b":1,"a":[1,2]}'),
        (value(PAIR, whitespace="spaced"), b'{"b": 1, "a": [1, 2]}'),
    ],
)
def test_a_shortest_instance_is_written_with_the_options(asked: JsonValue, expected: bytes) -> None:
    assert values().shortest(asked) == expected
