"""Arrays in which some two items must be equal: what negates `uniqueItems`, against brute force."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from maskwright import compile_json_schema
from maskwright.errors import UnsatisfiableSchemaError
from tests.properties.exactness import check_exact
from tests.properties.judge import Judge
from tests.properties.test_liveness import SMALL, check_walks
from tests.properties.test_schemas_are_exact import small
from tests.properties.universe import Blocks, universe
from tests.walks.samples import sampled

ON_TO_THE_NEXT = ("],[", '","', '1,"b', ',"')
"""Tokens that may end an item and begin one that depends on it; such are left to be spelled."""
ITEMS = Blocks(scalars=("1", "1.0", "2", '"a"', '"b"'), arrays=True, longest=8)

REPEATED: dict[str, Any] = {"type": "array", "not": {"uniqueItems": True}}
ONE_OR_A: dict[str, Any] = {"enum": [1, "a"]}
CASES: dict[str, dict[str, Any]] = {
    "few values": {**REPEATED, "items": {"enum": [1, 2]}},
    "two items": {**REPEATED, "maxItems": 2},
    "the first must be as the second": {
        **REPEATED,
        "prefixItems": [{}, {"type": "integer"}],
        "items": False,
    },
    "any two of three": {
        **REPEATED,
        "prefixItems": [ONE_OR_A, {"type": "string"}, {"enum": [1, 2]}],
        "items": False,
    },
    "at most one string": {**REPEATED, "contains": {"type": "string"}, "maxContains": 1},
    "two strings": {**REPEATED, "contains": {"type": "string"}, "minContains": 2, "maxItems": 2},
    "some excluded": {**REPEATED, "maxItems": 2, "not": {"enum": [[1, 1], ["a", "a"]]}},
    "some enumerated": {**REPEATED, "enum": [[1, 1], [1, 2], ["a", "a", 1], [1]]},
    "arrays within": {**REPEATED, "items": {"type": "array", "items": {"const": 1}}, "maxItems": 2},
    "within unique ones": {
        "type": "array",
        "uniqueItems": True,
        "items": {**REPEATED, "items": {"const": 1}, "maxItems": 3},
    },
    "recursive": {
        "$ref": "#/$defs/a",
        "$defs": {"a": {"anyOf": [ONE_OR_A, {**REPEATED, "items": {"$ref": "#/$defs/a"}}]}},
    },
    "oneOf": {"oneOf": [{"type": "array", "uniqueItems": True}, {"type": "array", "maxItems": 2}]},
    "if": {"if": {"uniqueItems": True}, "then": {"maxItems": 1}, "type": "array"},
    "contains": {"type": "array", "contains": REPEATED, "maxItems": 2},
}


@pytest.mark.parametrize("name", sampled(list(CASES), 8, seed=1))
def test_masks(name: str) -> None:
    schema, judge = CASES[name], Judge(CASES[name])
    language = [text.data for text in universe(ITEMS) if judge.value(text.value)]
    without = () if name in ("few values", "oneOf", "if") else ON_TO_THE_NEXT
    check_exact(compile_json_schema(schema, small(without), property_order="any"), language, judge)


@pytest.mark.parametrize("name", CASES)
def test_walks(name: str) -> None:
    check_walks(CASES[name], SMALL, Random(name), 2)


UNSATISFIABLE: list[dict[str, Any]] = [
    {**REPEATED, "maxItems": 1},
    {**REPEATED, "prefixItems": [{"type": "string"}, {"type": "integer"}], "maxItems": 2},
    {**REPEATED, "prefixItems": [{"const": 1}], "items": {"type": "null"}, "maxItems": 2},
    {**REPEATED, "uniqueItems": True},
    {**REPEATED, "items": {"type": "null"}, "contains": {"const": 1}},
]


@pytest.mark.parametrize("schema", UNSATISFIABLE, ids=str)
def test_where_no_two_items_can_be_equal(schema: dict[str, Any]) -> None:
    with pytest.raises(UnsatisfiableSchemaError):
        compile_json_schema(schema, SMALL)


def test_a_token_that_goes_on_behind_an_item_is_not_offered() -> None:
    grammar = compile_json_schema(CASES["two items"], SMALL, whitespace="compact")
    for cut, offered in (([b"],["], False), ([b"]", b",", b"["], True)):
        matcher = grammar.matcher()
        assert matcher.accept_bytes(b"[[") == 2
        tokens = [SMALL.tokens.index(data) for data in cut]
        assert all(matcher.accept(token) for token in tokens) is offered
