"""The arrays that satisfy assertions without unions."""

from __future__ import annotations

from typing import Final

from maskwright.errors import LimitError
from maskwright.grammar.schema.tree import (
    Assertion,
    Contains,
    ItemCount,
    Items,
    RepeatedItems,
    UniqueItems,
)
from maskwright.grammar.shape.shape import ArrayShape, Contained, joined, joint_count

_MOST_COUNTED: Final = 6
"""Counted `contains` of one array: an item may satisfy any of them or not."""


def array_shape(branch: list[Assertion]) -> ArrayShape | None:
    """None if the assertions show to exclude each other. Raises `LimitError` for too many
    `contains`."""
    every: list[Items] = []
    counts: list[ItemCount] = []
    contains: list[Contained] = []
    unique = repeats = False
    for assertion in branch:
        match assertion:
            case Items():
                every.append(assertion)
            case ItemCount():
                counts.append(assertion)
            case Contains(schema=schema, least=low, most=high, start=start):
                if low > 0 or high is not None:
                    contains.append(Contained(schema, low, high, start))
            case UniqueItems():
                unique = True
            case RepeatedItems():
                repeats = True
            case _:
                pass
    least, most = joint_count(counts)
    if repeats:
        least = max(least, 2)
    if (unique and repeats) or (most is not None and most < least):
        return None
    if len(contains) > _MOST_COUNTED:
        raise LimitError(
            f"an array counts the items of more than {_MOST_COUNTED} 'contains': each doubles what"
            " an item may be",
            limit="alternatives",
            pointer=contains[-1].schema.pointer,
        )
    size = max((len(items.prefix) for items in every), default=0)
    prefix = tuple(
        joined(i.prefix[at] if at < len(i.prefix) else i.rest for i in every) for at in range(size)
    )
    rest = joined(items.rest for items in every)
    return ArrayShape(prefix, rest, least, most, tuple(contains), unique, repeats)
