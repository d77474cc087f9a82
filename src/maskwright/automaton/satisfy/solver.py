"""Satisfiability: whether conjunctions have values, and which options can still be completed.

Most answers come from cheap sufficient tests: `quick`, and lower bounds on the number of values;
the rest from a search for a witness.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final

from msgspec.structs import replace

from maskwright.automaton.satisfy.quick import QuickCheck, needed_values
from maskwright.automaton.satisfy.schema_values import NOTHING, SchemaValues
from maskwright.automaton.satisfy.search import ContainerSearch, container
from maskwright.automaton.satisfy.shortest import ShortestValues
from maskwright.automaton.value.finite_values import MOST_NUMBERS, MOST_STRINGS, canonical
from maskwright.automaton.value.name_classes import NameClass
from maskwright.automaton.value.progress import (
    ArrayProgress,
    ItemOption,
    MemberOption,
    ObjectProgress,
    Progress,
    progress_after,
)
from maskwright.automaton.value.witness_text import compact
from maskwright.errors import LimitError
from maskwright.garbage import hide
from maskwright.grammar.schema.options import Numbers, PropertyOrder
from maskwright.grammar.shape.evident import EvidentValues
from maskwright.grammar.shape.shape import Conjunction, construct_of
from maskwright.grammar.shape.shapes import Shapes
from maskwright.limits import CHEAP, Limits, spend

MANY: Final = 1 << 20
"""Where counting ends: more than any text has items."""


class Cardinality:
    """Lower bounds on numbers of values and of completions, each computed once, up to `MANY`."""

    def __init__(self, solver: Solver) -> None:
        self._solver = solver
        self._values = solver.values
        self._known: dict[Conjunction, int] = {}
        self._open: set[Conjunction] = set()
        self._completions: dict[Progress, int] = {}

    def values(self, value: Conjunction) -> int:
        """Lower bound on the distinct values that satisfy `value`."""
        known = self._known.get(value)
        if known is None:
            if value in self._open:  # a value within itself: 0 is a lower bound in any case
                return 0
            self._open.add(value)
            try:
                known = self._known[value] = min(MANY, self._count(value))
            finally:
                self._open.discard(value)
        return known

    def _count(self, value: Conjunction) -> int:
        spend(CHEAP)
        finite = self._values.finite_values(value)
        count = len(finite.scalars)
        count += MOST_STRINGS + 1 if finite.strings is None else len(finite.strings)
        count += (MOST_NUMBERS + 1) * finite.many_numbers
        starts = [*self._values.containers(value)]
        count += self._union([start for start in starts if isinstance(start, ArrayProgress)])
        return count + self._union([start for start in starts if isinstance(start, ObjectProgress)])

    def _union(self, starts: Sequence[Progress]) -> int:
        """Lower bound on the number of values of alternatives, which may overlap: the number of the
        largest one's, or one value of each, as far as these differ."""
        most = max(map(self.completions, starts), default=0)
        if most >= MANY or len(starts) < 2:
            return most
        solver = self._solver
        possible = [start for start in starts if solver.can_complete(start)]
        found = [(start, solver.search.completion(start)) for start in possible]
        texts = {canonical(compact(container(s, parts))) for s, parts in found if parts is not None}
        return max(most, len(texts))

    def completions(self, progress: Progress) -> int:
        """Lower bound on the distinct ways to complete a container, its candidates for equality
        left aside."""
        plain = replace(progress, candidates=frozenset(), must_equal_one=False)
        known = self._completions.get(plain)
        if known is None:
            if not self._solver.can_complete(plain):
                known = 0
            elif isinstance(plain, ObjectProgress):
                known = self._members(plain)
            else:
                known = self._items(plain)
            known = self._completions[plain] = min(MANY, known)
        return known

    def suffices(self, progress: ArrayProgress) -> bool:
        """Whether there are surely enough values for the items that must differ until the array
        may be closed."""
        shape = progress.shape
        if shape.contains:
            return False
        left = shape.least - progress.index
        coming = [*shape.prefix[progress.index : shape.least]]
        if shape.least > max(progress.index, len(shape.prefix)):
            coming.append(shape.rest)
        needed = len(progress.seen) + left
        return all(self.values(value) >= needed for value in coming)

    def _members(self, progress: ObjectProgress) -> int:
        """In any completion, names that decide about no requirement may have other values, and may
        come or not, if they aren't required."""
        shape, names = progress.shape, self._values.names
        if shape.most is not None or progress.count < shape.least:
            return 1
        left = progress.required_left()
        count = 1
        for at in {*left, *progress.names(self._values.order)}:
            if any(at in each.names or each.absent >> at & 1 for each in shape.some):
                continue
            count *= self.values(shape.values[at]) + (at not in left)  # it may be left out
            if count >= MANY:
                return count
        classes = names.of(shape.languages)
        free = (shape.others(each.mask) for each in classes if names.few(each) is None)
        return MANY if any(map(self._solver.satisfiable, free)) else max(1, count)

    def _items(self, progress: ArrayProgress) -> int:
        shape, at = progress.shape, progress.index
        if shape.contains or progress.wants_repeat:
            return 1
        if shape.unique:
            if shape.most is not None and at >= shape.most:
                return 1
            left = max(0, shape.least - at - 1)
            return max(1, self.values(shape.item(at)) - len(progress.seen) - left)
        count = 1
        for value in shape.prefix[at : shape.least]:
            count *= self.values(value)
            at += 1
        if at < shape.least:
            count *= self.values(shape.rest) ** min(shape.least - at, MANY.bit_length())
            at = shape.least
        if shape.most is None and self._solver.satisfiable(shape.rest):
            return MANY
        if shape.most is None or at < shape.most:
            count *= 1 + self.values(shape.item(at))
        return max(1, count)


class Solver:
    """Decides satisfiability for one schema. All answers are exact, and each is found once."""

    def __init__(self, order: PropertyOrder, limits: Limits, numbers: Numbers = "any") -> None:
        # Shapes ask whether options of `oneOf` can meet.
        shapes = Shapes(limits, self.satisfiable, numbers, order)
        self.values: Final = SchemaValues(shapes, order, limits)
        self._known: dict[Conjunction, bool] = {hide(frozenset()): True}
        self._evident = EvidentValues(self._known)
        self._completable: dict[Progress, bool] = {}
        self._partners: dict[ArrayProgress, tuple[Conjunction, ...]] = {}

    @cached_property
    def _quick(self) -> QuickCheck:
        return QuickCheck(self.values, self._evident)

    @cached_property
    def shortest(self) -> ShortestValues:
        """The shortest value of each conjunction."""
        return ShortestValues(self.values)

    @property
    def search(self) -> ContainerSearch:
        """The shortest completion of each container."""
        return self.shortest.search

    @cached_property
    def cardinality(self) -> Cardinality:
        """Lower bounds on the number of values."""
        return Cardinality(self)

    def release(self) -> None:
        """Break the cycles of references; nothing can be asked afterwards."""
        shortest = vars(self).get("shortest")
        if shortest is not None:
            shortest.release()
        vars(self).clear()

    def satisfiable(self, conjunction: Conjunction) -> bool:
        """Whether any value satisfies the conjunction."""
        try:
            known = self._evident.has_value(conjunction)
            if known is None:
                known = self._quick.has_value(conjunction)
                known = known or self.shortest.of(conjunction) is not None
                self._known[conjunction] = known
        except LimitError as error:
            error.complete(construct=construct_of(conjunction))
            raise
        return known

    def unsatisfiable(self, conjunctions: tuple[Conjunction, ...]) -> list[int]:
        """The places of those conjunctions that no value satisfies. Most are settled in one
        pass."""
        doubtful = self._evident.doubtful(conjunctions)
        return [at for at in doubtful if not self.satisfiable(conjunctions[at])]

    def can_complete(self, progress: Progress) -> bool:
        """Whether a container that has been read up to `progress` can be completed."""
        if progress.candidates or progress.must_equal_one:
            if not progress.must_equal_one:  # one completion at most for each candidate is barred
                ways = self.cardinality.completions(progress)
                if ways > len(progress.candidates):
                    return True
            return self.search.completion(progress) is not None
        if isinstance(progress, ArrayProgress) and progress.unique:
            enough = self.cardinality.suffices(progress)
            return enough or self.search.completion(progress) is not None
        if isinstance(progress, ArrayProgress) and progress.wants_repeat:
            return self._can_repeat(progress)
        lacking = needed_values(progress)
        if lacking is not None:
            return all(self.satisfiable(value) for value in lacking)
        known = self._completable.get(progress)
        if known is None:
            known = self._quick.can_complete(progress) or not (
                (isinstance(progress, ObjectProgress) and self._is_hopeless(progress))
                or self.search.completion(progress) is None
            )
            self._completable[progress] = known
        return known

    def _is_hopeless(self, progress: ObjectProgress) -> bool:
        """Whether an object evidently can't be completed: a required name has no value, or what
        would fulfil a requirement can neither come nor stay away any more."""
        shape, seen, position = progress.shape, progress.seen, progress.position
        left = progress.required_left()
        if not all(self.satisfiable(shape.values[at]) for at in left):
            return True
        avoidable = ~(seen | sum(1 << at for at in left)) >> position << position
        return any(
            not (progress.fulfilled >> k & 1 or each.languages or each.absent & avoidable)
            and not any(
                at >= position
                and not seen >> at & 1
                and any(self.satisfiable(shape.values[at] | {wanted}) for wanted in schemas)
                for at, schemas in each.names.items()
            )
            for k, each in enumerate(shape.some)
        )

    # Options that can be completed

    def other_options(
        self, progress: ObjectProgress, each: NameClass, name: str | None
    ) -> Iterator[MemberOption]:
        """What a member with a name of this class may be; see `ObjectProgress.take_other`."""
        options = progress.take_other(each.mask, name, self.values.order)
        return filter(self.leads_on, options)

    def named_options(self, progress: ObjectProgress, at: int) -> Iterator[MemberOption]:
        """What the member with one of the shape's names may be."""
        return filter(self.leads_on, progress.take(at, self.values.order))

    def item_options(self, progress: ArrayProgress) -> Iterator[ItemOption]:
        """What the next item may be."""
        if progress.wants_repeat:
            return self._items_before_repeat(progress)
        return filter(self.leads_on, progress.options())

    def leads_on(self, option: ItemOption | MemberOption) -> bool:
        """Whether an item or member has a value with which the container can be completed."""
        value, after, by_value = option.value, option.after, option.by_value
        unique = isinstance(after, ArrayProgress) and after.unique
        if not by_value and not after.must_equal_one and not unique:
            return self.satisfiable(value) and self.can_complete(after)
        plain = replace(after, must_equal_one=False)
        if not (self.satisfiable(value) and self.can_complete(plain)):
            return False
        if not after.must_equal_one:
            taken = len(by_value)
            if isinstance(after, ArrayProgress) and after.unique:
                taken += len(after.seen) + after.items_needed
            ways = self.cardinality.values(value)
            if ways > taken:
                return True
            barred = sum(len(left) for _, left in by_value)
            if not unique and ways * self.cardinality.completions(after) > barred:
                return True
        return self.search.completion_after(value, after, by_value) is not None

    # Arrays in which some two items must be equal

    def _can_repeat(self, progress: ArrayProgress) -> bool:
        """Whether an array can be completed in which some item must still come again."""
        if progress.promised_repeat is not None:
            return progress.promised_repeat in self._repeat_partners(progress)
        unseen = replace(progress, seen=NOTHING)
        return self.search.completion(unseen) is not None or (
            progress != unseen and self.search.completion(progress) is not None
        )

    def _items_before_repeat(self, progress: ArrayProgress) -> Iterator[ItemOption]:
        """What the next item may be where some two must be equal.

        Where only this item can still come again, it must satisfy what another one will have to;
        where it must be one of those read, only their values lead on.
        """
        if progress.promised_repeat is not None:
            return  # which value that is has to be known first
        for option in progress.options():
            value, after, by_value = option.value, option.after, option.by_value
            if not self.satisfiable(value):
                continue
            if not after.must_equal_one and self.can_complete(after):
                yield option
                continue
            texts = (*after.seen, *(text for text, _ in by_value))
            if any(self._repeats(option, text) for text in texts):
                yield option
            if after.must_equal_one:
                continue
            for partner in self._repeat_partners(after):
                if self.satisfiable(value | partner):
                    promising = replace(after, promised_repeat=partner)
                    yield ItemOption(value | partner, promising, by_value)

    def _repeats(self, option: ItemOption, text: str) -> bool:
        """Whether an item may be one value, in an array in which some two must be equal."""
        after = progress_after(option.after, option.by_value, text)
        return (
            isinstance(after, ArrayProgress)
            and self.search.equal_to(option.value, text) is not None
            and self.can_complete(after.with_item(text))
        )

    def _repeat_partners(self, progress: ArrayProgress) -> tuple[Conjunction, ...]:
        """What an item to come may have to satisfy that is equal to the last one read, so that the
        array can be completed: one conjunction for each way to go on."""
        start = replace(progress, seen=NOTHING, promised_repeat=None)
        if start not in self._partners:
            self._partners[start] = tuple(dict.fromkeys(self._find_partners(start)))
        return self._partners[start]

    def _find_partners(self, start: ArrayProgress) -> Iterator[Conjunction]:
        queue = [start]
        done = {start}
        for here in queue:  # which grows
            for option in here.options():
                spend()
                if not self.satisfiable(option.value):
                    continue
                if self.can_complete(replace(option.after, has_repeat=True)):
                    yield option.value
                if option.after not in done:
                    done.add(option.after)
                    queue.append(option.after)
