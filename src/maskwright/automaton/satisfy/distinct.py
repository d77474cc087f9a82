"""The shortest items of an array that must all differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from itertools import count, islice
from typing import Final, NamedTuple

from maskwright.automaton.satisfy.assignment import assigned
from maskwright.automaton.value.finite_values import canonical, cheapest
from maskwright.automaton.value.progress import ArrayProgress
from maskwright.automaton.value.witness_text import (
    Items,
    Scalar,
    Witness,
    byte_count,
    compact,
    size,
)
from maskwright.errors import LimitError
from maskwright.grammar.schema.tree import Schema, TypeIs
from maskwright.grammar.shape.shape import Conjunction
from maskwright.grammar.shape.shapes import Shapes
from maskwright.limits import spend

Find = Callable[[Conjunction, frozenset[str]], Witness | None]
"""The shortest value of a conjunction; the shortest array or object besides some, if any are given
(then the conjunction has no other values)."""

NOTHING: Final[frozenset[str]] = frozenset()
CONTAINERS: Final = Schema("", (TypeIs(frozenset(["array", "object"])),))

_MOST_STEPS: Final = 20_000
_MOST_ITEMS: Final = 1_000
_MOST_DEALT: Final = 4_000_000
"""Steps of dealing out values to items that do not all have the same."""
_MOST_CONTAINERS: Final = 1_000
"""Arrays and objects of one conjunction, the shortest first, that are listed one by one."""
_LEAST_CONTAINER: Final = 2
"""Bytes of the shortest array or object."""


class Value(NamedTuple):
    size: float
    text: str
    """As canonical JSON."""
    witness: Witness


class Place(NamedTuple):
    """An item to come."""

    value: Conjunction
    beside: frozenset[str] = NOTHING
    """Values that it must differ from beside those seen, as canonical JSON."""


class Distinct:
    """Values dealt out to items. `final` finds what is known for good; other ways to find a value,
    while shortest values are still being sought, are given with each question."""

    def __init__(self, shapes: Shapes, final: Find) -> None:
        self._shapes = shapes
        self._final = final
        self._chains: dict[Conjunction, list[Value]] = {}
        self._listed: dict[Conjunction, tuple[int, list[Value]]] = {}

    def rest(
        self,
        progress: ArrayProgress,
        find: Find,
        items: tuple[Place, ...] = (),
        *,
        thorough: bool = False,
    ) -> Items | None:
        """The shortest way to a closing bracket past items that differ from each other and from
        those seen; `items` come first. `thorough` looks at all that such a way may be made of.

        What the items have to satisfy is found by a uniform-cost search, unless their number alone
        decides; then values are dealt out so that all differ.
        """
        shape = progress.shape
        if not shape.contains and not thorough:
            coming = range(progress.index, max(progress.index, shape.least))
            if len(coming) > _MOST_ITEMS:
                raise too_long()
            places = (*items, *(Place(shape.item(at)) for at in coming))
            return self._dealt(places, progress.seen, find)
        return self._searched(progress, find, items, thorough=thorough)

    def _searched(
        self, progress: ArrayProgress, find: Find, items: tuple[Place, ...], *, thorough: bool
    ) -> Items | None:
        """By the cheapest value of each item; where that leads to an end, dealing values out may
        cost more."""
        tie = count()
        known: dict[Place, float] = {}

        def least(place: Place) -> float:
            if place not in known:
                if thorough:
                    known[place] = size(find(place.value, NOTHING))
                else:
                    found = self.values(place, 1, progress.seen, find)
                    known[place] = found[0].size if found else float("inf")
            return known[place]

        total = sum(1 + least(item) for item in items)
        queue: list[tuple[float, int, ArrayProgress, tuple[Place, ...], Items | None]] = []
        heappush(queue, (total, next(tie), progress, items, None))
        done: dict[ArrayProgress, list[Counter[Place]]] = {}
        steps = 0
        while queue:
            cost, _, here, items, found = heappop(queue)
            if found is not None:
                return found
            counted, before = Counter(items), done.setdefault(here, [])
            if cost == float("inf") or any(fewer <= counted for fewer in before):
                continue  # whatever would do for more items does for fewer
            before.append(counted)
            steps += 1 + len(items) // 32  # what the step costs
            if steps > _MOST_STEPS:
                raise too_long()
            if here.may_close():
                if thorough:
                    continue
                found = self._dealt(items, progress.seen, find)
                if found is not None:
                    total = sum(1 + size(each) for each in found.values)
                    heappush(queue, (total, next(tie), here, items, found))
                continue
            for option in here.options():
                spend()
                place = Place(option.value)
                total = cost + 1 + least(place)
                heappush(queue, (total, next(tie), option.after, (*items, place), None))
        return None

    def _dealt(self, items: tuple[Place, ...], seen: frozenset[str], find: Find) -> Items | None:
        """The shortest values for items that must differ.

        Of each item's values only as many matter as there are items: a dearer one can be swapped
        for one of these that no other item takes.
        """
        options = {item: self.values(item, len(items), seen, find) for item in set(items)}
        if not items:
            return Items(())
        if len(options) == 1:
            found = next(iter(options.values()))
            return Items(tuple(v.witness for v in found)) if len(found) == len(items) else None
        witnesses = {value.text: value.witness for found in options.values() for value in found}
        if len(items) ** 2 * len(witnesses) > _MOST_DEALT:
            raise too_long()
        costs = {item: {v.text: int(v.size) for v in found} for item, found in options.items()}
        chosen = assigned([costs[item] for item in items])
        return None if chosen is None else Items(tuple(witnesses[text] for text in chosen))

    def values(self, place: Place, most: int, seen: frozenset[str], find: Find) -> list[Value]:
        """The `most` shortest values that are not among those seen."""
        shape = self._shapes.of(place.value)
        excluded = seen | place.beside
        listed = self.scalars(place.value, most + len(excluded))
        found = [value for value in listed if value.text not in excluded][:most]
        if (shape.arrays or shape.objects) and not (
            len(found) == most and all(value.size <= _LEAST_CONTAINER for value in found)
        ):
            containers = self._containers(place.value, find)
            others = (value for value in containers if value.text not in excluded)
            found = sorted([*found, *islice(others, most)], key=_by_size)[:most]
        return found

    def scalars(self, value: Conjunction, least: int) -> list[Value]:
        """The shortest scalars of a conjunction: `least` if there are so many, perhaps more."""
        length, found = self._listed.get(value, (0, []))
        if length < least:
            length = max(least, 2 * length)
            texts = cheapest(self._shapes.of(value), length)
            by_value = {canonical(text): text for text in reversed(texts)}
            found = [Value(byte_count(t), of, Scalar(t)) for of, t in by_value.items()]
            found.sort(key=_by_size)
            self._listed[value] = length, found
        return found

    def _containers(self, value: Conjunction, find: Find) -> Iterator[Value]:
        """The arrays and objects of a conjunction, the shortest first: each is found besides those
        before it."""
        listed = self._chains.setdefault(value, []) if find == self._final else []
        yield from listed
        while True:
            beside = frozenset(each.text for each in listed)
            witness = find(value | {CONTAINERS}, beside)
            text = None if witness is None else canonical(compact(witness))
            if witness is None or text is None or text in beside:
                return
            if len(listed) == _MOST_CONTAINERS:
                raise too_long()
            listed.append(Value(size(witness), text, witness))
            yield listed[-1]


def _by_size(value: Value) -> float:
    return value.size


def too_long() -> LimitError:
    return LimitError(
        "the shortest value of an array or object takes too long to find", limit="witness_search"
    )
