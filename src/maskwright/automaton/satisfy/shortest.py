"""Shortest values: whether a conjunction has any, and how few bytes one takes.

The promise that no mask leads into a dead end rests on this: what has no witness is pruned.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import count
from typing import Final, NamedTuple

from maskwright.automaton.satisfy.counts import Amounts
from maskwright.automaton.satisfy.distinct import (
    CONTAINERS,
    NOTHING,
    Distinct,
    Find,
    Place,
    Value,
    too_long,
)
from maskwright.automaton.satisfy.quick import Glances
from maskwright.automaton.satisfy.repeats import Repeats
from maskwright.automaton.value.equality import NONE, Met, rivals
from maskwright.automaton.value.finite_values import Supply, canonical, spellings, supply
from maskwright.automaton.value.name_classes import NameClass, NameClasses
from maskwright.automaton.value.progress import (
    ArrayProgress,
    ItemOption,
    MemberOption,
    ObjectProgress,
    Progress,
    PropertyOrder,
    behind,
)
from maskwright.automaton.value.required import gains, is_simple, needed, up_to_required
from maskwright.automaton.value.witness_text import (
    Items,
    Members,
    Scalar,
    Witness,
    byte_count,
    compact,
    size,
    spelled,
)
from maskwright.grammar.regular.derivative import contains, is_live
from maskwright.grammar.regular.shortest import shortest
from maskwright.grammar.regular.terms import (
    EMPTY,
    Regular,
    both,
)
from maskwright.grammar.shape.shape import Conjunction
from maskwright.grammar.shape.shapes import Shapes
from maskwright.limits import Limits, spend

_MOST_STEPS: Final = 20_000


class Step(NamedTuple):
    """A way in which a container may go on."""

    name: str
    """Empty for an item."""
    value: Conjunction
    after: Progress
    met: Met


Need = tuple[Conjunction, frozenset[str]]
"""A value that is asked for; see `distinct.Find`."""

Part = tuple[str, Witness]
"""A member, or an item with an empty name."""


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
        self._known: dict[tuple[Conjunction, frozenset[str]], Witness | None] = {}
        self._possible: dict[Conjunction, bool] = {}
        self._finishing: dict[Progress, bool] = {}
        self._rests: dict[Progress, Items | Members | None] = {}
        self._rests_with: dict[Step, tuple[Part, ...] | None] = {}
        self._exactly: dict[tuple[Conjunction, str], Witness | None] = {}
        self._supplies: dict[Conjunction, Supply] = {}
        self._is_solving = False
        self._ways_tried = 0
        """Past rivals, in the present search for a shortest value."""
        self._distinct = Distinct(shapes, self._found)
        self._glances = Glances(shapes, self, self._possible)
        self.names: Final = NameClasses(limits)
        self.repeats: Final = Repeats(self._unlike, self.exactly, self.possible, self.finishes)
        self.amounts: Final = Amounts(self)
        shapes.exclusive.possible = self.possible

    def of(self, conjunction: Conjunction) -> Witness | None:
        """The shortest value, None if there is no value at all."""
        return self._found(conjunction, NOTHING)

    def _found(self, conjunction: Conjunction, beside: frozenset[str]) -> Witness | None:
        """See `distinct.Find`."""
        need = (conjunction, beside)
        if need not in self._known:
            outermost, self._is_solving = not self._is_solving, True
            self._ways_tried *= not outermost
            try:
                self._solve(conjunction, beside)
            finally:
                self._is_solving = not outermost
        return self._known[need]

    def possible(self, conjunction: Conjunction) -> bool:
        """Whether there is a value at all; for most schemas that shows without a shortest one."""
        known = self._possible.get(conjunction)
        if known is None:
            known = self._glances.shows(conjunction) or self.of(conjunction) is not None
            self._possible[conjunction] = known
        return known

    def finishes(self, progress: Progress) -> bool:
        """Whether the container can be completed: what `rest_of` tells at a higher price."""
        if progress.rivals or progress.confined:
            plenty = not progress.confined and self.amounts.ends(progress) > len(progress.rivals)
            return plenty or self.rest_of(progress) is not None
        if isinstance(progress, ArrayProgress) and progress.unique:
            return self.amounts.suffice(progress) or self.rest_of(progress) is not None
        if isinstance(progress, ArrayProgress) and progress.wants_repeat:
            return self._comes_again(progress)
        lacking = needed(progress)
        if lacking is not None:
            return all(self.possible(value) for value in lacking)
        known = self._finishing.get(progress)
        if known is None:
            known = self._glances.shows_end(progress)
            known = known or self.rest_of(progress) is not None
            self._finishing[progress] = known
        return known

    def _comes_again(self, progress: ArrayProgress) -> bool:
        """Whether an array can be completed in which some item must still come again."""
        if progress.promised is not None:
            return progress.promised in self.repeats.partners(progress)
        unseen = progress._replace(seen=NOTHING)
        return self.rest_of(unseen) is not None or (
            progress != unseen and self.rest_of(progress) is not None
        )

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
            classes = self.names.of(progress.shape.languages)
            if all(self.names.few(each) is None for each in classes):
                key = progress._replace(others=frozenset())
        if key not in self._rests:
            self._rests[key] = self._search(progress, self._found)
        found = self._rests[key]
        others = progress.others if isinstance(progress, ObjectProgress) else frozenset[str]()
        if isinstance(found, Members) and any(name in others for name, _ in found.values):
            return self._search(progress, self._found)  # with names that are still free
        return found

    def other_options(
        self, progress: ObjectProgress, each: NameClass, name: str | None
    ) -> Iterator[MemberOption]:
        """What a member with a name of this class may be, if it leads to an end."""
        for option in progress.take_other(each.mask, name, self.order):
            if self.leads_on(option):
                yield option

    def named_options(self, progress: ObjectProgress, at: int) -> Iterator[MemberOption]:
        for option in progress.take(at, self.order):
            if self.leads_on(option):
                yield option

    def item_options(self, progress: ArrayProgress) -> Iterator[ItemOption]:
        """What the next item may be, if it leads to an end."""
        if progress.wants_repeat:
            yield from self._items_that_repeat(progress)
            return
        for option in progress.options():
            if self.leads_on(option):
                yield option

    def _items_that_repeat(self, progress: ArrayProgress) -> Iterator[ItemOption]:
        """What the next item may be where some two must be equal.

        Where only this item can still come again, it must satisfy what another one will have to;
        where it must be one of those read, no other value leads on from behind it.
        """
        if progress.promised is not None:
            return  # which value that is has to be known first
        for option in progress.options():
            value, after, met = option
            if not self.possible(value):
                continue
            if not after.confined and self.finishes(after):
                yield option
                continue
            texts = (*after.seen, *(text for text, _ in met))
            if any(self._repeats(option, text) for text in texts):
                yield option
            if after.confined:
                continue
            for partner in self.repeats.partners(after):
                promising = after._replace(promised=partner)
                if self.possible(value | partner):
                    yield ItemOption(value | partner, promising, met)

    def _repeats(self, option: ItemOption, text: str) -> bool:
        """Whether an item may be one value, in an array in which some two must be equal."""
        after = behind(option.after, option.met, text)
        return (
            isinstance(after, ArrayProgress)
            and self.exactly(option.value, text) is not None
            and self.finishes(after.with_item(text))
        )

    def leads_on(self, option: ItemOption | MemberOption) -> bool:
        """Whether an item or member has a value with which the container can be completed."""
        value, after, met = option.value, option.after, option.met
        unique = isinstance(after, ArrayProgress) and after.unique
        if not met and not after.confined and not unique:
            return self.possible(value) and self.finishes(after)
        if not after.confined and self.finishes(after):
            taken = len(met)
            if isinstance(after, ArrayProgress) and after.unique:
                taken += len(after.seen) + after.items_needed
            if self.amounts.of(value) > taken:
                return True
        return self.rest_with(value, after, met) is not None

    def rest_with(
        self, value: Conjunction, after: Progress, met: Met
    ) -> tuple[Witness, tuple[Part, ...]] | None:
        """The shortest completion of a container whose next item or member is to be this: its
        value, and what follows; `after` and `met` as in an option."""
        step = Step("", value, after, met)
        if step not in self._rests_with:
            self._rests_with[step] = self._besides(step, self._found)
        found = self._rests_with[step]
        return None if found is None else (found[0][1], found[1:])

    def exactly(self, value: Conjunction, text: str) -> Witness | None:
        """The value with this canonical JSON, if it satisfies a conjunction."""
        key = (value, text)
        if key not in self._exactly:
            self._exactly[key] = self._equal(value, text)
        return self._exactly[key]

    def _equal(self, value: Conjunction, text: str) -> Witness | None:
        shape = self._shapes.of(value)
        if text[0] in "[{":
            this = rivals((), (text,), text[0])
            for start in self.containers(value):
                if isinstance(start, ObjectProgress) is (text[0] == "{"):
                    confined = start._replace(rivals=this, confined=True)
                    found = self._besides(confined, self._found)
                    if found is not None:
                        return _container(start, found)
            return None
        if text[0] == '"':
            string = json.loads(text)
            return Scalar(spelled(string)) if contains(shape.strings, string) else None
        spelling = text if contains(shape.scalars, text) else None
        spelling = spelling or self.language(both(shape.scalars, spellings(text)))
        return None if spelling is None else Scalar(spelling)

    def _unlike(self, value: Conjunction, texts: frozenset[str], find: Find) -> Witness | None:
        """The shortest value that is none of some."""
        found = find(value, NOTHING)
        if found is None or not texts or canonical(compact(found)) not in texts:
            return found
        others = self._distinct.values(Place(value), 1, texts, find)
        return others[0].witness if others else None

    # Solving

    def _solve(self, conjunction: Conjunction, beside: frozenset[str]) -> None:
        best: dict[Need, Witness | None] = {}
        starts: dict[Need, list[Progress]] = {}
        asked: dict[Need, set[Need]] = {}
        improved: dict[Need, int] = {}
        """When the value of each became what it is, on a clock that counts such events."""
        searched: dict[Need, int] = {}
        searching: list[Need] = []
        clock = count()

        def join(need: Need) -> None:
            best[need] = None if need[1] else self._scalar(need[0])
            starts[need] = list(self.containers(*need))
            asked[need] = set()
            improved[need] = next(clock)
            if len(best) > _MOST_STEPS:
                raise too_long()

        def find(conjunction: Conjunction, beside: frozenset[str]) -> Witness | None:
            need = (conjunction, beside)
            if need in self._known:
                return self._known[need]
            if need not in best:  # it is only asked for as an item that must differ from others
                reachable = [conjunction] if beside else self._reachable(conjunction)
                for each in reachable:
                    if (each, beside) not in best:
                        join((each, beside))
                if beside:
                    improve(need)
            asked[searching[-1]].add(need)
            return best[need]

        def improve(need: Need) -> bool:
            """Look for a shorter value; whether there is one."""
            before = size(best[need])
            searching.append(need)
            searched[need] = next(clock)
            for progress in starts[need]:
                found = self._search(progress, find)
                if size(found) < size(best[need]):
                    best[need] = found
                    improved[need] = next(clock)
            searching.pop()
            return size(best[need]) < before

        for each in [conjunction] if beside else self._reachable(conjunction):
            join((each, beside))
        changed = True
        while changed:
            count_before = len(best)
            changed = False
            for need in list(best):
                last = searched.get(need, -1)
                if last < 0 or any(improved[each] > last for each in asked[need]):
                    changed |= improve(need)
            changed |= len(best) > count_before
        self._known.update(best)

    def containers(
        self, conjunction: Conjunction, beside: frozenset[str] = NOTHING
    ) -> Iterator[Progress]:
        """The containers that a value of the conjunction may be, at their start; `beside` are
        those that it must not be."""
        shape = self._shapes.of(conjunction)
        for array in shape.arrays:
            start = ArrayProgress.start(array)
            yield start._replace(rivals=rivals(beside, (), "[")) if beside else start
        for each in shape.objects:
            yield ObjectProgress(each, rivals=rivals(beside, (), "{") if beside else NONE)

    def _reachable(self, conjunction: Conjunction) -> list[Conjunction]:
        """The unsolved conjunctions that the shortest values can be made of."""
        found = {conjunction: None}
        stack = [conjunction]

        def note(needed: Conjunction, _: frozenset[str]) -> Witness | None:
            if (needed, NOTHING) not in self._known and needed not in found:
                found[needed] = None
                stack.append(needed)
            return Scalar("0")  # as if everything had a value: the search passes all it may need

        while stack:
            for progress in self.containers(stack.pop()):
                self._search(progress, note, thorough=True)
        return list(found)

    def _search(
        self, progress: Progress, find: Find, *, thorough: bool = False
    ) -> Items | Members | None:
        """The shortest way to a closing bracket, by uniform-cost search over progress.

        `thorough` looks at every alternative that could matter, not only until the first end.
        """
        if progress.rivals or progress.confined:
            parts = self._besides(progress, find)
            return None if parts is None else _container(progress, parts)
        if isinstance(progress, ObjectProgress) and is_simple(progress):
            return self._required(progress, find)
        if isinstance(progress, ArrayProgress) and progress.unique:
            return self._distinct.rest(progress, find, thorough=thorough)
        if isinstance(progress, ArrayProgress) and progress.wants_repeat:
            items = self.repeats.rest(progress, find, thorough=thorough)
            return None if items is None else Items(items)
        tie = count()
        queue: list[tuple[float, int, Progress, tuple[Part, ...]]] = [(0, next(tie), progress, ())]
        done: set[Progress] = set()
        result: Items | Members | None = None
        while queue:
            cost, _, here, parts = heappop(queue)
            if here in done:
                continue
            done.add(here)
            if here.may_close():
                if not thorough:
                    return _container(here, parts)
                result = result or _container(here, parts)
                continue
            if len(done) > _MOST_STEPS:
                raise too_long()
            for name, value, after, _ in self._steps(here, recorded=not thorough):
                spend()
                witness = find(value, NOTHING)
                if witness is None:
                    continue
                total = cost + 1 + len(name) + size(witness)
                heappush(queue, (total, next(tie), after, (*parts, (name, witness))))
        return result

    def _besides(self, begin: Progress | Step, find: Find) -> tuple[Part, ...] | None:
        """The shortest way to a closing bracket past rivals, from a container or from a step in it.

        Uniform-cost search along the rivals: an item or member is what some of them have, or
        differs from all; then the rest is as if there were none.
        """
        tie = count()
        queue: list[tuple[float, int, Progress | None, tuple[Part, ...]]] = []

        def take(step: Step, cost: float, parts: tuple[Part, ...]) -> None:
            self._ways_tried += 1 + len(step.met)
            if self._is_solving and self._ways_tried > self._limits.witness_search:
                raise too_long()
            for after, more in self._ways(step, find):
                total = cost + sum(1 + len(name) + size(witness) for name, witness in more)
                heappush(queue, (total, next(tie), after, (*parts, *more)))

        if isinstance(begin, Step):
            take(begin, 0, ())
        else:
            queue.append((0, next(tie), begin, ()))
        for _ in range(_MOST_STEPS):
            if not queue:
                return None
            cost, _, here, parts = heappop(queue)
            if here is None or here.may_close():
                return parts
            for step in self._steps(here, recorded=True):
                take(step, cost, parts)
        raise too_long()

    def _ways(self, step: Step, find: Find) -> Iterator[tuple[Progress | None, tuple[Part, ...]]]:
        """What a step may be: the value of some rivals, and the progress behind it; or another one,
        with all that follows."""
        name, value, after, met = step
        unique = isinstance(after, ArrayProgress) and after.unique
        for text, left in met:
            witness = self.exactly(value, text)
            if witness is None:
                continue
            following = after._replace(rivals=left)
            if isinstance(following, ArrayProgress) and following.tells_items:
                if unique and text in following.seen:
                    continue
                following = following.with_item(text)
            yield following, ((name, witness),)
        if after.confined:
            return
        texts = frozenset(text for text, _ in met)
        if unique and isinstance(after, ArrayProgress):
            items = self._distinct.rest(after, find, (Place(value, texts),))
            if items is not None:
                yield None, _parts(items)
            return
        if isinstance(after, ArrayProgress) and after.wants_repeat:
            again = self.repeats.rest(after, find, Place(value, texts))
            if again is not None:
                yield None, _parts(Items(again))
            return
        witness = self._unlike(value, texts, find)
        if witness is not None:
            rest = self.rest_of(after) if find == self._found else self._search(after, find)
            if rest is not None:
                yield None, ((name, witness), *_parts(rest))

    def containers_of(self, item: Conjunction, most: int) -> tuple[str, ...]:
        """The `most` shortest arrays and objects of a conjunction, as canonical JSON."""
        place = Place(item | {CONTAINERS})
        found = self._distinct.values(place, most, NOTHING, self._found)
        return tuple(value.text for value in found)

    def scalars(self, conjunction: Conjunction, most: int) -> list[Value]:
        """The shortest scalars of a conjunction, the shortest first: `most` if there are so many,
        perhaps more."""
        return self._distinct.scalars(conjunction, most)

    def supply(self, conjunction: Conjunction) -> Supply:
        """The scalars of a conjunction, as far as they are few."""
        if conjunction not in self._supplies:
            self._supplies[conjunction] = supply(self._shapes.of(conjunction))
        return self._supplies[conjunction]

    def _steps(self, here: Progress, recorded: bool) -> Iterator[Step]:
        if isinstance(here, ArrayProgress):
            for option in here.options():
                yield Step("", option.value, option.after, option.met)
            return
        for at in up_to_required(here):
            for option in here.passed(at).take(at, self.order):
                if at not in here.shape.required and not gains(here, option.after):
                    continue
                seen = option.after.seen >> (at + 1) << (at + 1)
                after = option.after._replace(position=at + 1, seen=seen)
                yield Step(here.shape.names[at], option.value, after, option.met)
        if here.others_may_come("schema"):
            fresh = ((self.names.fresh(here, c), c) for c in self.names.of(here.shape.languages))
            for name, each in (*fresh, *self.names.of_rivals(here)):
                if name is not None:
                    counted = name if recorded or self.names.few(each) is not None else None
                    for option in here.take_other(each.mask, counted, self.order):
                        if gains(here, option.after):
                            yield Step(name, option.value, option.after, option.met)

    def _required(self, progress: ObjectProgress, find: Find) -> Members | None:
        left = progress.required_left()
        most = progress.shape.most
        if most is not None and progress.count + len(left) > most:
            return None
        members: list[tuple[str, Witness]] = []
        for at in left:
            value = find(progress.shape.values[at], NOTHING)
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
        return Scalar(min(options, key=byte_count)) if options else None


def _container(progress: Progress, parts: tuple[Part, ...]) -> Items | Members:
    if isinstance(progress, ArrayProgress):
        return Items(tuple(value for _, value in parts))
    return Members(parts)


def _parts(found: Items | Members) -> tuple[Part, ...]:
    if isinstance(found, Members):
        return found.values
    return tuple(("", value) for value in found.values)
