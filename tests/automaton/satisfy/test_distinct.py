"""Completions of arrays whose items must differ, and the lists of values these need."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from maskwright.automaton.satisfy.distinct import DistinctItems, OpenItem
from maskwright.automaton.satisfy.schema_values import NOTHING
from maskwright.automaton.value.witness_text import ArrayWitness, Witness, compact
from maskwright.errors import LimitError
from maskwright.grammar.shape.shape import Conjunction
from tests.automaton.solving import array, conjunction, solver


def distinct() -> tuple[DistinctItems, Any]:
    solving = solver()

    def find(value: Conjunction, excluded: frozenset[str]) -> Witness | None:
        return solving.shortest._find(value, excluded)

    return DistinctItems(solving.values.shapes, find), find


def completed(keywords: dict[str, Any], seen: list[str], *items: Any, **options: Any) -> str | None:
    finder, find = distinct()
    progress = array({"uniqueItems": True, **keywords})
    progress = replace(progress, index=len(seen) + len(items), seen=frozenset(seen))
    given = tuple(OpenItem(conjunction(each)) for each in items)
    found = finder.completion(progress, find, given, **options)
    return None if found is None else compact(ArrayWitness(found))


ONE_TWO: Any = {"enum": [1, 20]}
COMPLETIONS: list[tuple[dict[str, Any], list[str], list[Any], str | None]] = [
    # keywords, items read, what the next items must be, what completes the array
    ({}, [], [], "[]"),
    ({"items": ONE_TWO, "minItems": 2}, [], [], "[1,20]"),
    ({"items": ONE_TWO, "minItems": 2}, ["1"], [], "[20]"),
    ({"items": ONE_TWO, "minItems": 3}, [], [], None),
    ({"prefixItems": [ONE_TWO, {"const": 1}], "minItems": 2}, [], [], "[20,1]"),
    ({"prefixItems": [ONE_TWO, {"const": 1}], "minItems": 2}, ["20"], [], "[1]"),
    ({"prefixItems": [ONE_TWO, {"const": 1}], "minItems": 2}, ["1"], [], None),
    ({"prefixItems": [{}, {"const": 1}], "minItems": 2}, [], [ONE_TWO], "[20,1]"),
    ({"items": {"enum": [[], {}, 1, [1]]}, "minItems": 4}, [], [], "[1,{},[],[1]]"),
    ({"items": {"enum": [[], [1.0], [1]]}, "minItems": 3}, [], [], None),
    ({"contains": {"const": 20}, "items": ONE_TWO}, ["1"], [], "[20]"),
    ({"contains": {"const": 20}, "items": ONE_TWO, "minItems": 2}, [], [], "[1,20]"),
    ({"contains": ONE_TWO, "minContains": 3}, [], [], None),
]


@pytest.mark.parametrize(("keywords", "seen", "items", "text"), COMPLETIONS)
def test_completions(
    keywords: dict[str, Any], seen: list[str], items: list[Any], text: str | None
) -> None:
    found = completed(keywords, seen, *items)
    assert (found and len(found)) == (text and len(text)), found
    if text is not None and "contains" not in keywords and "{}" not in text:
        assert found == text


def test_too_many_items_are_refused() -> None:
    with pytest.raises(LimitError) as raised:
        completed({"minItems": 2_000}, [])
    assert raised.value.limit == "witness_search"


LISTED: list[tuple[Any, int, set[str], list[str]]] = [
    # schema, how many, values to leave out, the shortest ones, by length
    ({"enum": ["abc", 1, None, "b"]}, 3, set(), ["1", '"b"', "null"]),
    ({"enum": ["abc", 1, None, "b"]}, 3, {"1"}, ['"b"', "null", '"abc"']),
    ({"enum": [[1], {}, 22]}, 2, set(), ["22", "{}"]),
    ({"enum": [[1], {}, 22]}, 9, {"22"}, ["{}", "[1]"]),
    ({"type": "integer", "minimum": 8, "maximum": 9}, 5, set(), ["8", "9"]),
    (False, 2, set(), []),
]


@pytest.mark.parametrize(("schema", "most", "seen", "texts"), LISTED)
def test_the_shortest_values(schema: Any, most: int, seen: set[str], texts: list[str]) -> None:
    finder, find = distinct()
    found = finder.values(OpenItem(conjunction(schema)), most, frozenset(seen), find)
    assert sorted(each.text for each in found) == sorted(texts)
    assert [each.size for each in found] == sorted(each.size for each in found)


def test_values_that_an_item_excludes() -> None:
    finder, find = distinct()
    item = OpenItem(conjunction(ONE_TWO), frozenset(["1"]))
    assert [each.text for each in finder.values(item, 2, NOTHING, find)] == ["20"]
