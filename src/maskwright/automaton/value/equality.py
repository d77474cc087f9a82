"""Values that an array or object must differ from, or be known by, while it is being read.

A *rival* is a value that what has been read so far may still turn out to equal. Each item or member
drops those that it differs from, so that there are soon none left; nothing is negated, and no
alternatives are needed. Values are known by their canonical JSON (see `supply.canonical`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from maskwright.automaton.value.finite_values import canonical

Members = frozenset[tuple[str, str]]
"""Names with values."""


class Rival(NamedTuple):
    rest: Members | tuple[str, ...]
    """The members (in any order) or items that it has beyond those read so far."""
    told: str | None
    """The whole value, if the container may equal it and that has to be known; None if it may
    not."""


Rivals = frozenset[Rival]

Met = tuple[tuple[str, Rivals], ...]
"""The rivals that have the item or member now being read: by the value that they give it, those
that are left if it has that value. A value that is not among these leaves none."""

NONE: Rivals = frozenset()


@lru_cache(maxsize=20_000)
def _parts(text: str) -> Members | tuple[str, ...]:
    value = json.loads(text)
    if isinstance(value, dict):
        members: dict[str, object] = value
        return frozenset((name, canonical(json.dumps(each))) for name, each in members.items())
    items: list[object] = value
    return tuple(canonical(json.dumps(each)) for each in items)


def rivals(barred: Iterable[str], told: Iterable[str], bracket: str) -> Rivals:
    """Those that a container with this bracket has at its start."""
    found = {Rival(_parts(text), None) for text in barred if text.startswith(bracket)}
    found |= {Rival(_parts(text), text) for text in told if text.startswith(bracket)}
    return frozenset(found)


def may_end(left: Rivals, confined: bool) -> bool:
    """Whether a container may end here; `confined`: only as one of those that are told."""
    ended = [rival for rival in left if not rival.rest]
    return all(rival.told is not None for rival in ended) and (bool(ended) or not confined)


def ended(left: Rivals) -> str | None:
    """The told value that a container equals if it ends here."""
    return next((rival.told for rival in left if not rival.rest), None)


def at_item(left: Rivals) -> Met:
    """What the next item of an array tells."""
    found: dict[str, set[Rival]] = {}
    for rival in left:
        if rival.rest and isinstance(rival.rest, tuple):
            shorter = rival._replace(rest=rival.rest[1:])
            found.setdefault(rival.rest[0], set()).add(shorter)
    return _met(found)


def at_member(left: Rivals, name: str) -> Met:
    """What a member with this name tells."""
    found: dict[str, set[Rival]] = {}
    for rival in left:
        for member in rival.rest:
            if member[0] == name and isinstance(rival.rest, frozenset):
                found.setdefault(member[1], set()).add(rival._replace(rest=rival.rest - {member}))
    return _met(found)


def names(left: Rivals) -> Iterator[str]:
    """The names of members that tell rivals apart, in a fixed order."""
    yield from sorted({m[0] for r in left if isinstance(r.rest, frozenset) for m in r.rest})


def _met(found: dict[str, set[Rival]]) -> Met:
    return tuple((text, frozenset(found[text])) for text in sorted(found))
