"""The pieces from which normal forms are put together."""

from __future__ import annotations

import pytest

from maskwright.grammar.schema.tree import AllOf, ItemCount, Schema, TypeIs
from maskwright.grammar.shape.shape import (
    conjunction_of,
    in_order,
    joint_count,
    referenced,
    target_of,
)

NULL, NO = Schema("", (TypeIs(frozenset(["null"])),)), Schema("", never=True)


def test_what_allows_everything_is_left_out_of_a_conjunction() -> None:
    assert conjunction_of([Schema(""), NULL, Schema("/a"), NO, NULL]) == {NULL, NO}
    assert conjunction_of([Schema("")]) == frozenset()


def test_schemas_come_in_the_order_in_which_they_were_made() -> None:
    schemas = [Schema(str(at)) for at in range(20)]
    assert in_order(frozenset(reversed(schemas))) == schemas


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ([], (0, None)),
        ([(1, None)], (1, None)),
        ([(1, 5), (3, None), (0, 4)], (3, 4)),
        ([(4, None), (0, 2)], (4, 2)),
    ],
)
def test_joint_counts(
    counts: list[tuple[int, int | None]], expected: tuple[int, int | None]
) -> None:
    assert joint_count([ItemCount(*each) for each in counts]) == expected


def test_a_description_beside_a_reference_makes_no_difference() -> None:
    """What `allOf` of a reference and a description refers to has its normal form found once."""
    text = frozenset(["string"])
    target = Schema("/$defs/a", (TypeIs(text), ItemCount(1, 2)))
    described = Schema("/a", (AllOf((target, Schema("/a/allOf/1"))),))
    again = Schema("/b", (AllOf((Schema("/b/allOf/0"), described)),))
    for schema in (described, again):
        assert referenced(schema) is target
        assert target_of(frozenset([schema])) == {target}
    for parts in ((), (target, NULL), (target, NO), (Schema("/c"), Schema("/d"))):
        other = Schema("/e", (AllOf(parts),))
        assert referenced(other) is other
