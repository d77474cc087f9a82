"""Completions of arrays in which some two items must be equal."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from maskwright.automaton.satisfy.search import container
from maskwright.automaton.value.witness_text import compact
from tests.automaton.solving import array, conjunction, solver

ONE_TWO: Any = {"enum": [1, 20]}
COMPLETIONS: list[tuple[dict[str, Any], list[str], str | None]] = [
    # keywords, items read, what completes the array
    ({"items": ONE_TWO}, [], "[1,1]"),
    ({"items": ONE_TWO}, ["20"], "[20]"),
    ({"items": ONE_TWO}, ["1", "20"], "[1]"),
    ({"items": ONE_TWO, "minItems": 3}, ["20"], "[1,1]"),
    ({"prefixItems": [ONE_TWO, {"enum": [20, 30]}], "maxItems": 2}, [], "[20,20]"),
    ({"prefixItems": [{"const": 1}, {"const": 2}], "maxItems": 2}, [], None),
    ({"prefixItems": [{"const": 1}, {"const": 2}], "items": {"const": 2}}, [], "[1,2,2]"),
    ({"contains": {"const": "a"}, "maxContains": 1, "items": {"enum": ["a", 100]}}, [],
     '["a",100,100]'),
    ({"items": {"enum": [[10, 1], [10]]}}, ["[10]"], "[[10]]"),
]  # fmt: skip


@pytest.mark.parametrize(("keywords", "read", "text"), COMPLETIONS)
def test_completions(keywords: dict[str, Any], read: list[str], text: str | None) -> None:
    progress = array({"not": {"uniqueItems": True}, **keywords})
    for value in read:
        progress = next(iter(progress.options())).after.with_item(value)
    parts = solver().search.completion(progress)
    found = None if parts is None else compact(container(progress, parts))
    assert (found and len(found)) == (text and len(text)), found
    if found is not None and "contains" not in keywords:
        assert found == text


def test_an_item_that_is_promised_to_come_again() -> None:
    progress = array({"not": {"uniqueItems": True}, "items": {"enum": [1, 20]}, "maxItems": 2})
    after = next(iter(progress.options())).after
    for value, text in ((20, "[20]"), (1, "[1]")):
        promised = replace(after, promised_repeat=conjunction({"const": value}))
        found = solver().search.completion(promised)
        assert found is not None
        assert compact(container(promised, found)) == text
    impossible = replace(after, promised_repeat=conjunction({"const": 3}))
    assert solver().search.completion(impossible) is None
