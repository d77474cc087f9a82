"""The shape of arrays that several assertions make together."""

from __future__ import annotations

import pytest

from maskwright.errors import LimitError
from maskwright.grammar.schema.tree import (
    Assertion,
    Contains,
    ItemCount,
    Items,
    NotUniqueItems,
    Required,
    Schema,
    TypeIs,
    UniqueItems,
)
from maskwright.grammar.shape.containers import array_shape
from maskwright.grammar.shape.shape import Contained

FREE = Schema("")
INTEGER = Schema("", (TypeIs(frozenset(["integer"])),))
STRING = Schema("", (TypeIs(frozenset(["string"])),))


@pytest.mark.parametrize(
    ("branch", "least", "most"),
    [
        ([], 0, None),
        ([ItemCount(1, None), ItemCount(0, 4), ItemCount(2, 6)], 2, 4),
        ([ItemCount(3, 3)], 3, 3),
        ([NotUniqueItems()], 2, None),
        ([NotUniqueItems(), ItemCount(3, None)], 3, None),
        ([Required(("a",))], 0, None),
    ],
)
def test_counts(branch: list[Assertion], least: int, most: int | None) -> None:
    shape = array_shape(branch)
    assert shape is not None
    assert (shape.least, shape.most) == (least, most)


@pytest.mark.parametrize(
    "branch",
    [
        [ItemCount(2, None), ItemCount(0, 1)],
        [UniqueItems(), NotUniqueItems()],
        [NotUniqueItems(), ItemCount(0, 1)],
        [Contains(FREE, 3, 2)],
        [Contains(STRING, 0, None), Contains(INTEGER, 1, 0)],
    ],
)
def test_assertions_that_exclude_each_other(branch: list[Assertion]) -> None:
    assert array_shape(branch) is None


def test_items_at_one_place_satisfy_all_that_speak_of_it() -> None:
    """The rest of a shorter prefix holds where a longer one still lists items."""
    shape = array_shape([Items((INTEGER,), STRING), Items((FREE, FREE, INTEGER), FREE)])
    assert shape is not None
    assert shape.prefix == ({INTEGER}, {STRING}, {STRING, INTEGER})
    assert shape.rest == {STRING}
    assert [shape.item(at) for at in range(5)] == [*shape.prefix, {STRING}, {STRING}]


def test_contains_without_a_bound_says_nothing() -> None:
    shape = array_shape([Contains(INTEGER, 0, None), Contains(STRING, 0, 2, start=1)])
    assert shape is not None
    assert shape.contains == (Contained(STRING, 0, 2, 1),)
    assert not shape.unique
    assert not shape.repeats


def test_too_many_contains_are_refused() -> None:
    few = [Contains(Schema(f"/{at}"), 1, None) for at in range(6)]
    assert array_shape([*few]) is not None
    with pytest.raises(LimitError, match="'contains'") as raised:
        array_shape([*few, Contains(Schema("/last"), 1, None)])
    assert (raised.value.limit, raised.value.pointer) == ("alternatives", "/last")
