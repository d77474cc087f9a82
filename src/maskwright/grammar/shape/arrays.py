"""The arrays that satisfy assertions without unions, as one `ArrayShape`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from maskwright.errors import Construct, LimitError
from maskwright.grammar.schema.tree import (
    Assertion,
    Contains,
    ItemCount,
    Items,
    NotUniqueItems,
    UniqueItems,
)
from maskwright.grammar.shape.shape import ArrayShape, Contained, conjunction_of, joint_count

_MOST_COUNTED: Final = 6
"""The most `contains` of one array: each may or may not count an item, which doubles the ways to
read it."""


def array_shape(branch: Iterable[Assertion]) -> ArrayShape | None:
    """The arrays that satisfy all assertions; assertions about other types are ignored.

    None if the assertions about counts and about repeated items exclude each other. Raises
    `LimitError` for too many `contains`."""
    item_schemas: list[Items] = []
    counts: list[ItemCount] = []
    contains: list[Contained] = []
    unique = repeats = False
    for assertion in branch:
        match assertion:
            case Items():
                item_schemas.append(assertion)
            case ItemCount():
                counts.append(assertion)
            case Contains(schema=schema, least=low, most=high, start=start):
                if high is not None and high < low:
                    return None
                if low > 0 or high is not None:
                    contains.append(Contained(schema, low, high, start))
            case UniqueItems():
                unique = True
            case NotUniqueItems():
                repeats = True
            case _:
                pass
    least, most = joint_count(counts)
    if repeats:
        least = max(least, 2)  # two items that are equal
    if (unique and repeats) or (most is not None and most < least):
        return None
    if len(contains) > _MOST_COUNTED:
        raise LimitError(
            f"an array has to satisfy more than {_MOST_COUNTED} 'contains', and each doubles"
            " what an item may be",
            limit="alternatives",
            value=_MOST_COUNTED,
            construct=Construct.schema(contains[-1].schema.pointer),
            way_out="use fewer",
        )
    size = max((len(items.prefix) for items in item_schemas), default=0)
    prefix = tuple(
        conjunction_of(i.prefix[at] if at < len(i.prefix) else i.rest for i in item_schemas)
        for at in range(size)
    )
    rest = conjunction_of(items.rest for items in item_schemas)
    return ArrayShape(prefix, rest, least, most, tuple(contains), unique, repeats)
