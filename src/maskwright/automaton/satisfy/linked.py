"""Sequences that grow at their end and share their beginnings, as the paths of a search do."""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

from maskwright.limits import CHEAP, spend

_Part = TypeVar("_Part")


class LinkedParts(NamedTuple, Generic[_Part]):
    """A sequence with one part more than `before`; None is the empty one."""

    before: LinkedParts[_Part] | None
    last: _Part


def unlinked(linked: LinkedParts[_Part] | None) -> tuple[_Part, ...]:
    """The parts from the first to the last."""
    parts: list[_Part] = []
    while linked is not None:
        spend(CHEAP)
        linked, last = linked
        parts.append(last)
    return tuple(reversed(parts))
