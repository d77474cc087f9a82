"""Lower bounds on numbers of values: against the values themselves."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from maskwright.automaton.satisfy.solver import MANY
from maskwright.automaton.value.equality import equality_candidates
from maskwright.automaton.value.finite_values import MOST_STRINGS
from tests.automaton.solving import array, conjunction, object_, solver

TWO: Any = {"enum": [1, "a"]}
PAIRS: Any = {"type": "array", "items": TWO, "maxItems": 2}
THREE: Any = {"type": ["boolean", "null"]}
A_B: dict[str, Any] = {"properties": {"a": TWO, "b": THREE}, "additionalProperties": False}
VALUES: list[tuple[Any, int]] = [
    (False, 0),
    ({"const": 1}, 1),
    (THREE, 3),
    ({"type": "string", "pattern": "^[ab]?$"}, 3),
    ({"type": "string"}, MOST_STRINGS + 1),
    ({"type": "array", "items": False}, 1),
    ({"type": "array", "items": {"const": 1}}, MANY),
    ({"type": "array", "items": THREE, "minItems": 2, "maxItems": 2}, 9),
    ({"type": "array", "prefixItems": [TWO, THREE], "items": False, "minItems": 2}, 6),
    ({"type": "array", "items": THREE, "minItems": 1, "maxItems": 1}, 3),
    ({"type": "object", **A_B}, 12),
    ({"type": "object", "required": ["a"], **A_B}, 8),
    ({"type": "object", "required": ["a", "b"], **A_B}, 6),
    ({"type": "object"}, MANY),
    ({"enum": [[], {}, 1]}, 3),
    ({"enum": [[1], [1.0], [2], {"a": 1}, {"a": 1.0}]}, 3),  # equal values count once
    ({"anyOf": [PAIRS, {**PAIRS, "items": {"enum": [1, "a"]}}]}, 3),  # overlapping alternatives
    ({"type": "object", "required": ["a"], "properties": {"a": False}}, 0),
]


@pytest.mark.parametrize(("schema", "count"), VALUES)
def test_values(schema: Any, count: int) -> None:
    assert solver().cardinality.values(conjunction(schema)) == count


BOUNDED: list[tuple[Any, int]] = [
    # values, at least one and at most `count` of them: the bound is between these
    ({"type": "array", "items": THREE, "maxItems": 2, "contains": {"const": True}}, 6),
    ({"type": "object", "minProperties": 1, **A_B}, 11),
    ({"type": "array", "items": TWO, "not": {"uniqueItems": True}, "maxItems": 2}, 2),
    ({"type": "array", "items": THREE, "uniqueItems": True, "maxItems": 1}, 4),
]


@pytest.mark.parametrize(("schema", "count"), BOUNDED)
def test_bounds(schema: Any, count: int) -> None:
    assert 1 <= solver().cardinality.values(conjunction(schema)) <= count


UNIQUE: list[tuple[dict[str, Any], set[str], int]] = [
    # keywords of an array of unique items, those read, at least so many completions
    ({"items": {"enum": [1, 2, 3, 4]}}, set(), 4),
    ({"items": {"enum": [1, 2, 3, 4]}}, {"1"}, 3),
    ({"items": {"enum": [1, 2, 3, 4]}}, {"1", "2", "3"}, 1),
    ({"items": {"enum": [1, 2, 3, 4]}, "minItems": 2}, set(), 3),  # one is left for the other item
    ({"items": {"enum": [1, 2, 3, 4]}, "maxItems": 0}, set(), 1),
]


@pytest.mark.parametrize(("keywords", "seen", "count"), UNIQUE)
def test_values_that_have_been_read_do_not_count(
    keywords: dict[str, Any], seen: set[str], count: int
) -> None:
    progress = replace(array({"uniqueItems": True, **keywords}), seen=frozenset(seen))
    assert solver().cardinality.completions(progress) == count


def test_a_value_within_itself_is_counted() -> None:
    tree = {"$defs": {"t": {"type": "array", "items": {"$ref": "#/$defs/t"}, "maxItems": 1}}}
    assert solver().cardinality.values(conjunction({**tree, "$ref": "#/$defs/t"})) >= 1


SUFFICES: list[tuple[dict[str, Any], set[str], bool]] = [
    ({"items": THREE, "minItems": 3}, set(), True),
    ({"items": THREE, "minItems": 4}, set(), False),
    ({"items": THREE, "minItems": 3}, {"1"}, False),  # one of three may be the one that was read
    ({"prefixItems": [THREE, {"const": 1}], "minItems": 2}, set(), False),
    ({"prefixItems": [THREE, {"type": "string"}], "minItems": 2}, set(), True),
    ({"items": THREE, "contains": THREE}, set(), False),  # needs a search
]


@pytest.mark.parametrize(("keywords", "seen", "enough"), SUFFICES)
def test_whether_there_are_enough(keywords: dict[str, Any], seen: set[str], enough: bool) -> None:
    progress = replace(array({"uniqueItems": True, **keywords}), seen=frozenset(seen))
    assert solver().cardinality.suffices(progress) is enough


def test_completions_of_a_begun_object() -> None:
    cardinality = solver().cardinality
    progress = object_({"required": ["a"], **A_B})
    assert cardinality.completions(progress) == 8
    assert cardinality.completions(progress.with_member(0, "any")) == 4
    assert cardinality.completions(progress.with_member(1, "any")) == 2


def test_names_that_decide_about_no_requirement_are_counted() -> None:
    """The other ones are worth one completion together, which there is."""
    names = {**A_B["properties"], "c": THREE, "d": TWO}
    both = {"required": ["d"], "not": {"required": ["a", "b"]}}
    progress = object_({"properties": names, "additionalProperties": False, **both})
    cardinality = solver().cardinality
    assert cardinality.completions(progress) == (1 + 3) * 2
    assert cardinality.completions(progress.with_member(0, "any")) == (1 + 3) * 2
    assert cardinality.completions(progress.with_member(0, "any").with_member(1, "any")) == 0


def test_an_item_that_differs_from_others_by_any_of_its_members() -> None:
    """There are two values of `a` and two candidates, but more completions than candidates."""
    solving = solver()
    items: Any = {"properties": {"a": TWO, "b": THREE}, "additionalProperties": False}
    begun = object_({**items, "required": ["a", "b"]})
    read = [f'{{"a":{a},"b":true}}' for a in ('"a"', "1")]
    progress = replace(begun, candidates=equality_candidates(frozenset(read), frozenset(), "{"))
    (option,) = progress.take(0, "any")
    searches = solving.search
    assert len(option.by_value) == 2
    assert solving.leads_on(option)
    assert searches.completion_after(option.value, option.after, option.by_value) is not None
