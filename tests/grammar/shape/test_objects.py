"""The shape of objects that several assertions make together."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from maskwright.grammar.regular.terms import ANYTHING, Regular, length, words
from maskwright.grammar.schema.tree import (
    Assertion,
    Properties,
    PropertyCount,
    PropertyNames,
    Required,
    Schema,
    SomeMember,
    TypeIs,
)
from maskwright.grammar.shape.containers import object_shape
from maskwright.grammar.shape.shape import NEVER, ObjectShape

FREE = Schema("")
INTEGER = Schema("", (TypeIs(frozenset(["integer"])),))
STRING = Schema("", (TypeIs(frozenset(["string"])),))
NO = Schema("", never=True)
A_OR_AB, SHORT = words(["a", "ab"]), length(0, 1)


def shape_of(
    *branch: Assertion,
    strings: Regular = ANYTHING,
    places: Mapping[str, int] | None = None,
) -> ObjectShape:
    shape = object_shape(branch, lambda _: strings, lambda: places or {})
    assert shape is not None
    return shape


def test_names_are_the_declared_ones_then_required_then_wanted() -> None:
    some = SomeMember({"d": INTEGER}, (), ("e", "a"))
    shape = shape_of(Required(("c", "a")), some, Properties({"b": FREE, "a": FREE}, (), FREE))
    assert shape.names == ("b", "a", "c", "d", "e")
    assert shape.declared == 2
    assert shape.required == {1, 2}


def test_several_declarations_follow_the_document() -> None:
    one, other = Properties({"b": FREE}, (), FREE), Properties({"a": FREE}, (), FREE)
    assert shape_of(one, other, places={"a": 0, "b": 1}).names == ("a", "b")
    assert shape_of(one, other, places={"b": 1}).names == ("b", "a")  # unknown ones at the end


def test_a_listed_value_satisfies_all_that_speak_of_its_name() -> None:
    shape = shape_of(
        Properties({"a": INTEGER}, ((A_OR_AB, STRING),), NO),
        Properties({"b": FREE}, (), STRING),
        Required(("ab", "c")),
        places={"a": 0, "b": 1},
    )
    values = dict(zip(shape.names, shape.values, strict=True))
    assert values == {"a": {INTEGER, STRING}, "b": {NO}, "ab": {STRING}, "c": {NO, STRING}}


@pytest.mark.parametrize(
    ("inside", "expected"), [(True, {INTEGER}), (False, {STRING})], ids=["matching", "other"]
)
def test_other_values_by_the_languages_of_their_names(inside: bool, expected: set[Schema]) -> None:
    shape = shape_of(Properties({}, ((A_OR_AB, INTEGER),), STRING))
    assert shape.languages == (A_OR_AB,)
    assert shape.others((inside,)) == expected


def test_names_that_are_not_allowed_have_no_value() -> None:
    shape = shape_of(PropertyNames(FREE), Required(("a", "abc")), strings=SHORT)
    assert dict(zip(shape.names, shape.values, strict=True)) == {"a": set(), "abc": NEVER}
    assert shape.others((False,)) == NEVER
    assert shape.others((True,)) == set()


def test_names_of_which_one_breaks_a_schema_become_a_requirement() -> None:
    shape = shape_of(PropertyNames(FREE, negative=True), Required(("a", "abc")), strings=SHORT)
    (requirement,) = shape.some
    assert set(requirement.names) == {1}  # "abc" is too long, "a" is not
    assert len(requirement.languages) == 1


def test_a_requirement_names_places_of_the_shape() -> None:
    some = SomeMember({"a": INTEGER}, ((A_OR_AB, STRING),), ("c", "b"))
    shape = shape_of(Properties({"b": FREE, "ab": FREE}, (), FREE), some)
    (requirement,) = shape.some
    assert shape.names == ("b", "ab", "a", "c")
    assert requirement.names == {1: (STRING,), 2: (STRING, INTEGER)}
    assert requirement.languages == ((0, STRING),)
    assert requirement.absent == 0b1001


def test_a_name_that_no_text_has_has_no_value() -> None:
    """Half of a surrogate pair can't be written."""
    shape = shape_of(Properties({"\ud83d": FREE, "a": FREE}, (), FREE))
    assert shape.values == (NEVER, frozenset())


@pytest.mark.parametrize(
    ("branch", "fits"),
    [
        ([PropertyCount(1, None), PropertyCount(0, 1)], True),
        ([PropertyCount(2, None), PropertyCount(0, 1)], False),
        ([Required(("a", "b")), PropertyCount(0, 2)], True),
        ([Required(("a", "b")), PropertyCount(0, 1)], False),
        ([Required(("a",)), Required(("a",)), PropertyCount(0, 1)], True),
    ],
)
def test_counts(branch: list[Assertion], fits: bool) -> None:
    assert (object_shape(branch, lambda _: ANYTHING, dict) is not None) is fits
