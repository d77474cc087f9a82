"""Items of an array that must all differ, or some two of which must be equal: a completion of few
bytes, in the latter case of the fewest.

First a uniform-cost search chooses what each item has to satisfy, unless the number of items alone
decides that; then each item is given a value of its own by bipartite matching.

Which two are equal is guessed: an item is *held* open until a later one, which satisfies its own
schemas and the schemas of the item held, gives both their value. So one uniform-cost search finds
the shortest completion, or that there is none. The paths of a search are sequences that grow at
their end and share their beginnings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from heapq import heappop, heappush
from itertools import count, islice
from typing import Final, Generic, NamedTuple, TypeVar

from msgspec.structs import replace

from maskwright.automaton.satisfy.schema_values import NOTHING
from maskwright.automaton.value.finite_values import canonical, cheapest
from maskwright.automaton.value.progress import ArrayProgress
from maskwright.automaton.value.witness_text import (
    ScalarWitness,
    Witness,
    byte_count,
    compact,
    size,
)
from maskwright.errors import LimitError
from maskwright.grammar.schema.tree import Schema, TypeIs
from maskwright.grammar.shape.shape import Conjunction
from maskwright.grammar.shape.shapes import Shapes
from maskwright.immutable import Acyclic, Immutable
from maskwright.limits import CHEAP, spend


def matching(options: Sequence[Set[str]], values: Sequence[str]) -> list[str] | None:
    """One of `options` for each item, all different; None if there is no such choice.

    `values` lists all values, the preferred ones first. Kuhn's algorithm: each value in turn takes
    an item if those that stand in its way can move to other items. A value that has an item keeps
    one from then on, and the sets of values that can be matched are a matroid; so the values that
    are chosen are the first possible ones, and the cheapest if `values` is sorted by cost.
    O(items² · values), and the recursion is as deep as there are items.
    """
    if len(values) < len(options):
        return None
    holder: list[str | None] = [None] * len(options)
    missing = len(options)

    def take(value: str, tried: set[int]) -> bool:
        spend(CHEAP * len(options))
        for item, allowed in enumerate(options):
            if value in allowed and item not in tried:
                tried.add(item)
                present = holder[item]
                if present is None or take(present, tried):
                    holder[item] = value
                    return True
        return False

    for value in values:
        if missing == 0:
            break
        missing -= take(value, set())
    return None if missing else [value for value in holder if value is not None]


Find = Callable[[Conjunction, frozenset[str]], Witness | None]
"""The shortest value of a conjunction, None if there is none. With values to exclude (as canonical
JSON): its shortest array or object besides these; such a conjunction allows no scalars."""

_CONTAINERS: Final = Schema("", (TypeIs(frozenset(["array", "object"])),))

_MOST_STEPS: Final = 20_000
_MOST_ITEMS: Final = 1_000
_MOST_MATCHING: Final = 4_000_000
"""Steps of matching items with values, where the items don't all allow the same ones."""
_MOST_CONTAINERS: Final = 1_000
"""Arrays and objects of one conjunction, the shortest first, that are listed one by one."""
_LEAST_CONTAINER: Final = 2
"""Bytes of the shortest array or object."""


class ListedValue(Acyclic):
    size: float
    """Bytes of the witness."""
    text: str
    """As canonical JSON."""
    witness: Witness


class OpenItem(Acyclic):
    """An item to come."""

    value: Conjunction
    excluded: frozenset[str] = NOTHING
    """Values that it must not equal, beside the items read so far, as canonical JSON."""


class DistinctItems:
    """Completions of arrays whose items must differ, and the lists of values these need.

    `final` finds values that are settled. While shortest values are still being improved, each
    question brings another `find`, whose answers are not kept.
    """

    def __init__(self, shapes: Shapes, final: Find) -> None:
        self._shapes = shapes
        self._final = final
        self._containers: dict[Conjunction, list[ListedValue]] = {}
        self._scalars: dict[Conjunction, tuple[int, list[ListedValue]]] = {}

    def completion(
        self,
        progress: ArrayProgress,
        find: Find,
        items: tuple[OpenItem, ...] = (),
        *,
        thorough: bool = False,
    ) -> tuple[Witness, ...] | None:
        """Items up to the closing bracket that differ from each other and from those read; `items`
        come first. None if there are none.

        `thorough`: ask `find` for everything that such a completion may be made of.
        """
        shape = progress.shape
        if not shape.contains and not thorough:
            coming = range(progress.index, max(progress.index, shape.least))
            if len(coming) > _MOST_ITEMS:
                raise too_long()
            open_items = (*items, *(OpenItem(shape.item(at)) for at in coming))
            return self._matched(open_items, progress.seen, find)
        return self._search(progress, find, items, thorough=thorough)

    def _search(
        self, progress: ArrayProgress, find: Find, items: tuple[OpenItem, ...], *, thorough: bool
    ) -> tuple[Witness, ...] | None:
        """Uniform-cost search, each item at the cost of its cheapest value. Matching may cost more
        than that, so an end that is found goes back into the queue at its true cost."""
        tie = count()
        known: dict[OpenItem, float] = {}

        def least(item: OpenItem) -> float:
            if item not in known:
                if thorough:
                    known[item] = size(find(item.value, NOTHING))
                else:
                    cheapest = self.values(item, 1, progress.seen, find)
                    known[item] = cheapest[0].size if cheapest else float("inf")
            return known[item]

        total = sum(1 + least(item) for item in items)
        queue: list[
            tuple[float, int, ArrayProgress, tuple[OpenItem, ...], tuple[Witness, ...] | None]
        ] = []
        heappush(queue, (total, next(tie), progress, items, None))
        done: dict[ArrayProgress, list[Counter[OpenItem]]] = {}
        steps = 0
        while queue:
            cost, _, here, items, completion = heappop(queue)
            if completion is not None:
                return completion
            counted, before = Counter(items), done.setdefault(here, [])
            if cost == float("inf") or any(fewer <= counted for fewer in before):
                continue  # dominated: what can be matched with more items can be with fewer
            before.append(counted)
            steps += 1 + len(items) // 32  # comparing the counters takes time as well
            if steps > _MOST_STEPS:
                raise too_long()
            if here.may_close():
                if thorough:
                    continue
                completion = self._matched(items, progress.seen, find)
                if completion is not None:
                    total = sum(1 + size(each) for each in completion)
                    heappush(queue, (total, next(tie), here, items, completion))
                continue
            for option in here.options():
                spend()
                item = OpenItem(option.value)
                total = cost + 1 + least(item)
                heappush(queue, (total, next(tie), option.after, (*items, item), None))
        return None

    def _matched(
        self, items: tuple[OpenItem, ...], seen: frozenset[str], find: Find
    ) -> tuple[Witness, ...] | None:
        """A value for each item, all different, of the fewest bytes where a value takes as many
        bytes in one item as in another.

        Of each item's values only the cheapest matter, as many as there are items: a dearer one
        can be swapped for one of these that no other item takes.
        """
        options = {item: self.values(item, len(items), seen, find) for item in set(items)}
        if len(options) == 1:
            shortest = next(iter(options.values()))
            enough = len(shortest) == len(items)
            return tuple(v.witness for v in shortest) if enough else None
        witnesses = {
            item: {v.text: v.witness for v in shortest} for item, shortest in options.items()
        }
        listed = sorted((v for shortest in options.values() for v in shortest), key=_by_size)
        texts = list(dict.fromkeys(value.text for value in listed))
        if len(items) <= len(texts) and len(items) ** 2 * len(texts) > _MOST_MATCHING:
            raise too_long()
        chosen = matching([witnesses[item].keys() for item in items], texts)
        if chosen is None:
            return None
        return tuple(witnesses[item][text] for item, text in zip(items, chosen, strict=True))

    def values(
        self, item: OpenItem, most: int, seen: frozenset[str], find: Find
    ) -> list[ListedValue]:
        """The `most` shortest values of an item that are not among those seen."""
        shape = self._shapes.normal_form(item.value)
        excluded = seen | item.excluded
        listed = self.scalars(item.value, most + len(excluded))
        values = [value for value in listed if value.text not in excluded][:most]
        if (shape.arrays or shape.objects) and not (
            len(values) == most and all(value.size <= _LEAST_CONTAINER for value in values)
        ):
            containers = self._list_containers(item.value, find)
            others = (value for value in containers if value.text not in excluded)
            values = sorted([*values, *islice(others, most)], key=_by_size)[:most]
        return values

    def scalars(self, value: Conjunction, least: int) -> list[ListedValue]:
        """The shortest scalars of a conjunction, the shortest first: `least` if there are so many,
        perhaps more."""
        length, scalars = self._scalars.get(value, (0, []))
        if length < least:
            length = max(least, 2 * length)
            texts = cheapest(self._shapes.normal_form(value), length)
            by_value = {canonical(text): text for text in reversed(texts)}
            scalars = sorted(
                (
                    ListedValue(byte_count(text), value_text, ScalarWitness(text))
                    for value_text, text in by_value.items()
                ),
                key=_by_size,
            )
            self._scalars[value] = (length, scalars)
        return scalars

    def containers(self, value: Conjunction, most: int) -> tuple[str, ...]:
        """The `most` shortest arrays and objects of a conjunction, as canonical JSON."""
        containers = self.values(OpenItem(value | {_CONTAINERS}), most, NOTHING, self._final)
        return tuple(each.text for each in containers)

    def _list_containers(self, value: Conjunction, find: Find) -> Iterator[ListedValue]:
        """The arrays and objects of a conjunction, the shortest first: each is the shortest besides
        the ones before it."""
        listed = self._containers.setdefault(value, []) if find == self._final else []
        yield from listed
        while True:
            excluded = frozenset(each.text for each in listed)
            spend(1 + CHEAP * len(excluded))
            witness = find(value | {_CONTAINERS}, excluded)
            text = None if witness is None else canonical(compact(witness))
            if witness is None or text is None or text in excluded:
                return
            if len(listed) == _MOST_CONTAINERS:
                raise too_long()
            listed.append(ListedValue(size(witness), text, witness))
            yield listed[-1]


def _by_size(value: ListedValue) -> float:
    return value.size


def too_long() -> LimitError:
    return LimitError(
        f"an array or object has more than {_MOST_CONTAINERS} values that are tried",
        limit="witness_search",
        value=_MOST_CONTAINERS,
        way_out="let fewer items differ from each other, or bound what they may be",
    )


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


FindOther = Callable[[OpenItem, Find], Witness | None]
"""The shortest value of an item that is none of those it excludes."""
EqualTo = Callable[[OpenItem, str], Witness | None]
"""The value with this canonical JSON, if the item may be it."""


class _Prefix(Immutable):
    """Items chosen so far in a search."""

    progress: ArrayProgress
    held: OpenItem | None
    items: LinkedParts[Witness | None] | None
    """None stands for the item that is held."""
    again: Witness | None = None
    """The value of the item that was held, once another one has it too."""


class RepeatedItems:
    def __init__(self, find_other: FindOther, equal_to: EqualTo) -> None:
        self._find_other = find_other
        self._equal_to = equal_to

    def completion(
        self,
        progress: ArrayProgress,
        find: Find,
        first: OpenItem | None = None,
        *,
        thorough: bool = False,
    ) -> tuple[Witness, ...] | None:
        """The shortest items up to the closing bracket, None if there are none.

        `first`: the next item; then `progress` is that after it. `thorough`: ask `find` for
        everything that a completion may be made of.
        """
        seen = progress.seen
        start = replace(progress, seen=NOTHING, promised_repeat=None)
        tie = count()
        queue: list[tuple[float, int, _Prefix]] = []
        if first is not None:
            steps = self._steps(_Prefix(start, None, None), first, start, seen, find)
        else:
            promised = progress.promised_repeat
            held = None if promised is None else OpenItem(promised)
            steps = iter([(_Prefix(start, held, None), 0.0)])
        for prefix, cost in steps:
            heappush(queue, (cost, next(tie), prefix))
        done: set[tuple[ArrayProgress, OpenItem | None]] = set()
        while queue:
            cost, _, prefix = heappop(queue)
            spend()
            here, held, items, again = prefix.progress, prefix.held, prefix.items, prefix.again
            if (here, held) in done:
                continue
            done.add((here, held))
            if len(done) > _MOST_STEPS:
                raise too_long()
            if here.may_close():
                if thorough:
                    continue
                filled = (again if item is None else item for item in unlinked(items))
                return tuple(item for item in filled if item is not None)
            for option in here.options():
                item = OpenItem(option.value)
                for following, more in self._steps(prefix, item, option.after, seen, find):
                    heappush(queue, (cost + more, next(tie), following))
        return None

    def _steps(
        self,
        prefix: _Prefix,
        item: OpenItem,
        after: ArrayProgress,
        seen: frozenset[str],
        find: Find,
    ) -> Iterator[tuple[_Prefix, float]]:
        """The prefix with one more item, in each way that the item may take part in a repeat, and
        the bytes that it adds."""
        spend()
        held, items, again = prefix.held, prefix.items, prefix.again
        repeated = replace(after, has_repeat=True)
        plain = self._find_other(item, find)
        if plain is None:
            return
        yield _Prefix(after, held, LinkedParts(items, plain), again), 1 + size(plain)
        if not after.wants_repeat:
            return
        if held is None:
            for text in sorted(seen - item.excluded):
                same = self._equal_to(item, text)
                if same is not None:
                    yield _Prefix(repeated, None, LinkedParts(items, same)), 1 + size(same)
            yield _Prefix(after, item, LinkedParts(items, None)), 1
            return
        joint = OpenItem(held.value | item.value, held.excluded | item.excluded)
        both = self._find_other(joint, find)
        if both is not None:
            yield _Prefix(repeated, None, LinkedParts(items, both), both), 1 + 2 * size(both)
