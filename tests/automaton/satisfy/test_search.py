"""Shortest completions of containers that have been read in part."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from maskwright.automaton.satisfy.search import ContainerSearch, container
from maskwright.automaton.value.equality import equality_candidates
from maskwright.automaton.value.witness_text import compact
from maskwright.errors import LimitError
from tests.automaton.solving import array, conjunction, object_, solver


def search() -> ContainerSearch:
    return solver().search


def completed(progress: Any) -> str | None:
    found = search().completion(progress)
    return None if found is None else compact(container(progress, found))


A_B: dict[str, Any] = {"properties": {"a": {"enum": [10, 2]}, "b": {"type": "null"}}}
OBJECTS: list[tuple[dict[str, Any], list[str], str | None]] = [
    # keywords, names read, what completes the object
    (A_B, [], "{}"),
    ({**A_B, "required": ["a"]}, [], '{"a":2}'),
    ({**A_B, "required": ["a"]}, ["a"], "{}"),
    ({**A_B, "required": ["a", "b"]}, ["b"], '{"a":2}'),
    ({**A_B, "minProperties": 1}, [], '{"a":2}'),
    ({**A_B, "minProperties": 2}, ["a"], '{"0":1}'),
    ({**A_B, "minProperties": 2, "additionalProperties": False}, ["b"], '{"a":2}'),
    ({**A_B, "minProperties": 3, "additionalProperties": False}, [], None),
    ({**A_B, "maxProperties": 1, "required": ["b"]}, ["a"], None),
    ({"patternProperties": {"^x": {"const": 1}}, "additionalProperties": False,
      "minProperties": 2}, [], '{"x":1,"xA":1}'),
]  # fmt: skip


@pytest.mark.parametrize(("keywords", "read", "text"), OBJECTS)
def test_objects(keywords: dict[str, Any], read: list[str], text: str | None) -> None:
    progress = object_(keywords)
    for name in read:
        progress = progress.with_member(progress.shape.names.index(name), "any")
    found = completed(progress)
    if text is None or found is None:
        assert found == text
    else:
        assert len(found) == len(text), found


def test_a_name_that_has_been_read_is_not_used_again() -> None:
    progress = object_({"minProperties": 1, "additionalProperties": {"const": 1}})
    first = completed(progress)
    assert first is not None
    name = first.split('"')[1]
    again = completed(replace(progress, others=frozenset([name])))
    assert again is not None
    assert again.split('"')[1] != name


ARRAYS: list[tuple[dict[str, Any], set[str], str | None]] = [
    ({}, set(), "[]"),
    ({"minItems": 2, "prefixItems": [{"const": "a"}]}, set(), '["a",0]'),
    ({"uniqueItems": True, "minItems": 2, "items": {"enum": [1, 22, 3]}}, set(), "[1,3]"),
    ({"uniqueItems": True, "minItems": 2, "items": {"enum": [1, 22, 3]}}, {"1"}, "[3]"),
    ({"uniqueItems": True, "minItems": 2, "items": {"enum": [1, 22]}}, {"1"}, "[22]"),
    ({"uniqueItems": True, "minItems": 3, "items": {"enum": [1, 22]}}, {"1"}, None),
    ({"contains": {"const": "a"}}, set(), '["a"]'),
    ({"contains": {"const": "a"}, "maxItems": 0}, set(), None),
    ({"not": {"uniqueItems": True}, "items": {"enum": [1, 22]}}, set(), "[1,1]"),
    ({"not": {"uniqueItems": True}, "items": {"enum": [1, 22]}}, {"22"}, "[22]"),
]


@pytest.mark.parametrize(("keywords", "seen", "text"), ARRAYS)
def test_arrays(keywords: dict[str, Any], seen: set[str], text: str | None) -> None:
    found = completed(replace(array(keywords), index=len(seen), seen=frozenset(seen)))
    if text is None or found is None:
        assert found == text
    else:
        assert len(found) == len(text), found


AVOIDING: list[tuple[dict[str, Any], list[str], str | None]] = [
    # keywords, values that the object must not equal, its shortest completion
    (A_B, ["{}"], '{"a":2}'),
    (A_B, ["{}", '{"a":2}'], '{"a":10}'),
    ({**A_B, "required": ["a"]}, ['{"a":2}'], '{"a":10}'),
    ({**A_B, "required": ["a"], "additionalProperties": False}, ['{"a":2}', '{"a":10}'],
     '{"a":2,"b":null}'),
    ({**A_B, "maxProperties": 0}, ["{}"], None),
]  # fmt: skip


@pytest.mark.parametrize(("keywords", "excluded", "text"), AVOIDING)
def test_values_that_must_not_be_equalled(
    keywords: dict[str, Any], excluded: list[str], text: str | None
) -> None:
    candidates = equality_candidates(excluded, (), "{")
    found = completed(replace(object_(keywords), candidates=candidates))
    if text is None or found is None:
        assert found == text
    else:
        assert found not in excluded
        assert len(found) <= len(text), found


EQUAL: list[tuple[Any, str, str | None]] = [
    ({"type": "integer"}, "1", "1"),
    ({"type": "integer"}, "1.5", None),
    ({"const": "é"}, '"\\u00e9"', '"é"'),
    ({"pattern": "^a$"}, '"b"', None),
    ({"type": "array", "items": {"type": "integer"}}, "[1, 2]", "[1,2]"),
    ({"type": "array", "items": {"type": "integer"}}, '["a"]', None),
    (A_B, '{"a": 10}', '{"a":10}'),
    (A_B, '{"a": 3}', None),
    (True, "null", "null"),
]


@pytest.mark.parametrize(("schema", "text", "written"), EQUAL)
def test_one_value(schema: Any, text: str, written: str | None) -> None:
    found = search().equal_to(conjunction(schema), text)
    assert (None if found is None else compact(found)) == written


def test_the_shortest_containers_come_first() -> None:
    schema = {"type": ["array", "string"], "items": {"enum": [1, 22]}, "maxItems": 2}
    found = search().distinct.containers(conjunction(schema), 4)
    assert found[:2] == ("[]", "[1]")
    assert set(found[2:]) == {"[22]", "[1, 1]"} or [len(t) for t in found] == sorted(
        map(len, found)
    )
    assert len(set(found)) == 4
    assert len(search().distinct.containers(conjunction(schema), 99)) == 7


def test_a_search_that_takes_too_long_is_refused() -> None:
    words = [f"{n}" for n in range(1_100)]
    schema = {"uniqueItems": True, "minItems": 1_050, "items": {"enum": words}}
    with pytest.raises(LimitError) as raised:
        completed(array(schema))
    assert raised.value.limit == "witness_search"
