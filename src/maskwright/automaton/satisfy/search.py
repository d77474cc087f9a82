"""Shortest completions of arrays and objects, by uniform-cost search over their progress."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cached_property
from heapq import heappop, heappush
from itertools import count
from typing import Final

from msgspec.structs import replace

from maskwright.automaton.satisfy.counted_parts import (
    CountedParts,
    count_items,
    count_members,
    needs_count_alone,
)
from maskwright.automaton.satisfy.distinct import (
    DistinctItems,
    Find,
    LinkedParts,
    OpenItem,
    RepeatedItems,
    too_long,
    unlinked,
)
from maskwright.automaton.satisfy.quick import is_simple, makes_progress
from maskwright.automaton.satisfy.schema_values import NOTHING, SchemaValues
from maskwright.automaton.value.equality import CandidatesByValue, equality_candidates
from maskwright.automaton.value.finite_values import canonical, spellings
from maskwright.automaton.value.progress import ArrayProgress, ObjectProgress, Progress
from maskwright.automaton.value.witness_text import (
    ArrayWitness,
    ObjectWitness,
    ScalarWitness,
    Witness,
    compact,
    size,
    spelled,
)
from maskwright.grammar.regular.derivative import contains
from maskwright.grammar.regular.terms import intersection
from maskwright.grammar.shape.shape import Conjunction
from maskwright.immutable import Acyclic
from maskwright.limits import CHEAP, spend

_MOST_STEPS: Final = 20_000
_FEW: Final = 64
"""Items that are chosen one by one where a search has begun; more of the same kind are counted."""


class ContainerStep(Acyclic):
    """One item or member more."""

    name: str
    """Empty for an item."""
    value: Conjunction
    after: Progress
    by_value: CandidatesByValue


Parts = tuple[tuple[str, Witness], ...]
"""Members, or items with empty names."""


class ContainerSearch:
    """Completions of containers that have been read in part; each is kept, once it is settled."""

    def __init__(self, values: SchemaValues, final: Find) -> None:
        """`final` finds values that are settled; see `DistinctItems`."""
        self._values = values
        self._final = final
        self._completions: dict[Progress, Parts | None] = {}
        self._completions_after: dict[ContainerStep, Parts | None] = {}
        self._equal: dict[tuple[Conjunction, str], Witness | None] = {}
        self.steps_left: int | None = None
        """Steps past candidates for equality that are left to the present computation of shortest
        values; None where there is none, and no limit."""

    @property
    def repeats_items(self) -> bool:
        """Whether arrays in which some item has to be repeated have been met."""
        return "_repeats" in vars(self)

    @cached_property
    def distinct(self) -> DistinctItems:
        """Completions and lists of values that differ."""
        return DistinctItems(self._values.shapes, self._final)

    @cached_property
    def _repeats(self) -> RepeatedItems:
        return RepeatedItems(self._find_other, lambda item, text: self.equal_to(item.value, text))

    # Settled answers

    def completion(self, progress: Progress) -> Parts | None:
        """The shortest completion of a container that has been read up to `progress`."""
        key = self.without_endless(progress) if isinstance(progress, ObjectProgress) else progress
        if isinstance(key, ArrayProgress) and key.items_needed > _FEW and needs_count_alone(key):
            return self.find_completion(key, self._final)  # not kept: it is long, but fast to find
        if key not in self._completions:
            self._completions[key] = self.find_completion(key, self._final)
        found = self._completions[key]
        if found is not None and _repeats(progress, found):
            return self.find_completion(progress, self._final)  # with names that are still free
        return found

    def completion_after(
        self, value: Conjunction, after: Progress, by_value: CandidatesByValue
    ) -> tuple[Witness, Parts] | None:
        """The shortest completion of a container whose next item or member must satisfy `value`:
        that value, and what follows it. `after` and `by_value` come from an option."""
        key = self.without_endless(after) if isinstance(after, ObjectProgress) else after
        step = ContainerStep("", value, key, by_value)
        if step not in self._completions_after:
            self._completions_after[step] = self._past_candidates(step, self._final)
        found = self._completions_after[step]
        if found is not None and _repeats(after, found[1:]):
            found = self._past_candidates(replace(step, after=after), self._final)
        return None if found is None else (found[0][1], found[1:])

    def without_endless(self, progress: ObjectProgress) -> ObjectProgress:
        """A progress without the kinds of names that are too many to run out."""
        if not progress.others and not progress.has_unremembered:
            return progress
        names, shape = self._values.names, progress.shape
        listed = [names.few(each) for each in names.of(shape.languages)]
        few = frozenset(name for each in listed for name in each or ())
        others = progress.others & few if few else NOTHING
        return replace(progress, others=others, has_unremembered=False)

    def equal_to(self, value: Conjunction, text: str) -> Witness | None:
        """The value with this canonical JSON, None if it doesn't satisfy the conjunction."""
        key = (value, text)
        if key not in self._equal:
            self._equal[key] = self._find_equal(value, text)
        return self._equal[key]

    def _find_equal(self, value: Conjunction, text: str) -> Witness | None:
        spend(CHEAP)
        values, shape = self._values, self._values.shapes.normal_form(value)
        if text[0] in "[{":
            candidates = equality_candidates((), (text,), text[0])
            for start in values.containers(value):
                if isinstance(start, ObjectProgress) is (text[0] == "{"):
                    equal = replace(start, candidates=candidates, must_equal_one=True)
                    found = self._past_candidates(equal, self._final)
                    if found is not None:
                        return container(start, found)
            return None
        if text[0] == '"':
            string = json.loads(text)
            return ScalarWitness(spelled(string)) if contains(shape.strings, string) else None
        spelling = text if contains(shape.scalars, text) else None
        spelling = spelling or values.shortest_string(intersection(shape.scalars, spellings(text)))
        return None if spelling is None else ScalarWitness(spelling)

    # The search

    def find_completion(
        self, progress: Progress, find: Find, *, thorough: bool = False
    ) -> Parts | None:
        """The shortest completion that is made of the values that `find` finds.

        `thorough`: ask `find` for everything that a completion may be made of, instead of stopping
        at the first end.
        """
        if progress.candidates or progress.must_equal_one:
            return self._past_candidates(progress, find)
        if isinstance(progress, ObjectProgress):
            if is_simple(progress):
                return self._required(progress, find)
        elif progress.unique:
            return _parts(self.distinct.completion(progress, find, thorough=thorough))
        elif progress.wants_repeat:
            return _parts(self._repeats.completion(progress, find, thorough=thorough))
        elif needs_count_alone(progress):
            return _parts(count_items(progress, find, thorough=thorough))
        return self._cheapest_parts(progress, find, thorough=thorough)

    def _cheapest_parts(self, progress: Progress, find: Find, *, thorough: bool) -> Parts | None:
        """The shortest completion by a uniform-cost search over the items or members to come."""
        tie = count()
        queue: list[
            tuple[float, int, Progress | None, LinkedParts[tuple[str, Witness]] | None, Parts]
        ] = [(0, next(tie), progress, None, ())]
        done: set[Progress] = set()
        while queue:
            cost, _, here, chosen, rest = heappop(queue)
            if here in done:
                continue
            if here is None or here.may_close():
                if not thorough:
                    return (*unlinked(chosen), *rest)
                continue
            done.add(here)
            if len(done) > _MOST_STEPS:
                raise too_long()
            many = self._many_parts(here, find, thorough=thorough)
            if many is not None:
                if many.parts is not None:
                    total = cost + _cost(many.parts)
                    heappush(queue, (total, next(tie), None, chosen, many.parts))
                continue
            for step in self._steps(here, recorded=not thorough):
                spend()
                name, value, after = step.name, step.value, step.after
                witness = find(value, NOTHING)
                if witness is None or after in done:
                    continue
                total = cost + 1 + len(name) + size(witness)
                heappush(queue, (total, next(tie), after, LinkedParts(chosen, (name, witness)), ()))
        return None

    def _many_parts(self, here: Progress, find: Find, *, thorough: bool) -> CountedParts | None:
        """All that a container still lacks, if only the number of many items or members matters.
        None if a search has to tell."""
        if isinstance(here, ObjectProgress):
            return count_members(here, self._values.names, find)
        if here.items_needed <= _FEW or not needs_count_alone(here):
            return None
        return CountedParts(_parts(count_items(here, find, thorough=thorough)))

    def _required(self, progress: ObjectProgress, find: Find) -> Parts | None:
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
        return tuple(members)

    def _past_candidates(self, begin: Progress | ContainerStep, find: Find) -> Parts | None:
        """The shortest completion where candidates for equality are left, from a container or from
        a step in it.

        Uniform-cost search along the candidates: an item or member is what some of them have, or
        differs from all; then the rest is as if there were none.
        """
        tie = count()
        queue: list[tuple[float, int, Progress | None, Parts]] = []

        def take(step: ContainerStep, cost: float, parts: Parts) -> None:
            spend()
            if self.steps_left is not None:
                self.steps_left -= 1 + len(step.by_value)
                if self.steps_left < 0:
                    raise too_long()
            for after, more in self._ways(step, find):
                total = cost + sum(1 + len(name) + size(witness) for name, witness in more)
                heappush(queue, (total, next(tie), after, (*parts, *more)))

        if isinstance(begin, ContainerStep):
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

    def _ways(self, step: ContainerStep, find: Find) -> Iterator[tuple[Progress | None, Parts]]:
        """What a step may be: the value of some candidates, with the progress after it; or a value
        that differs from all, with all that follows (and no progress)."""
        name, value, after, by_value = step.name, step.value, step.after, step.by_value
        unique = isinstance(after, ArrayProgress) and after.unique
        for text, left in by_value:
            witness = self.equal_to(value, text)
            if witness is None:
                continue
            following = replace(after, candidates=left)
            if isinstance(following, ArrayProgress) and following.remembers_items:
                if unique and text in following.seen:
                    continue
                following = following.with_item(text)
            yield following, ((name, witness),)
        if after.must_equal_one:
            return
        item = OpenItem(value, frozenset(text for text, _ in by_value))
        if isinstance(after, ArrayProgress) and after.remembers_items:
            found = (
                self.distinct.completion(after, find, (item,))
                if unique
                else self._repeats.completion(after, find, item)
            )
            parts = _parts(found)
            if parts is not None:
                yield None, parts
            return
        witness = self._find_other(item, find)
        if witness is not None:
            is_final = find == self._final
            rest = self.completion(after) if is_final else self.find_completion(after, find)
            if rest is not None:
                yield None, ((name, witness), *rest)

    def _find_other(self, item: OpenItem, find: Find) -> Witness | None:
        """The shortest value of an item that is none of those it excludes."""
        found = find(item.value, NOTHING)
        if found is None or not item.excluded or canonical(compact(found)) not in item.excluded:
            return found
        others = self.distinct.values(OpenItem(item.value), 1, item.excluded, find)
        return others[0].witness if others else None

    def _steps(self, here: Progress, *, recorded: bool) -> Iterator[ContainerStep]:
        """The items or members that may bring the end nearer. `recorded`: new names are entered
        into the progress, even where a class of names can't run out."""
        if isinstance(here, ArrayProgress):
            for option in here.options():
                yield ContainerStep("", option.value, option.after, option.by_value)
            return
        order, names = self._values.order, self._values.names
        for at in _up_to_required(here):
            for option in here.passed(at).take(at, order):
                if at not in here.shape.required and not makes_progress(here, option.after):
                    continue
                seen = option.after.seen >> (at + 1) << (at + 1)
                after = replace(option.after, position=at + 1, seen=seen)
                if after.lacks_requirement():
                    continue
                yield ContainerStep(here.shape.names[at], option.value, after, option.by_value)
        if here.others_may_come("schema"):
            fresh = ((names.fresh(here, c), c) for c in names.of(here.shape.languages))
            for name, each in (*fresh, *names.of_candidates(here)):
                if name is not None:
                    counted = name if recorded or names.few(each) is not None else None
                    for option in here.take_other(each.mask, counted, order):
                        if makes_progress(here, option.after):
                            yield ContainerStep(name, option.value, option.after, option.by_value)


def _up_to_required(progress: ObjectProgress) -> list[int]:
    """The names from `position` to the first required one.

    What can be completed does not depend on the order of names. So a search takes them in one
    order, and need not remember which ones it has taken.
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


def _cost(parts: Parts) -> float:
    """The bytes of items or members, as a search counts them."""
    sizes = {id(witness): witness for _, witness in parts}
    bytes_of = {key: size(witness) for key, witness in sizes.items()}
    return sum(1 + len(name) + bytes_of[id(witness)] for name, witness in parts)


def container(progress: Progress, parts: Parts) -> Witness:
    """The array or object that begins as `progress`, which has no parts yet, and has these."""
    if isinstance(progress, ArrayProgress):
        return ArrayWitness(tuple([value for _, value in parts]))
    return ObjectWitness(parts)


def _repeats(progress: Progress, parts: Parts) -> bool:
    """Whether some of the members to come has a name that an object has already."""
    if isinstance(progress, ArrayProgress) or not progress.others:
        return False
    return any(name in progress.others for name, _ in parts)


def _parts(items: tuple[Witness, ...] | None) -> Parts | None:
    return None if items is None else tuple([("", value) for value in items])
