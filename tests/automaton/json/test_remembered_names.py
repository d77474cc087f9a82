"""Which names the contexts of objects remember."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from maskwright.automaton.json.remembered_names import RememberedNames, names_within
from maskwright.automaton.value.name_classes import NameClasses
from maskwright.limits import DEFAULT_LIMITS
from tests.automaton.solving import object_

WITHIN: list[tuple[bytes, set[str]]] = [
    (b"a", set()),
    (b'"a', set()),
    (b'"a"', {"a"}),
    (b'""', {""}),
    (b',"a":', {"a"}),
    (b'"a","b"', {"a", ",", "b"}),  # the middle one where the token begins within a name
    (b'"\\u0061"', {"a"}),
    (b'\\""', {""}),
    (b'"\xff"', set()),  # no text
    (b'"a\\"', set()),
]


@pytest.mark.parametrize(("token", "names"), WITHIN)
def test_names_within_tokens(token: bytes, names: set[str]) -> None:
    assert names_within([token]) == names


REMEMBERED: list[tuple[dict[str, Any], str, bool]] = [
    ({}, "x", False),
    ({}, "whole", True),  # a token holds it
    ({"patternProperties": {"^x": {}}}, "x", False),
    ({"patternProperties": {"^(a|b[ab]*)$": {}}, "additionalProperties": False}, "a", True),
    ({"patternProperties": {"^(a|b[ab]*)$": {}}, "additionalProperties": False}, "ba", False),
    ({"propertyNames": {"maxLength": 3}}, "a", False),  # a million squared begin so
    ({"propertyNames": {"maxLength": 3}}, "abc", True),
    ({"propertyNames": {"pattern": "^[ab]{1,12}$"}}, "a", True),
    ({"propertyNames": {"pattern": "^[ab]{1,40}$"}}, "a", False),
    ({"minProperties": 2}, "a", True),
    ({"minProperties": 1}, "a", False),
]


@pytest.mark.parametrize(("schema", "name", "is_remembered"), REMEMBERED)
def test_remembered(schema: dict[str, Any], name: str, *, is_remembered: bool) -> None:
    start = object_(schema)
    remembered = RememberedNames(NameClasses(DEFAULT_LIMITS), frozenset(["whole"]))
    after = replace(start, others=frozenset([name]), count=min(1, start.shape.least))
    assert remembered.reduced(after).others == ({name} if is_remembered else set())


def test_all_names_are_remembered_where_some_text_has_no_tokens() -> None:
    after = replace(object_({}), others=frozenset(["x"]))
    assert RememberedNames(NameClasses(DEFAULT_LIMITS), None).reduced(after) == after


def test_names_are_left_to_the_text_once_no_more_are_needed() -> None:
    remembered = RememberedNames(NameClasses(DEFAULT_LIMITS), frozenset())
    start = object_({"minProperties": 2})
    first = replace(start, others=frozenset("a"), count=1)
    assert remembered.reduced(first) == first
    second = replace(start, others=frozenset("ab"), count=2)
    assert remembered.reduced(second) == replace(start, count=2, has_unremembered=True)
