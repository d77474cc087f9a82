"""Members of an object where only their number matters: the cheapest are taken without a search.

Where members are required only by name or by `minProperties`, each may be chosen whatever the
others are. A search would look at every set of them.
"""

from __future__ import annotations

from heapq import nsmallest
from operator import itemgetter
from typing import Final

from maskwright.automaton.satisfy.counted_items import CountedParts
from maskwright.automaton.satisfy.distinct import Find
from maskwright.automaton.satisfy.schema_values import NOTHING
from maskwright.automaton.value.name_classes import NameClass, NameClasses
from maskwright.automaton.value.progress import ObjectProgress
from maskwright.automaton.value.witness_text import Witness, size
from maskwright.errors import TooLongError
from maskwright.limits import CHEAP, spend

_MOST_MEMBERS: Final = 20_000
_FEW_MEMBERS: Final = 64
_FEW_STEPS: Final = 4_000
"""What a search takes in some tens of milliseconds at most."""

_Member = tuple[float, int, str, Witness]
"""The bytes of a member as a search counts them, its place in the order of names, name, value."""


def count_members(progress: ObjectProgress, names: NameClasses, find: Find) -> CountedParts | None:
    """The shortest completion of an object, made of the values that `find` finds. None if it is
    left to a search, because more matters than the number of members, or because they are few.

    Everything is asked of `find` that a completion may be made of."""
    shape = progress.shape
    left = progress.required_left()
    missing = shape.least - progress.count - len(left)
    optional = [
        at
        for at in range(progress.position, len(shape.names))
        if not progress.seen >> at & 1 and at not in shape.required
    ]
    if missing <= _FEW_MEMBERS and missing * len(optional) ** 2 <= _FEW_STEPS:
        return None
    if missing <= 0 or shape.some or progress.candidates or progress.must_equal_one:
        return None
    if shape.most is not None and shape.least > shape.most:
        return None
    required = _listed(progress, left, find)
    others = _others(progress, names, missing, find)
    if others is None:
        return None
    chosen = nsmallest(missing, [*_listed(progress, optional, find), *others])
    if len(required) < len(left) or len(chosen) < missing:
        return CountedParts(None)
    parts = sorted([*required, *chosen], key=itemgetter(1))
    return CountedParts(tuple((name, witness) for _, _, name, witness in parts))


def _listed(progress: ObjectProgress, places: list[int], find: Find) -> list[_Member]:
    """The members with some of the shape's names that have a value."""
    found: list[_Member] = []
    for at in places:
        spend()
        name, witness = progress.shape.names[at], find(progress.shape.values[at], NOTHING)
        if witness is not None:
            found.append((1 + len(name) + size(witness), at, name, witness))
    return found


def _others(
    progress: ObjectProgress, names: NameClasses, most: int, find: Find
) -> list[_Member] | None:
    """The shortest `most` members of each class of names that the shape doesn't list; None if these
    names aren't known."""
    found: list[_Member] = []
    for each in names.of(progress.shape.languages):
        witness = find(progress.shape.others(each.mask), NOTHING)
        if witness is None:
            continue
        fresh = _names(progress, names, each, most)
        if fresh is None:
            return None
        place, bytes_of = len(progress.shape.names) + len(found), 1 + size(witness)
        spend(CHEAP * len(fresh))
        found += [
            (bytes_of + len(name), place + at, name, witness) for at, name in enumerate(fresh)
        ]
    return found


def _names(
    progress: ObjectProgress, names: NameClasses, each: NameClass, most: int
) -> tuple[str, ...] | None:
    few = names.few(each)
    if few is None:
        if most > _MOST_MEMBERS:
            raise TooLongError(
                f"the shortest object has more than {_MOST_MEMBERS:,} members",
                limit="witness_search",
                value=_MOST_MEMBERS,
                way_out="ask for fewer members",
            )
        return names.many_fresh(progress, each, most)
    taken = {"", *progress.shape.names, *progress.others}
    return tuple(name for name in few if name not in taken)
