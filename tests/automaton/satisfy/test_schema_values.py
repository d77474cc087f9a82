"""Scalars, strings and unread containers of a schema, found without a search."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.automaton.satisfy.schema_values import SchemaValues
from maskwright.automaton.value.equality import NONE
from maskwright.automaton.value.progress import ArrayProgress, ObjectProgress
from maskwright.automaton.value.witness_text import compact
from maskwright.grammar.regular.terms import ANYTHING, EMPTY, Regular, complement, words
from maskwright.grammar.shape.shapes import Shapes
from maskwright.limits import DEFAULT_LIMITS
from tests.automaton.solving import conjunction


def values() -> SchemaValues:
    return SchemaValues(Shapes(), "any", DEFAULT_LIMITS)


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string"}, '""'),
        ({"type": "string", "pattern": "^(bcd|bc|c{3})$"}, '"bc"'),
        ({"enum": ["abc", 1234567]}, '"abc"'),
        ({"enum": ["abcdef", 1234567]}, "1234567"),
        ({"enum": ["éé", 12345]}, "12345"),  # é takes two bytes
        ({"enum": ["a", None, 12]}, "12"),
        ({"type": "boolean"}, "true"),
        ({"type": "integer", "minimum": 100}, "100"),
        ({"type": ["array", "object"]}, None),
        (False, None),
    ],
)
def test_the_shortest_scalar_in_bytes(schema: Any, expected: str | None) -> None:
    found = values().shortest_scalar(conjunction(schema))
    assert (None if found is None else compact(found)) == expected


@pytest.mark.parametrize(
    ("term", "shortest"),
    [
        (EMPTY, None),
        (complement(ANYTHING), None),
        (words(["ccc", "bb"]), "bb"),
        (ANYTHING, ""),
    ],
)
def test_the_shortest_string_of_a_language(term: Regular, shortest: str | None) -> None:
    assert values().shortest_string(term) == shortest
    assert values().is_live(term) is (shortest is not None)


def test_finite_values_are_found_once() -> None:
    found, few = values(), conjunction({"enum": ["a", 1]})
    assert set(found.finite_values(few).texts()) == {'"a"', "1"}
    assert found.finite_values(few) is found.finite_values(few)
    assert found.finite_values(conjunction({"enum": ["b"]})).strings == ("b",)


CONTAINERS: list[tuple[Any, int, int]] = [
    # schema, how many arrays and objects it may be
    (True, 1, 1),
    ({"type": "array"}, 1, 0),
    ({"type": "object"}, 0, 1),
    ({"type": "string"}, 0, 0),
    ({"type": "array", "anyOf": [{"minItems": 3}, {"items": {"type": "null"}}]}, 2, 0),
]


@pytest.mark.parametrize("excluded", [frozenset[str](), frozenset(["[1]", "[2]", '{"a":1}'])])
@pytest.mark.parametrize(("schema", "arrays", "objects"), CONTAINERS)
def test_containers_before_their_first_item_or_member(
    schema: Any, arrays: int, objects: int, excluded: frozenset[str]
) -> None:
    found = list(values().containers(conjunction(schema), excluded))
    kinds = [type(each) for each in found]
    assert kinds == [ArrayProgress] * arrays + [ObjectProgress] * objects
    for each in found:
        if isinstance(each, ArrayProgress):
            assert (each.index, each.seen) == (0, frozenset())
            assert each.counts == (0,) * len(each.shape.contains)
        assert (each.candidates == NONE) is not bool(excluded)
        own = 2 if isinstance(each, ArrayProgress) else 1  # those of its own bracket
        assert len(each.candidates) == (own if excluded else 0)


def test_an_array_counts_what_it_contains_from_zero() -> None:
    schema = {"type": "array", "contains": {"const": 1}, "minContains": 2}
    for excluded in (frozenset[str](), frozenset(["[1]"])):
        (start,) = values().containers(conjunction(schema), excluded)
        assert isinstance(start, ArrayProgress)
        assert start.counts == (0,)
