"""Which scalars a schema leaves, where they are few."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.automaton.value.finite_values import canonical, cheapest, finite_values
from maskwright.grammar.schema.parse import ParseOptions, parse_schema
from maskwright.grammar.shape.shape import Shape
from maskwright.grammar.shape.shapes import Shapes
from tests.ids import named


def shape(schema: Any) -> Shape:
    return Shapes().normal_form(frozenset([parse_schema(schema, ParseOptions()).root]))


FEW: list[tuple[Any, set[str], set[str]]] = [
    ({"enum": ["a", "b", 1, 1.5, None, True]}, {"a", "b"}, {"1", "1.5", "null", "true"}),
    ({"type": "integer", "minimum": -2, "maximum": 3}, set(), {"-2", "-1", "0", "1", "2", "3"}),
    ({"multipleOf": 0.5, "minimum": 0, "maximum": 1, "type": "number"}, set(), {"0", "0.5", "1"}),
    ({"type": "string", "pattern": "^[ab]$"}, {"a", "b"}, set()),
    ({"const": 0.0000001}, set(), {"0.0000001"}),
    ({"const": 1e30}, set(), {"1" + "0" * 30}),
    ({"const": -0.0}, set(), {"0"}),
    ({"type": ["boolean", "null"]}, set(), {"true", "false", "null"}),
    ({"type": "array"}, set(), set()),
]


@pytest.mark.parametrize(("schema", "strings", "scalars"), FEW, ids=named)
def test_few(schema: Any, strings: set[str], scalars: set[str]) -> None:
    found = finite_values(shape(schema))
    assert set(found.strings or ()) == strings
    assert set(found.scalars) == scalars
    assert not found.many_numbers
    assert found.size == len(strings) + len(scalars)


def test_many() -> None:
    found = finite_values(shape({"type": ["integer", "boolean", "string"]}))
    assert found.strings is None
    assert found.many_numbers
    assert set(found.scalars) == {"true", "false"}
    assert finite_values(shape({"type": "integer", "minimum": 0, "maximum": 64})).many_numbers


@pytest.mark.parametrize("divisor", [7, 2003, 0.003])
def test_multiples_are_many_however_far_apart(divisor: float) -> None:
    """Prefixes such as `-1.001` go on, but only up to an exponent."""
    schema = {"type": "integer", "multipleOf": divisor}
    assert finite_values(shape(schema)).many_numbers
    texts = cheapest(shape(schema), 5)
    assert len({canonical(text) for text in texts}) == len(texts) == 5


@pytest.mark.parametrize("schema", [{}, {"type": "integer"}, {"type": "number", "minimum": 5}])
def test_the_cheapest_differ(schema: Any) -> None:
    found = cheapest(shape(schema), 12)
    assert len({canonical(text) for text in found}) == len(found) >= 12
    assert [len(text) for text in found] == sorted(len(text) for text in found)


SAME = [("1", "1.0"), ("1e2", "100"), ('{"a":1,"b":2}', '{"b":2.0,"a":1}'), (r'"\u0061"', '"a"')]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_equal_values_have_one_canonical_text(one: str, other: str) -> None:
    assert canonical(one) == canonical(other)


def test_different_values_differ() -> None:
    texts = ["1", "true", '"1"', "[1]", "0", "false", "null", '""', "[]", "{}"]
    assert len(set(map(canonical, texts))) == len(texts)
