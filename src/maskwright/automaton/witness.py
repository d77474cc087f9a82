"""Shortest values: whether a conjunction has any, and how few bytes one takes.

The promise that no mask leads into a dead end rests on this: what has no witness is pruned.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count, islice
from typing import Final, NamedTuple

from maskwright.automaton.assignment import assigned
from maskwright.automaton.progress import (
    ArrayProgress,
    ItemOption,
    MemberOption,
    ObjectProgress,
    Progress,
    PropertyOrder,
    none_of,
    only,
)
from maskwright.automaton.supply import Supply, canonical, cheapest, spellings, supply
from maskwright.automaton.whitespace import WHITESPACE, Whitespace
from maskwright.errors import LimitError
from maskwright.grammar.derivative import contains, is_live, shortest
from maskwright.grammar.members import few
from maskwright.grammar.outline import is_easy
from maskwright.grammar.regular import (
    ANYTHING,
    EMPTY,
    Regular,
    both,
    complement,
    words,
)
from maskwright.grammar.schema import Schema, TypeIs
from maskwright.grammar.shape import Conjunction, Shapes
from maskwright.limits import Limits, spend

_MOST_STEPS: Final = 20_000

_MOST_GLANCES: Final = 64
"""Conjunctions looked at before a value is looked for in earnest."""
_MOST_TRIED: Final = 4
"""Ways of being wanted in which one member is tried at a glance."""
_MOST_NAMES: Final = 256
"""Names told apart one by one where a set of names may run out."""
_LEAST_CONTAINER: Final = 2
"""Bytes of the shortest array or object."""
_CONTAINERS: Final = Schema("", (TypeIs(frozenset(["array", "object"])),))


class NameClass(NamedTuple):
    """Property names that lie in the same languages: `mask` says in which."""

    mask: tuple[bool, ...]
    language: Regular


@dataclass(frozen=True, slots=True)
class Scalar:
    """The spelling of a scalar."""

    text: str


@dataclass(frozen=True, slots=True)
class Items:
    values: tuple[Witness, ...]


@dataclass(frozen=True, slots=True)
class Members:
    values: tuple[tuple[str, Witness], ...]


Witness = Scalar | Items | Members


def compact(witness: Witness) -> str:
    """The witness as JSON without whitespace."""
    return rendered(witness, WHITESPACE["compact"], 0)


def rendered(witness: Witness, whitespace: Whitespace, depth: int) -> str:
    """The witness as JSON with the least whitespace that the style allows."""
    spend()
    match witness:
        case Scalar(text=text):
            return text
        case Items(values=values):
            parts = [rendered(v, whitespace, depth + 1) for v in values]
            return enclosed("[", parts, "]", whitespace, depth)
        case Members(values=values):
            parts = [member(n, v, whitespace, depth + 1) for n, v in values]
            return enclosed("{", parts, "}", whitespace, depth)


def member(name: str, value: Witness, whitespace: Whitespace, depth: int) -> str:
    colon = ":" + whitespace.after_colon.decode()
    return spelled(name) + colon + rendered(value, whitespace, depth)


def enclosed(
    opening: str, parts: list[str], closing: str, whitespace: Whitespace, depth: int
) -> str:
    """A container whose brackets stand at `depth`."""
    if not parts:
        return opening + closing
    before, after = whitespace.line(depth + 1), whitespace.line(depth)
    return opening + before + whitespace.comma(depth + 1).join(parts) + after + closing


def spelled(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


class Witnesses:
    """The shortest witness of every conjunction asked for, and of every unfinished container.

    Costs are improved in sweeps until they stand still (Knuth's generalisation of Dijkstra's
    algorithm): recursion ends because a container is longer than what it contains. Only what a
    shortest container can hold is looked at: required names and least counts, not options.
    """

    def __init__(self, shapes: Shapes, order: PropertyOrder, limits: Limits) -> None:
        self.order: PropertyOrder = order
        self._shapes = shapes
        self._limits = limits
        self._known: dict[Conjunction, Witness | None] = {}
        self._possible: dict[Conjunction, bool] = {}
        self._finishing: dict[Progress, bool] = {}
        self._rests: dict[Progress, Items | Members | None] = {}
        self._rests_with: dict[tuple[Conjunction, ArrayProgress], Items | None] = {}
        self._names: dict[Regular, tuple[str, ...] | None] = {}
        self._items: dict[Conjunction, Conjunction] = {}
        self._allowed: dict[tuple[Conjunction, str], bool] = {}
        self._supplies: dict[Conjunction, Supply] = {}
        self._classes: dict[tuple[Regular, ...], tuple[NameClass, ...]] = {}
        self._fresh: dict[tuple[Regular, tuple[str, ...], frozenset[str]], str | None] = {}
        shapes.possible = self.possible

    def of(self, conjunction: Conjunction) -> Witness | None:
        """The shortest value, None if there is no value at all."""
        if conjunction not in self._known:
            self._solve(conjunction)
        return self._known[conjunction]

    def possible(self, conjunction: Conjunction) -> bool:
        """Whether there is a value at all; for most schemas that shows without a shortest one."""
        known = self._possible.get(conjunction)
        if known is None:
            known = self._surely(conjunction, [_MOST_GLANCES]) or self.of(conjunction) is not None
            self._possible[conjunction] = known
        return known

    def _surely(self, conjunction: Conjunction, fuel: list[int]) -> bool:
        """Whether it shows at a glance that there is a value."""
        known = self._possible.get(conjunction)
        if known is not None:
            return known
        fuel[0] -= 1
        if fuel[0] < 0:
            return False
        if len(conjunction) < 2 and all(map(is_easy, conjunction)):
            self._possible[conjunction] = True
            return True
        shape = self._shapes.of(conjunction)
        found = (
            self.is_live(shape.strings)
            or self.is_live(shape.scalars)
            or any(self._surely_finishes(each, fuel) for each in self.containers(conjunction))
        )
        if found:
            self._possible[conjunction] = True
        return found

    def _surely_finishes(self, progress: Progress, fuel: list[int]) -> bool:
        needed = _needed(progress)
        if needed is not None:
            return all(self._surely(value, fuel) for value in needed)
        return isinstance(progress, ObjectProgress) and self._surely_meets(progress, fuel)

    def _surely_meets(self, here: ObjectProgress, fuel: list[int]) -> bool:
        """Whether it shows that an object with all that it wants is found by taking, name by name,
        the first value that brings the end nearer."""
        for at in range(here.position, len(here.shape.names)):
            if here.may_close():
                return True
            if here.seen >> at & 1 or here.is_full:
                continue
            for option in islice(here.take(at, self.order), _MOST_TRIED):
                nearer = at in here.shape.required or _gains(here, option.after)
                if nearer and self._surely(option.value, fuel):
                    here = option.after
                    break
        if here.may_close() or not here.others_may_come(self.order):
            return here.may_close()
        for each in self.classes(here.shape.languages):
            name = self.fresh_name(here, each)
            if name is not None and not here.is_full:
                option = next(here.take_other(each.mask, name, self.order))
                if _gains(here, option.after) and self._surely(option.value, fuel):
                    here = option.after
        return here.may_close()

    def finishes(self, progress: Progress) -> bool:
        """Whether the container can be completed: what `rest_of` tells at a higher price."""
        needed = _needed(progress)
        if needed is not None:
            return all(self.possible(value) for value in needed)
        known = self._finishing.get(progress)
        if known is None:
            known = self._surely_finishes(progress, [_MOST_GLANCES])
            known = known or self.rest_of(progress) is not None
            self._finishing[progress] = known
        return known

    def is_live(self, term: Regular) -> bool:
        """Whether a regular language has any string."""
        return term is not EMPTY and is_live(term, self._limits.witness_search)

    def language(self, term: Regular) -> str | None:
        """The shortest string of a regular language."""
        if term is EMPTY or not is_live(term, self._limits.witness_search):
            return None
        return shortest(term, self._limits.witness_search)

    def rest_of(self, progress: Progress) -> Items | Members | None:
        """The shortest completion of a container that has been read up to `progress`."""
        key = progress
        if isinstance(progress, ObjectProgress) and progress.others:
            classes = self.classes(progress.shape.languages)
            if all(self.few_names(each) is None for each in classes):
                key = progress._replace(others=frozenset())
        if key not in self._rests:
            self._rests[key] = self._search(progress, self.of)
        found = self._rests[key]
        others = progress.others if isinstance(progress, ObjectProgress) else frozenset[str]()
        if isinstance(found, Members) and any(name in others for name, _ in found.values):
            return self._search(progress, self.of)  # with names that are still free
        return found

    def classes(self, languages: tuple[Regular, ...]) -> tuple[NameClass, ...]:
        """The sets of names that lie in the same languages, without the empty ones."""
        if languages not in self._classes:
            self._classes[languages] = tuple(self._partition(languages))
        return self._classes[languages]

    def _partition(self, languages: tuple[Regular, ...]) -> Iterator[NameClass]:
        found: list[tuple[tuple[bool, ...], Regular]] = [((), ANYTHING)]
        for language in languages:
            halves: list[tuple[tuple[bool, ...], Regular]] = []
            for mask, part in found:
                for inside in (True, False):
                    half = both(part, language if inside else complement(language))
                    if is_live(half, self._limits.witness_search):
                        halves.append(((*mask, inside), half))
            found = halves
            if len(found) > self._limits.alternatives:
                raise LimitError(
                    "the patterns of property names overlap in too many ways", limit="alternatives"
                )
        for mask, part in found:
            yield NameClass(mask, part)

    def few_names(self, each: NameClass) -> tuple[str, ...] | None:
        """The names of a class, None if there are too many to be told apart."""
        if each.language is ANYTHING:
            return None
        if each.language not in self._names:
            self._names[each.language] = few(each.language, _MOST_NAMES)
        return self._names[each.language]

    def other_options(
        self, progress: ObjectProgress, each: NameClass, name: str | None
    ) -> Iterator[MemberOption]:
        """What a member with a name of this class may be, if it leads to an end."""
        for option in progress.take_other(each.mask, name, self.order):
            if self.possible(option.value) and self.finishes(option.after):
                yield option

    def named_options(self, progress: ObjectProgress, at: int) -> Iterator[MemberOption]:
        for option in progress.take(at, self.order):
            if self.possible(option.value) and self.finishes(option.after):
                yield option

    def item_options(self, progress: ArrayProgress) -> Iterator[ItemOption]:
        """What the next item may be, if it leads to an end."""
        for option in progress.options():
            if not progress.unique:
                if self.possible(option.value) and self.finishes(option.after):
                    yield option
            elif self.rest_with(option.value, option.after) is not None:
                yield option._replace(value=self.unseen(option.value, progress.seen))

    def unseen(self, item: Conjunction, seen: frozenset[str]) -> Conjunction:
        """What an item must be that differs from those seen, as far as it could equal them."""
        excluded = frozenset(text for text in seen if self._allows(item, text))
        if not excluded:
            return item
        value = item | {none_of(excluded)}
        self._items[value] = item
        return value

    def item(self, value: Conjunction) -> Conjunction:
        """What an item had to be before those seen were excluded."""
        return self._items.get(value, value)

    def _allows(self, item: Conjunction, text: str) -> bool:
        """Whether the value, as canonical JSON, satisfies a conjunction."""
        key = (item, text)
        if key not in self._allowed:
            shape = self._shapes.of(item)
            if text[0] in "[{":
                found = bool(shape.arrays or shape.objects) and self.possible(item | {only(text)})
            elif text[0] == '"':
                found = contains(shape.strings, json.loads(text))
            else:
                found = self.language(both(shape.scalars, spellings(text))) is not None
            self._allowed[key] = found
        return self._allowed[key]

    def rest_with(self, item: Conjunction, after: ArrayProgress) -> Items | None:
        """The shortest completion of an array whose next item is to be this, the item included;
        `after` is the progress behind it."""
        if not after.unique:
            value, rest = self.of(item), self.rest_of(after)
            if value is None or not isinstance(rest, Items):
                return None
            return Items((value, *rest.values))
        key = (item, after)
        if key not in self._rests_with:
            self._rests_with[key] = self._distinct(after, self.of, (item,))
        return self._rests_with[key]

    # Solving

    def _solve(self, conjunction: Conjunction) -> None:
        best: dict[Conjunction, Witness | None] = {}
        sizes: dict[Conjunction, float] = {}
        containers: dict[Conjunction, list[Progress]] = {}

        def join(conjunction: Conjunction) -> None:
            for each in self._reachable(conjunction):
                if each not in best:
                    best[each] = self._scalar(each)
                    sizes[each] = _size(best[each])
                    containers[each] = list(self.containers(each))

        def value_of(needed: Conjunction) -> Witness | None:
            if needed in self._known:
                return self._known[needed]
            if needed not in best:  # an item that must differ from those before it
                join(needed)
            return best[needed]

        join(conjunction)
        changed = True
        while changed:
            count_before = len(best)
            changed = False
            for member in list(best):
                for progress in containers[member]:
                    found = self._search(progress, value_of)
                    size = _size(found)
                    if size < sizes[member]:
                        best[member], sizes[member], changed = found, size, True
            changed = changed or len(best) > count_before
        self._known.update(best)

    def containers(self, conjunction: Conjunction) -> Iterator[Progress]:
        """The containers that a value of the conjunction may be, at their start."""
        shape = self._shapes.of(conjunction)
        for array in shape.arrays:
            yield ArrayProgress.start(array)
        for each in shape.objects:
            yield ObjectProgress(each)

    def _reachable(self, conjunction: Conjunction) -> list[Conjunction]:
        """The unsolved conjunctions that the shortest values can be made of."""
        found = {conjunction: None}
        stack = [conjunction]

        def note(needed: Conjunction) -> Witness | None:
            if needed not in self._known and needed not in found:
                found[needed] = None
                stack.append(needed)
            return Scalar("0")  # as if everything had a value: the search passes all it may need

        while stack:
            for progress in self.containers(stack.pop()):
                self._search(progress, note, thorough=True)
        return list(found)

    def _search(
        self,
        progress: Progress,
        value_of: Callable[[Conjunction], Witness | None],
        *,
        thorough: bool = False,
    ) -> Items | Members | None:
        """The shortest way to a closing bracket, by uniform-cost search over progress.

        `thorough` looks at every alternative that could matter, not only until the first end.
        """
        if isinstance(progress, ObjectProgress) and _is_simple(progress):
            return self._required(progress, value_of)
        if isinstance(progress, ArrayProgress) and progress.unique:
            return self._distinct(progress, value_of, thorough=thorough)
        tie = count()
        queue: list[tuple[float, int, Progress, tuple[tuple[str, Witness], ...]]] = [
            (0, next(tie), progress, ())
        ]
        done: set[Progress] = set()
        result: Items | Members | None = None
        while queue:
            cost, _, here, parts = heappop(queue)
            if here in done:
                continue
            done.add(here)
            if here.may_close():
                if isinstance(here, ArrayProgress):
                    found = Items(tuple(value for _, value in parts))
                else:
                    found = Members(parts)
                if not thorough:
                    return found
                result = result or found
                continue
            if len(done) > _MOST_STEPS:
                raise _too_long()
            for name, value, after in self._steps(here, recorded=not thorough):
                spend()
                witness = value_of(value)
                if witness is None:
                    continue
                size = cost + 1 + len(name) + _size(witness)
                heappush(queue, (size, next(tie), after, (*parts, (name, witness))))
        return result

    # Items that must differ

    def _distinct(
        self,
        progress: ArrayProgress,
        value_of: Callable[[Conjunction], Witness | None],
        items: tuple[Conjunction, ...] = (),
        *,
        thorough: bool = False,
    ) -> Items | None:
        """The shortest way to a closing bracket past items that differ from each other and from
        those seen; `items` come first.

        Uniform-cost search over what each item is to satisfy, by its cheapest value; where that
        leads to an end, the values are dealt out so that all differ, which may cost more.
        """
        tie = count()
        known: dict[Conjunction, list[tuple[str, Witness]]] = {}

        def least(item: Conjunction) -> float:
            if item not in known:
                known[item] = self._candidates(item, 1, progress.seen, value_of)
            return min((_size(witness) for _, witness in known[item]), default=float("inf"))

        size = sum(1 + least(item) for item in items)
        queue: list[tuple[float, int, ArrayProgress, tuple[Conjunction, ...], Items | None]] = []
        heappush(queue, (size, next(tie), progress, items, None))
        done: dict[ArrayProgress, list[Counter[Conjunction]]] = {}
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
                raise _too_long()
            if here.may_close():
                if thorough:
                    continue
                found = self._dealt(items, progress.seen, value_of)
                if found is not None:
                    size = sum(1 + _size(each) for each in found.values)
                    heappush(queue, (size, next(tie), here, items, found))
                continue
            for option in here.options():
                spend()
                size = cost + 1 + least(option.value)
                heappush(queue, (size, next(tie), option.after, (*items, option.value), None))
        return None

    def _dealt(
        self,
        items: tuple[Conjunction, ...],
        seen: frozenset[str],
        value_of: Callable[[Conjunction], Witness | None],
    ) -> Items | None:
        """The shortest values for items that must differ.

        Of each item's values only as many matter as there are items: a dearer one can be swapped
        for one of these that no other item takes.
        """
        options = {item: self._candidates(item, len(items), seen, value_of) for item in set(items)}
        if len(options) == 1:
            found = next(iter(options.values()))
            return Items(tuple(w for _, w in found)) if len(found) == len(items) else None
        witnesses = {text: w for found in options.values() for text, w in found}
        costs = {
            item: {text: int(_size(w)) for text, w in found} for item, found in options.items()
        }
        chosen = assigned([costs[item] for item in items])
        return None if chosen is None else Items(tuple(witnesses[text] for text in chosen))

    def _candidates(
        self,
        item: Conjunction,
        most: int,
        seen: frozenset[str],
        value_of: Callable[[Conjunction], Witness | None],
    ) -> list[tuple[str, Witness]]:
        """The `most` shortest values that are not among those seen, by canonical JSON."""
        shape = self._shapes.of(item)
        found: dict[str, Witness] = {}
        for text in cheapest(shape, most + len(seen)):
            if len(found) < most:
                found.setdefault(canonical(text), Scalar(text))
                if canonical(text) in seen:
                    del found[canonical(text)]
        if (shape.arrays or shape.objects) and not (
            len(found) == most
            and all(_size(witness) <= _LEAST_CONTAINER for witness in found.values())
        ):
            found |= self._few_containers(item, most, seen, value_of)
        return sorted(found.items(), key=lambda pair: _size(pair[1]))[:most]

    def _few_containers(
        self,
        item: Conjunction,
        most: int,
        seen: frozenset[str],
        value_of: Callable[[Conjunction], Witness | None],
    ) -> dict[str, Witness]:
        """The `most` shortest arrays and objects, each found by excluding those before it."""
        found: dict[str, Witness] = {}
        while len(found) < most:
            excluded = seen.union(found)
            witness = value_of(self.unseen(item, excluded) | {_CONTAINERS})
            text = None if witness is None else canonical(compact(witness))
            if witness is None or text is None or text in excluded:
                break
            found[text] = witness
        return found

    def containers_of(self, item: Conjunction, most: int) -> tuple[str, ...]:
        """The `most` shortest arrays and objects of a conjunction."""
        found = self._few_containers(item, most, frozenset(), self.of)
        return tuple(compact(witness) for witness in found.values())

    def supply(self, conjunction: Conjunction) -> Supply:
        """The scalars of a conjunction, as far as they are few."""
        if conjunction not in self._supplies:
            self._supplies[conjunction] = supply(self._shapes.of(conjunction))
        return self._supplies[conjunction]

    def _steps(self, here: Progress, recorded: bool) -> Iterator[tuple[str, Conjunction, Progress]]:
        if isinstance(here, ArrayProgress):
            for option in here.options():
                yield "", option.value, option.after
            return
        for at in _up_to_required(here):
            for option in here.passed(at).take(at, self.order):
                if at not in here.shape.required and not _gains(here, option.after):
                    continue
                seen = option.after.seen >> (at + 1) << (at + 1)
                after = option.after._replace(position=at + 1, seen=seen)
                yield here.shape.names[at], option.value, after
        if here.others_may_come("schema"):
            for each in self.classes(here.shape.languages):
                name = self.fresh_name(here, each)
                if name is not None:
                    counted = name if recorded or self.few_names(each) is not None else None
                    for option in here.take_other(each.mask, counted, self.order):
                        if not _gains(here, option.after):
                            continue
                        yield name, option.value, option.after

    def fresh_name(self, progress: ObjectProgress, each: NameClass) -> str | None:
        """The shortest name of a class that is neither among the shape's names nor used.

        Not the empty one: of all others there are several of the same length, so that a
        completion is no longer where a name is being written that is not known yet.
        """
        key = (each.language, progress.shape.names, progress.others)
        if key not in self._fresh:
            taken = words(["", *progress.shape.names, *progress.others])
            self._fresh[key] = self.language(both(each.language, complement(taken)))
        return self._fresh[key]

    def _required(
        self, progress: ObjectProgress, value_of: Callable[[Conjunction], Witness | None]
    ) -> Members | None:
        left = progress.required_left()
        most = progress.shape.most
        if most is not None and progress.count + len(left) > most:
            return None
        members: list[tuple[str, Witness]] = []
        for at in left:
            value = value_of(progress.shape.values[at])
            if value is None:
                return None
            members.append((progress.shape.names[at], value))
        return Members(tuple(members))

    def _scalar(self, conjunction: Conjunction) -> Witness | None:
        shape = self._shapes.of(conjunction)
        options: list[str] = []
        value = self.language(shape.strings)
        if value is not None:
            options.append(spelled(value))
        spelling = self.language(shape.scalars)
        if spelling is not None:
            options.append(spelling)
        return Scalar(min(options, key=_bytes)) if options else None


def _too_long() -> LimitError:
    return LimitError(
        "the shortest value of an array or object takes too long to find", limit="witness_search"
    )


def _needed(progress: Progress) -> list[Conjunction] | None:
    """What the values must satisfy that are all that a container lacks; None if that isn't so
    simple, or if it can't be completed at all."""
    shape = progress.shape
    if isinstance(progress, ArrayProgress):
        if progress.unique or progress.counts:
            return None
        stop = min(progress.shape.least, len(progress.shape.prefix) + 1)
        return [progress.shape.item(at) for at in range(progress.index, stop)]
    left = progress.required_left()
    if shape.most is not None and progress.count + len(left) > shape.most:
        return None
    if not _is_simple(progress):
        return None
    return [progress.shape.values[at] for at in left]


def _is_simple(progress: ObjectProgress) -> bool:
    """Whether the required names are all that is missing."""
    left = progress.required_left()
    coming = sum(1 << at for at in left)
    enough = progress.count + len(left) >= progress.shape.least
    return enough and not progress.is_wanting(coming)


def _gains(here: ObjectProgress, after: ObjectProgress) -> bool:
    """Whether a member that isn't required brings the end nearer."""
    return after.met != here.met or here.count < here.shape.least


def _up_to_required(progress: ObjectProgress) -> list[int]:
    """The names from `position` to the first required one.

    What is possible does not depend on the order of names, so that a search takes them in one,
    and need not remember which of those behind it it has taken.
    """
    if progress.is_full:
        return []
    found: list[int] = []
    for at in range(progress.position, len(progress.shape.names)):
        if not progress.seen >> at & 1:
            found.append(at)
            if at in progress.shape.required:
                break
    return found


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _size(witness: Witness | None) -> float:
    return float("inf") if witness is None else _bytes(compact(witness))
