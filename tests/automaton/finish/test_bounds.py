"""Upper bounds on levels: what they are, where there are none, and that no completion is longer."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright import Grammar, compile_json_schema
from maskwright.automaton.finish.distinct_bounds import DISTINGUISHING, UNFINISHED
from maskwright.automaton.machine.contexts import Bound
from tests.automaton.finish.test_completion import completion, configuration
from tests.matching import EVERY_BYTE


def bound_after(grammar: Grammar, text: str) -> Bound | None:
    """The bound on the innermost level; a byte is a token."""
    machine = grammar.recognizer.machine
    node = configuration(grammar, text.encode()).node
    context = int(machine.arrays.node_context[node])
    return machine.contexts.bound(context)


def closed(required: int, **properties: Any) -> dict[str, Any]:
    return {
        "type": "object", "properties": properties, "required": list(properties)[:required],
        "additionalProperties": False,
    }  # fmt: skip


ONE, LONG = {"const": 1}, {"const": "x" * 10}
TWO = {"type": "array", "items": ONE, "minItems": 2}
PAIR, LONGS = closed(2, a=ONE, b=LONG), {"type": "array", "items": LONG, "minItems": 2}
EITHER = {"anyOf": [closed(1, a=ONE), closed(2, a=ONE, b=LONG)]}
RECURSIVE = {"$defs": {"t": closed(1, v=ONE, t={"$ref": "#/$defs/t"})}, "$ref": "#/$defs/t"}
FREE = 1 + UNFINISHED + DISTINGUISHING + 1
"""Around the value of a member with any name: a comma, a name and a colon."""
FRESH = 1 + 3 + 1
"""The same where nothing of the member has been read, and few names have."""
COUNTED = {"type": "object", "minProperties": 2}
NINES = {"patternProperties": {"^a{9}$": ONE}, "additionalProperties": False}
CASES: list[tuple[Any, str, tuple[int, int]]] = [
    # schema, text, bounds after a leaf and after a value
    (ONE, "", (1, 0)),
    (LONG, "", (12, 0)),
    # An array: a comma and an item for each that is required, and the bracket; one more may come
    (TWO, "[", (2 + 2 * 2 + 1, 2 * 2 + 1)),
    (LONGS, '["xxxxxxxxxx"', (13 + 13 + 1, 13 + 1)),
    (LONGS, '["xxxxxxxxxx","xxxxxxxxxx"', (13 + 1, 1)),
    ({"type": "array", "items": False}, "[", (1 + 1, 1)),
    # An object: the members that are required; the costliest member may come
    (PAIR, "{", (17 + UNFINISHED + 6 + 17 + 1, 6 + 17 + 1)),
    (PAIR, '{"a":1,', (17 + UNFINISHED + 17 + 1, 17 + 1)),
    (closed(2, b=LONG, a=ONE), '{"b":"xxxxxxxxxx"', (17 + UNFINISHED + 6 + 1, 6 + 1)),
    (closed(0, a=ONE), "{", (6 + UNFINISHED + 1, 1)),
    # Counts: the costliest member or item stands for each one that is missing
    (COUNTED, "{", (FREE + 1 + FRESH + 1 + 1, 2 * (FRESH + 1) + 1)),
    (COUNTED, '{"x":1,', (FREE + 1 + 1, FRESH + 1 + 1)),
    ({"type": "array", "contains": ONE}, "[", (2 + 2 + 1, 2 + 1)),
    ({"type": "array", "contains": ONE}, "[1", (2 + 2 + 1, 2 + 1)),  # it may not be the one
    # A name of a language: how much of it is missing is known where it is read
    (NINES, "{", (FREE - DISTINGUISHING + 11 + 1 + 1, 1)),
    (RECURSIVE, "{", (12 + UNFINISHED + 6 + 1, 6 + 1)),
    # The greatest of what any thread needs
    (EITHER, '{"a":1,', (17 + UNFINISHED + 17 + 1, 17 + 1)),
]


@pytest.mark.parametrize(("schema", "text", "expected"), CASES, ids=str)
def test_bounds_of_levels(schema: Any, text: str, expected: tuple[int, int]) -> None:
    grammar = compile_json_schema(schema, EVERY_BYTE, whitespace="compact")
    assert bound_after(grammar, text) == Bound(*expected)
    found = completion(grammar, text)
    assert found is not None
    assert len(found) <= expected[0]


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({"type": "array", "allOf": [{"contains": {"const": each}} for each in range(4)]}, "["),
        ({"not": {"type": "array", "uniqueItems": True}, "type": "array"}, "["),
    ],
    ids=str,
)
def test_what_only_a_search_can_tell(schema: Any, text: str) -> None:
    grammar = compile_json_schema(schema, EVERY_BYTE, whitespace="compact")
    assert bound_after(grammar, text) is None


@pytest.mark.parametrize(("schema", "text"), [(TWO, "[1,"), (PAIR, '{"a":')], ids=str)
def test_a_value_within_a_container_has_a_level_of_its_own(schema: Any, text: str) -> None:
    grammar = compile_json_schema(schema, EVERY_BYTE, whitespace="compact")
    assert bound_after(grammar, text) == Bound(1, 0)


def test_lines_count_in_bounds() -> None:
    """Two items, each on a line of its own; one more may come."""
    grammar = compile_json_schema({"prefixItems": [TWO]}, EVERY_BYTE, whitespace="pretty")
    item, closing = len(",\n    1"), len("\n  ]")
    assert bound_after(grammar, "[\n  [") == Bound(3 * item + closing, 2 * item + closing)


STEEP = ['"a"', '"bbb"', '"ccccc"', '"ddddddd"', '"eeeeeeeee"']


@pytest.mark.parametrize("read", [0, 1, 2, 3])
def test_where_items_must_differ_the_bounds_cover_the_costliest_order(read: int) -> None:
    """Those read so far are the cheapest, so that the others have to be the next ones."""
    items = {"enum": [text.strip('"') for text in STEEP]}
    schema = {"type": "array", "uniqueItems": True, "items": items, "minItems": 4}
    grammar = compile_json_schema(schema, EVERY_BYTE, whitespace="compact")
    text = "[" + ",".join(STEEP[:read])
    bound, found = bound_after(grammar, text), completion(grammar, text)
    assert bound is not None
    assert found is not None
    assert bound.after_leaf >= len(found)
    costs = [1 + len(text) for text in STEEP[read + 1 : 4]]  # of those after the next one
    assert bound.after_value >= sum(costs) + 1
