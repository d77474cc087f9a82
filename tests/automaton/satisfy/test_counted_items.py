"""Items where only the number matters, held against the search that walks them one by one."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.automaton.satisfy import search as searching
from maskwright.automaton.satisfy.counted_parts import needed_items, needs_count_alone
from maskwright.automaton.value.progress import ArrayProgress
from maskwright.automaton.value.witness_text import compact
from maskwright.errors import LimitError
from tests.automaton.solving import array, conjunction, solver
from tests.bounds import counted_calls

ITEM: Any = {"enum": [1, 22, "abc"]}
ARRAYS: list[tuple[dict[str, Any], str | None]] = [
    ({"items": ITEM, "minItems": 3}, "[1,1,1]"),
    ({"items": ITEM, "minItems": 3, "prefixItems": [{"const": "a"}]}, '["a",1,1]'),
    ({"items": ITEM, "minItems": 1, "prefixItems": [{"const": 5}, False]}, "[5]"),
    ({"items": ITEM, "minItems": 2, "prefixItems": [{"const": 5}, False]}, None),
    ({"items": False, "minItems": 2, "prefixItems": [{"const": 5}]}, None),
    ({"contains": {"const": "abc"}, "items": ITEM, "minItems": 4}, '[1,1,1,"abc"]'),
    ({"contains": {"const": 1}, "items": ITEM, "minItems": 4, "minContains": 2}, "[1,1,1,1]"),
    ({"contains": {"const": 22}, "minContains": 3}, "[22,22,22]"),
    ({"contains": {"const": 22}, "minContains": 3, "minItems": 2, "maxItems": 2}, None),
    ({"contains": {"const": 1}, "items": ITEM, "maxContains": 2, "minItems": 5},
     "[1,1,22,22,22]"),
    ({"contains": {"const": "abc"}, "items": ITEM, "maxContains": 2, "minItems": 5},
     '[1,1,1,1,"abc"]'),
    ({"contains": {"enum": [22, "abc"]}, "items": {"enum": [33, 22]}, "maxContains": 2,
      "minItems": 4}, "[22,22,33,33]"),
    ({"contains": {"const": 1}, "items": {"const": 1}, "maxContains": 2, "minItems": 3}, None),
    ({"contains": {"const": 1}, "items": {"const": 2}}, None),
    ({"contains": {"const": 1}, "minContains": 0, "maxContains": 0, "minItems": 2,
      "items": {"enum": [1, 44]}}, "[44,44]"),
]  # fmt: skip


def shortest(schema: Any) -> str | None:
    found = solver().shortest.of(conjunction(schema))
    return None if found is None else compact(found)


def walked(schema: Any, monkeypatch: pytest.MonkeyPatch) -> str | None:
    """The text that a search finds that counts nothing."""

    def counts(progress: ArrayProgress) -> bool:
        return False

    with monkeypatch.context() as patch:
        patch.setattr(searching, "needs_count_alone", counts)
        patch.setattr(searching, "_FEW", 1 << 20)
        return shortest(schema)


@pytest.mark.parametrize(("keywords", "text"), ARRAYS)
def test_the_text_is_that_of_the_search(
    keywords: dict[str, Any], text: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert needs_count_alone(array(keywords))
    schema = {"type": "array", **keywords}
    assert shortest(schema) == text
    assert walked(schema, monkeypatch) == text


@pytest.mark.parametrize(("keywords", "text"), ARRAYS)
def test_needed_items_are_those_that_have_values_if_there_is_a_completion(
    keywords: dict[str, Any], text: str | None
) -> None:
    solving = solver()
    needed = needed_items(array(keywords))
    if needed is not None:
        assert all(map(solving.satisfiable, needed)) is (text is not None)


MANY: list[dict[str, Any]] = [
    {"type": "array", "not": {"const": [0, 0]}, "minItems": 80},
    {"type": "array", "not": {"const": [0] * 80}, "minItems": 80},
    {"type": "array", "contains": {"const": "abc"}, "items": ITEM, "minItems": 80,
     "prefixItems": [{}, ITEM]},
    {"type": "array", "contains": {"const": 3}, "prefixItems": [{}], "minContains": 70},
    {"type": "object", "minProperties": 80},
    ({"type": "object", "minProperties": 80, "additionalProperties": False, "required": ["A"],
             "properties": {"A": {"type": "null"}}, "patternProperties": {"^[a-z]+$": ITEM}}),
]  # fmt: skip


@pytest.mark.parametrize("schema", MANY)
def test_many_parts_at_the_end_of_a_search_are_counted(
    schema: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    text, slowly = shortest(schema), walked(schema, monkeypatch)
    assert text is not None
    assert slowly is not None
    assert len(text) == len(slowly)


def test_names_that_do_not_suffice_are_no_completion() -> None:
    names = {"patternProperties": {"^[a-h][a-h]$": True}, "additionalProperties": False}
    assert shortest({"type": "object", **names, "minProperties": 65}) is None
    found = shortest({"type": "object", **names, "minProperties": 64})
    assert found is not None
    assert found.count(":") == 64


LARGE: list[tuple[dict[str, Any], int]] = [
    ({"type": "array", "items": ITEM, "minItems": 20_000}, 10_000),
    ({"type": "array", "contains": {"const": 7}, "minContains": 5_000}, 10_000),
    ({"type": "array", "contains": {"const": 7}, "minContains": 5_000, "minItems": 9_000}, 10_000),
    ({"type": "array", "not": {"const": [0, 0, 0]}, "minItems": 5_000}, 100_000),
    ({"type": "object", "minProperties": 3_000}, 200_000),  # which need distinct names
]
"""Each with the most calls it may take: several times as many are needed if counts are walked."""


@pytest.mark.parametrize(("schema", "most"), LARGE)
def test_large_counts_take_little_work(schema: dict[str, Any], most: int) -> None:
    with counted_calls() as calls:
        assert shortest(schema) is not None
    assert calls.count < most


def test_more_items_than_anybody_writes_meet_a_limit() -> None:
    with pytest.raises(LimitError) as raised:
        shortest({"type": "array", "items": ITEM, "minItems": 10**9})
    assert raised.value.limit == "witness_search"
    assert shortest({"type": "array", "items": False, "minItems": 10**9}) is None
