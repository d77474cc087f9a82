"""Candidates for equality: which are left after an item or member, where a container may end."""

from __future__ import annotations

import pytest

from maskwright.automaton.value.equality import (
    at_item,
    at_member,
    ended,
    equality_candidates,
    may_end,
    names,
)

EXCLUDED = ["[1]", "[1,2]", "[2,1]", '{"a":1}', '{"a":1,"b":2}', "3"]


def _read(bracket: str, steps: list[tuple[str, str]], excluded: list[str], allowed: list[str]):
    """The candidates that are left after some items, or members with names."""
    left = equality_candidates(excluded, allowed, bracket)
    for name, value in steps:
        by_value = dict(at_member(left, name) if bracket == "{" else at_item(left))
        left = by_value.get(value, frozenset())
    return left


ENDS = [
    # bracket, what has been read, the candidates left, whether the container may end
    ("[", [], 3, True),
    ("[", [("", "1")], 2, False),  # it is [1]
    ("[", [("", "2")], 1, True),
    ("[", [("", "1"), ("", "2")], 1, False),
    ("[", [("", "1"), ("", "1")], 0, True),
    ("[", [("", "3")], 0, True),
    ("{", [], 2, True),
    ("{", [("a", "1")], 2, False),
    ("{", [("b", "2")], 1, True),
    ("{", [("b", "2"), ("a", "1")], 1, False),  # the order of members makes no difference
    ("{", [("a", "2")], 0, True),
    ("{", [("c", "1")], 0, True),
]


@pytest.mark.parametrize(("bracket", "steps", "count", "ends"), ENDS)
def test_excluded_values(
    bracket: str, steps: list[tuple[str, str]], count: int, ends: bool
) -> None:
    left = _read(bracket, steps, EXCLUDED, [])
    assert len(left) == count
    assert may_end(left, must_equal_one=False) is ends


MUST_EQUAL = [
    ([], False, None),
    ([("", "1")], True, "[1]"),
    ([("", "1"), ("", "2")], True, "[1, 2]"),
    ([("", "2")], False, None),
    ([("", "3")], False, None),
]


@pytest.mark.parametrize(("steps", "ends", "value"), MUST_EQUAL)
def test_values_one_of_which_it_must_equal(
    steps: list[tuple[str, str]], ends: bool, value: str | None
) -> None:
    left = _read("[", steps, [], ["[1]", "[1, 2]", "[2, 1]"])
    assert may_end(left, must_equal_one=True) is ends
    assert ended(left) == value


def test_an_excluded_value_bars_the_end_although_another_one_is_allowed() -> None:
    left = _read("[", [("", "1")], ["[1]"], ["[1, 2]"])
    assert not may_end(left, must_equal_one=False)
    assert may_end(_read("[", [("", "1"), ("", "2")], ["[1]"], ["[1, 2]"]), must_equal_one=True)


def test_items_are_compared_by_value() -> None:
    left = equality_candidates(['[1.0,{"b":2,"a":1e0}]'], [], "[")
    assert [text for text, _ in at_item(left)] == ["1"]
    ((_, after),) = at_item(left)
    assert [text for text, _ in at_item(after)] == ['{"a": 1, "b": 2}']


def test_names_that_candidates_still_have() -> None:
    left = equality_candidates(['{"b":1,"a":1}', '{"c":1}', "{}"], [], "{")
    assert [*names(left)] == ["a", "b", "c"]
    ((_, after),) = at_member(left, "b")
    assert [*names(after)] == ["a"]
