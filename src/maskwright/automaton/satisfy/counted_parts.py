"""Items and members where only their number matters: they are counted, not walked one by one.

Most arrays are such: after their `prefixItems` all items satisfy the same schema, and at most one
`contains` distinguishes those that it counts. So a least count of thousands takes no longer than
one of three.

Where members are required only by name or by `minProperties`, each may be chosen whatever the
others are, and the cheapest are taken. A search would look at every set of them.
"""

from __future__ import annotations

from heapq import nsmallest
from operator import itemgetter
from typing import Final

from maskwright.automaton.satisfy.distinct import Find
from maskwright.automaton.satisfy.schema_values import NOTHING
from maskwright.automaton.value.name_classes import NameClass, NameClasses
from maskwright.automaton.value.progress import ArrayProgress, ObjectProgress
from maskwright.automaton.value.witness_text import Witness, size
from maskwright.errors import TooLongError
from maskwright.grammar.shape.shape import Conjunction
from maskwright.immutable import Acyclic
from maskwright.limits import CHEAP, spend

MOST_PARTS: Final = 20_000
"""Items or members of one completion, beyond which it is too long to be written out."""
_FEW_MEMBERS: Final = 64
_FEW_STEPS: Final = 4_000
"""What a search takes in some tens of milliseconds at most."""


class CountedParts(Acyclic):
    """What completes a container, found without a search."""

    parts: tuple[tuple[str, Witness], ...] | None
    """Members, or items with an empty name; None if nothing completes it."""


def _too_long(container: str, parts: str) -> TooLongError:
    return TooLongError(
        f"the shortest {container} has more than {MOST_PARTS:,} {parts}",
        limit="witness_search",
        value=MOST_PARTS,
        way_out=f"ask for fewer {parts}",
    )


def needs_count_alone(progress: ArrayProgress) -> bool:
    """Whether `count_items` finds the shortest completion of an array."""
    if progress.remembers_items or progress.candidates or progress.must_equal_one:
        return False
    contains = progress.shape.contains
    return not contains or (len(contains) == 1 and _is_past_starts(progress))


def count_items(
    progress: ArrayProgress, find: Find, *, thorough: bool = False
) -> tuple[Witness, ...] | None:
    """The items of the shortest completion, made of the values that `find` finds; None if there are
    none. Everything is asked of `find` that a completion may be made of.

    `thorough`: only ask for it; the result means nothing.
    """
    if progress.may_close():
        return ()
    items = _contained(progress, find) if progress.shape.contains else _plain(progress, find)
    if thorough:
        return ()
    if items is None or not _has_room(progress, sum(count for _, count in items)):
        return None
    runs = [(witness, count) for witness, count in items if witness is not None]
    if len(runs) < len(items):
        return None
    if sum(count for _, count in runs) > MOST_PARTS:
        raise _too_long("array", "items")
    found: list[Witness] = []
    for witness, count in runs:
        found += [witness] * count
    return tuple(found)


def needed_items(progress: ArrayProgress) -> list[Conjunction] | None:
    """What the items must satisfy that are all an array still lacks, each conjunction once for
    items of the same kind; None if more than such a list decides."""
    shape = progress.shape
    if progress.remembers_items:
        return None
    if not shape.contains:
        stop = min(shape.least, len(shape.prefix) + 1)
        return [shape.item(at) for at in range(progress.index, stop)]
    counted = zip(shape.contains, progress.counts, strict=True)
    lacking = [max(0, each.least - count) for each, count in counted]
    items = max(0, shape.least - progress.index)
    if not _is_past_starts(progress) or not _has_room(progress, max(sum(lacking), items)):
        return None
    if any(each.most is not None for each in shape.contains) and (
        len(shape.contains) > 1 or items > lacking[0]
    ):
        return None
    needed = [
        shape.rest | {each.schema}
        for each, hits in zip(shape.contains, lacking, strict=True)
        if hits
    ]
    return needed if items <= max(lacking) else [*needed, shape.rest]


def _is_past_starts(progress: ArrayProgress) -> bool:
    """Whether all items to come satisfy the same, and every `contains` counts them."""
    shape = progress.shape
    return progress.index >= max(len(shape.prefix), *(each.start for each in shape.contains))


def _has_room(progress: ArrayProgress, items: int) -> bool:
    most = progress.shape.most
    return most is None or progress.index + items <= most


_Runs = list[tuple[Witness | None, int]]
"""Equal items that follow each other: their value, None if there is none, and how many."""


def _plain(progress: ArrayProgress, find: Find) -> _Runs | None:
    """The items up to the least count, without `contains`."""
    shape = progress.shape
    items: _Runs = []
    for value in shape.prefix[progress.index : shape.least]:
        spend()
        items.append((find(value, NOTHING), 1))
        if items[-1][0] is None:
            return None
    rest = shape.least - max(progress.index, len(shape.prefix))
    if rest > 0:
        spend()
        items.append((find(shape.rest, NOTHING), rest))
    return items


def _contained(progress: ArrayProgress, find: Find) -> _Runs:
    """The items that the only `contains` counts, and others where the array is too short then."""
    contained, count = progress.shape.contains[0], progress.counts[0]
    counted: Witness | None = None
    other: Witness | None = None
    for option in progress.options():
        spend()
        if option.after.counts[0] > count:
            counted = find(option.value, NOTHING)
        else:
            other = find(option.value, NOTHING)
    hits = max(0, contained.least - count)
    more = max(0, progress.shape.least - progress.index - hits)
    counted_first = size(counted) <= size(other)
    if contained.most is not None and counted_first:  # as long as more of them may come
        extra = min(more, contained.most - count - hits)
        hits, more = hits + extra, more - extra
    runs: _Runs = [(counted, hits), (other, more)]
    return [run for run in (runs if counted_first else reversed(runs)) if run[1]]


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
        if most > MOST_PARTS:
            raise _too_long("object", "members")
        return names.many_fresh(progress, each, most)
    taken = {*progress.shape.names, *progress.others}
    free = tuple(name for name in few if name and name not in taken)
    is_empty_needed = len(free) < most and "" in few and "" not in taken
    return (*free, "") if is_empty_needed else free
