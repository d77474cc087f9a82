"""Upper bounds on the branches of a value."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from maskwright.grammar.schema.parse import ParseOptions, most_branches, parse_schema

TWO: dict[str, Any] = {"anyOf": [{"minimum": 1}, {"maximum": 2}]}
THREE: dict[str, Any] = {"oneOf": [{"const": 1}, {"const": 2}, {"const": 3}]}


@pytest.mark.parametrize(
    ("schema", "branches"),
    [
        ({}, 1),
        (TWO, 2),
        ({"allOf": [TWO, THREE]}, 6),
        ({**TWO, **THREE}, 6),
        ({"anyOf": [{"allOf": [TWO, TWO]}, THREE]}, 7),
        ({"if": {"minimum": 1}, "then": THREE, "else": TWO}, 5),
        ({"properties": {"a": TWO}, "items": THREE}, 1),
        ({"contains": TWO, "allOf": [{"contains": {}}]}, 16),
        (
            {
                "$ref": "#/$defs/a",
                "$defs": {"a": {"anyOf": [{}, {"items": {"$ref": "#/$defs/a"}}]}},
            },
            2,
        ),
    ],
)
def test_most_branches(schema: Any, branches: int) -> None:
    assert most_branches([parse_schema(schema, ParseOptions()).root]) == branches


def test_documents_with_few_unions_are_not_looked_at() -> None:
    assert parse_schema({"allOf": [TWO, THREE]}, ParseOptions()).branches == 1
    many = {"properties": {f"p{at}": deepcopy({"allOf": [TWO, THREE]}) for at in range(9)}}
    assert parse_schema(many, ParseOptions()).branches == 6
