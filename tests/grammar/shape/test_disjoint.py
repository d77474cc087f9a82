"""What shows of a schema at a glance is true, though not all that is true shows."""

from __future__ import annotations

import pytest

from maskwright.grammar.schema.parse import ParseOptions, parse_schema
from maskwright.grammar.schema.tree import Json, Schema, negated
from maskwright.grammar.shape.disjoint import (
    are_disjoint,
    have_disjoint_members,
)


def schema(document: Json) -> Schema:
    return parse_schema(document, ParseOptions()).root


APART: list[tuple[Json, Json, bool]] = [
    ({"type": "string"}, {"type": "integer"}, True),
    ({"type": "number"}, {"type": "integer"}, False),
    ({"const": "a"}, {"enum": ["b", "c"]}, True),
    ({"const": 1}, {"const": 1.0}, False),
    ({"const": 1}, {"const": True}, True),
    ({"const": "a"}, {"not": {"enum": ["a", "b"]}}, True),
    ({"enum": ["a", "z"]}, {"not": {"enum": ["a", "b"]}}, False),
    ({"const": "a"}, {"anyOf": [{"const": "b"}, {"type": "null"}]}, True),
    ({"const": "a"}, {"anyOf": [{"const": "b"}, {"type": "string"}]}, False),
    ({"type": "array"}, {"enum": [1, [2]]}, False),
    ({"type": "object"}, {"enum": [1, [2]]}, True),
    ({"enum": ["a"]}, False, True),
    ({"type": "string", "pattern": "^A$"}, {"pattern": "^B$"}, True),
    ({"pattern": "^A$"}, {"pattern": "^B$"}, False),  # both allow numbers
    ({"type": "string", "pattern": "^(A|B)$"}, {"pattern": "^[BC]$"}, False),
    ({"type": "string", "pattern": "^(A|B)$"}, {"enum": ["C", "A "]}, True),
    ({"type": "string", "pattern": "^(A|B)$"}, {"not": {"enum": ["B", "A"]}}, True),
    ({"type": "string", "pattern": "^A+$"}, {"const": "B"}, False),  # too many to be listed
    ({"type": ["string", "null"], "pattern": "^A$"}, {"const": None}, False),
    ({"type": ["string", "array"], "pattern": "^A$"}, {"pattern": "^B$"}, False),
    (
        {"type": "string", "pattern": "^A$"},
        {"anyOf": [{"type": "string", "pattern": "^B$"}, {"enum": [1, "C"]}]},
        True,
    ),
    ({"type": "string", "maxLength": 0}, {"pattern": "^B$"}, True),
    ({}, {}, False),
]


@pytest.mark.parametrize(("left", "right", "expected"), APART)
def test_apart(left: Json, right: Json, expected: bool) -> None:
    assert are_disjoint([schema(left)], schema(right)) is expected
    assert are_disjoint([schema(right)], schema(left)) is expected


def test_a_schema_and_its_negation() -> None:
    one = schema({"properties": {"a": {"minimum": 3}}})
    assert are_disjoint([one], negated(one))


def test_objects_told_apart_by_a_required_member() -> None:
    def kind(value: str, *required: str) -> Schema:
        return schema({"properties": {"kind": {"const": value}}, "required": [*required]})

    assert have_disjoint_members(kind("a", "kind"), kind("b"))
    assert not have_disjoint_members(kind("a"), kind("b"))
    assert not have_disjoint_members(kind("a", "kind"), kind("a", "kind"))
