"""How far a container has been read: the state of one thread inside an array or object.

A progress offers *options*: what the next item or member may be, each with the progress after it.
Several options for one item make several threads: an item that `contains` may count or not, a
member that may or may not be the one that some negation requires.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain, product
from typing import Final

from msgspec.structs import replace

from maskwright.automaton.value.equality import (
    NONE,
    CandidatesByValue,
    EqualityCandidates,
    at_item,
    at_member,
    may_end,
)
from maskwright.errors import Construct, LimitError
from maskwright.garbage import hide
from maskwright.grammar.schema.options import PropertyOrder
from maskwright.grammar.schema.tree import Schema, negated
from maskwright.grammar.shape.shape import ArrayShape, Conjunction, ObjectShape
from maskwright.immutable import Acyclic
from maskwright.limits import spend


class ItemOption(Acyclic):
    value: Conjunction
    after: ArrayProgress
    by_value: CandidatesByValue = ()
    """What the item leaves of the array's candidates. `after` has none, as after an item that
    differs from them all."""


class ArrayProgress(Acyclic):
    """`index` items have been read; it stops growing where more items make no difference."""

    shape: ArrayShape
    index: int = 0  # pyright: ignore[reportIncompatibleMethodOverride] - hides tuple.index
    counts: tuple[int, ...] = ()
    """For each `contains`, how many items it has counted, as far as that makes a difference."""
    seen: frozenset[str] = frozenset()
    """The items read, as canonical JSON, where they must be unique or one must come again."""
    has_repeat: bool = False
    """Whether two items have been equal, where some two must be."""
    promised_repeat: Conjunction | None = None
    """Where some two items must be equal and the last one hasn't been identified yet: a conjunction
    that it satisfies, and that an equal item to come will satisfy."""
    candidates: EqualityCandidates = NONE
    """The values that the array may still turn out to equal, where it must not equal them or has to
    be recognised as one of them."""
    must_equal_one: bool = False
    """Whether the array must equal one of its candidates."""

    @classmethod
    def start(cls, shape: ArrayShape) -> ArrayProgress:
        return cls(shape, counts=(0,) * len(shape.contains))

    @property
    def unique(self) -> bool:
        return self.shape.unique

    @property
    def wants_repeat(self) -> bool:
        """Whether some item must still come again."""
        return self.shape.repeats and not self.has_repeat

    @property
    def remembers_items(self) -> bool:
        """Whether the rest of the array depends on which values its items are."""
        return self.unique or self.wants_repeat

    def may_close(self) -> bool:
        return (
            self.index >= self.shape.least
            and not self.wants_repeat
            and all(
                count >= each.least
                for count, each in zip(self.counts, self.shape.contains, strict=True)
            )
            and may_end(self.candidates, self.must_equal_one)
        )

    def options(self) -> Iterator[ItemOption]:
        """What the next item may be; the items in `seen` are not looked at."""
        shape = self.shape
        if shape.most is not None and self.index >= shape.most:
            return
        base = shape.item(self.index)
        choices = [self._counted(at) for at in range(len(shape.contains))]
        by_value = at_item(self.candidates)
        after = replace(self, index=self._next_index(), candidates=NONE)
        for chosen in product(*choices):
            value = base.union(*(schemas for schemas, _ in chosen))
            counts = tuple(count for _, count in chosen)
            yield ItemOption(value, replace(after, counts=counts), by_value)

    @property
    def items_needed(self) -> int:
        """Upper bound on the items that are needed to close the array."""
        missing = (
            max(0, each.least - count)
            for count, each in zip(self.counts, self.shape.contains, strict=True)
        )
        until_start = max((each.start - self.index for each in self.shape.contains), default=0)
        return max(0, self.shape.least - self.index, until_start) + sum(missing)

    def _counted(self, at: int) -> list[tuple[Conjunction, int]]:
        """What one `contains` asks of the next item, and its count then: if it counts the item, and
        if it doesn't, as far as both are possible and differ."""
        each, count = self.shape.contains[at], self.counts[at]
        free: Conjunction = frozenset()
        if self.index < each.start or (each.most is None and count >= each.least):
            return [(free, count)]
        hit: Conjunction = frozenset([each.schema])
        if each.most is None:
            return [(hit, count + 1), (free, count)]
        miss: Conjunction = frozenset([negated(each.schema)])
        return [(hit, count + 1), (miss, count)] if count < each.most else [(miss, count)]

    def _next_index(self) -> int:
        starts = [each.start for each in self.shape.contains]
        enough = max(len(self.shape.prefix), self.shape.least, *starts, 0)
        if self.shape.most is None and self.index >= enough:
            return self.index
        return self.index + 1

    def with_item(self, text: str) -> ArrayProgress:
        """The progress once the item that has been read is identified, as canonical JSON."""
        if self.wants_repeat and text in self.seen:
            return replace(self, has_repeat=True, seen=frozenset(), promised_repeat=None)
        return replace(self, seen=hide(self.seen | {text}), promised_repeat=None)


class MemberOption(Acyclic):
    name: int
    """Index into the shape's names; OTHER for a name that is not among them."""
    value: Conjunction
    after: ObjectProgress
    by_value: CandidatesByValue = ()
    """See `ItemOption`."""


OTHER = -1
NO_NAMES: Final = frozenset[str]()

_MOST_UNDECIDED: Final = 14
"""Requirements that one member may or may not fulfil: each of them doubles the threads."""


class ObjectProgress(Acyclic):
    """The members read so far.

    In order "schema" the declared names before `position` can't come any more, and `seen` holds the
    names read that aren't declared; in order "any" `seen` holds all names read. It is a bit set.
    """

    shape: ObjectShape
    position: int = 0
    seen: int = 0
    count: int = 0  # pyright: ignore[reportIncompatibleMethodOverride] - hides tuple.count
    """Members read, as far as counting them makes a difference."""
    fulfilled: int = 0
    """The requirements in `shape.some` that are fulfilled, as a bit set."""
    others: frozenset[str] = NO_NAMES
    """The names read that the shape doesn't list, as far as they are remembered here."""
    candidates: EqualityCandidates = NONE
    """See `ArrayProgress`."""
    must_equal_one: bool = False
    has_unremembered: bool = False
    """Whether names have been read that are neither listed nor in `others`: only the text has them
    (see `automaton.json.remembered_names`)."""

    @property
    def may_need_others(self) -> bool:
        """Whether names may be needed that the shape doesn't list."""
        return self.count < self.shape.least or self.fulfilled != (1 << len(self.shape.some)) - 1

    def required_left(self) -> list[int]:
        """The required names still to come, in order."""
        required, position, seen = self.shape.required, self.position, self.seen
        if not required:
            return []
        return sorted([at for at in required if at >= position and not seen >> at & 1])

    def needs_no_names(self, besides: int) -> bool:
        """Whether the required names complete the object, after `besides` more members."""
        if self.shape.some or self.candidates or self.must_equal_one:
            return False
        return self.count + besides + len(self.required_left()) >= self.shape.least

    def may_close(self) -> bool:
        return (
            self.count >= self.shape.least
            and not self.required_left()
            and not self.is_wanting()
            and may_end(self.candidates, self.must_equal_one)
        )

    def is_wanting(self, coming: int = 0) -> bool:
        """Whether some requirement isn't fulfilled if only the names in `coming` (bits) follow."""
        if not self.shape.some:
            return False
        absent = ~(self.seen | coming) >> self.position << self.position
        return any(
            not (self.fulfilled >> k & 1 or each.absent & absent)
            for k, each in enumerate(self.shape.some)
        )

    def lacks_requirement(self) -> bool:
        """Whether some requirement can no longer be fulfilled, if only names from `position` on may
        come beside those that the shape doesn't list."""
        return any(
            not (self.fulfilled >> k & 1 or each.absent or each.languages)
            and not any(at >= self.position and not self.seen >> at & 1 for at in each.names)
            for k, each in enumerate(self.shape.some)
        )

    @property
    def is_full(self) -> bool:
        return self.shape.most is not None and self.count >= self.shape.most

    def names(self, order: PropertyOrder) -> list[int]:
        """The names that may come next; whether they have values is left open."""
        shape = self.shape
        if self.is_full:
            return []
        if order == "any":
            return [at for at in range(len(shape.names)) if not self.seen >> at & 1]
        stop = len(shape.names)
        for at in self.required_left():
            if at < shape.declared:
                stop = at + 1
            break
        return [at for at in range(self.position, stop) if not self.seen >> at & 1]

    def others_may_come(self, order: PropertyOrder) -> bool:
        """Whether a name may come next that the shape doesn't list."""
        return not self.is_full and not (
            order == "schema" and any(at < self.shape.declared for at in self.required_left())
        )

    def take(self, at: int, order: PropertyOrder) -> Iterator[MemberOption]:
        """What the member with name `at` may be."""
        after = self.with_member(at, order)
        by_value = self._by_value(self.shape.names[at], after)
        yield from self._fulfil(
            at, self.shape.values[at], replace(after, candidates=NONE), self._hits(at), by_value
        )

    def ways(self, at: int) -> int:
        """In how many ways the value of the member with name `at` may be read: whether it fulfils
        each of the requirements about which that is open."""
        undecided = _decided(self.shape.values[at], self, self._hits(at))[1]
        return 1 << len(self._alike(at, undecided))

    def _hits(self, at: int) -> list[_Hit]:
        """The requirements that the member with name `at` may fulfil, and by which values."""
        return [
            (k, schema)
            for k, wanted in enumerate(self.shape.some)
            for schema in wanted.names.get(at, ())
        ]

    def with_member(self, at: int, order: PropertyOrder) -> ObjectProgress:
        """The progress after the member with name `at`; what its value fulfils is left open."""
        shape, position, seen, fulfilled = self.shape, self.position, self.seen, self.fulfilled
        if order == "schema" and at < shape.declared:
            passed, position = at, at + 1
        else:
            passed = position = shape.declared if order == "schema" else 0
            seen |= 1 << at
        if shape.some:
            fulfilled = self.passed(passed).fulfilled
        count = self._next_count()
        return ObjectProgress(
            shape,
            position,
            seen,
            count,
            fulfilled,
            self.others,
            self.candidates,
            self.must_equal_one,
            self.has_unremembered,
        )

    def _by_value(self, name: str, after: ObjectProgress) -> CandidatesByValue:
        """What a member with this name leaves of the candidates. Candidates with members that can't
        come any more are left out."""
        if not self.candidates:
            return ()
        gone = {*self.shape.names[: after.position], name}
        missed = {
            candidate
            for candidate in self.candidates
            if any(member[0] in gone and member[0] != name for member in candidate.rest)
        }
        return at_member(self.candidates - missed, name)

    def take_other(
        self, mask: tuple[bool, ...], name: str | None, order: PropertyOrder
    ) -> Iterator[MemberOption]:
        """What a member may be whose name the shape doesn't list, by the languages it lies in.

        Without `name` the name is not remembered, and stands for one that no candidate has.
        """
        after = replace(self, count=self._next_count())
        if order == "schema":
            position = max(self.position, self.shape.declared)
            after = replace(after.passed(position), position=position)
        by_value: CandidatesByValue = ()
        if name is not None:
            by_value = self._by_value(name, after)
            after = replace(after, others=self.others | {name})
        hits = [
            (k, schema)
            for k, wanted in enumerate(self.shape.some)
            for language, schema in wanted.languages
            if mask[language]
        ]
        value = self.shape.others(mask)
        yield from self._fulfil(OTHER, value, replace(after, candidates=NONE), hits, by_value)

    def _fulfil(
        self,
        at: int,
        value: Conjunction,
        after: ObjectProgress,
        hits: list[_Hit],
        by_value: CandidatesByValue,
    ) -> Iterator[MemberOption]:
        """One option for each set of requirements that the member may fulfil.

        Requirements that every value of it fulfils, and ones that none does, need no alternatives.
        """
        after, hits = _decided(value, after, hits)
        groups = after._alike(at, hits)
        if len(groups) > _MOST_UNDECIDED:
            raise LimitError(
                f"one property may decide between more than {_MOST_UNDECIDED} alternatives",
                limit="alternatives",
                value=_MOST_UNDECIDED,
                construct=Construct.schema(hits[-1][1].pointer),
                way_out="give it another constant or type in each of them",
            )
        spend(1 + len(hits))
        yield MemberOption(at, value, after, by_value)
        for place, group in enumerate(groups, 1):
            met = sum(1 << hit for hit, _ in group)
            taken = replace(after, fulfilled=after.fulfilled | met)
            both = value | {schema for _, schema in group}
            yield from self._fulfil(at, both, taken, [*chain(*groups[place:])], by_value)

    def _alike(self, at: int, hits: list[_Hit]) -> list[list[_Hit]]:
        """Requirements that a member may fulfil, together where everything else that fulfils one of
        them fulfils the others too. Then it makes no difference if its value fulfils a part of
        them: what completes the object after that does so after a value that fulfils none."""
        if len(hits) < 2:
            return [[hit] for hit in hits]
        times = Counter(k for k, _ in hits)
        groups: dict[tuple[int, ...], list[_Hit]] = {}
        for place, (k, schema) in enumerate(hits):
            others = self._other_ways(at, k) if times[k] == 1 else None
            groups.setdefault((place,) if others is None else others, []).append((k, schema))
        return list(groups.values())

    def _other_ways(self, at: int, requirement: int) -> tuple[int, int] | None:
        """The names, as bits, that fulfil a requirement by coming, and those that do by staying
        away, besides the name `at`; None where it depends on a value or on a name that the shape
        doesn't list."""
        shape, wanted = self.shape, self.shape.some[requirement]
        if wanted.languages:
            return None
        open_names = ~self.seen >> self.position << self.position
        coming = 0
        for name, schemas in wanted.names.items():
            if name != at and open_names >> name & 1:
                verdicts = [shape.meets(shape.values[name], schema) for schema in schemas]
                if True in verdicts:
                    coming |= 1 << name
                elif None in verdicts:
                    return None
        return coming, wanted.absent & open_names

    def passed(self, position: int) -> ObjectProgress:
        """The progress in which names before `position` that haven't come are absent for good."""
        fulfilled = self.fulfilled
        if self.shape.some and position > self.position:
            skipped = (1 << position) - (1 << self.position) & ~self.seen
            for k, each in enumerate(self.shape.some):
                if each.absent & skipped:
                    fulfilled |= 1 << k
        if fulfilled == self.fulfilled:
            return self
        return replace(self, fulfilled=fulfilled)

    def _next_count(self) -> int:
        most = self.shape.most
        limit = self.shape.least if most is None else max(self.shape.least, most)
        return min(self.count + 1, limit)


Progress = ArrayProgress | ObjectProgress

_Hit = tuple[int, Schema]
"""A requirement that a member may fulfil, and what its value must satisfy for that."""


def _decided(
    value: Conjunction, after: ObjectProgress, hits: list[_Hit]
) -> tuple[ObjectProgress, list[_Hit]]:
    """The progress after a value, with the requirements that every such value fulfils; and those
    that some of its values may fulfil."""
    undecided: list[_Hit] = []
    for hit, schema in hits:
        if not after.fulfilled >> hit & 1:
            met = after.shape.meets(value, schema)
            if met:
                after = replace(after, fulfilled=after.fulfilled | 1 << hit)
            elif met is None:
                undecided.append((hit, schema))
    return after, [(hit, schema) for hit, schema in undecided if not after.fulfilled >> hit & 1]


def progress_after(
    after: Progress, by_value: CandidatesByValue, value: str | None
) -> Progress | None:
    """The progress after an item or member with this value (as canonical JSON), None if it must not
    have this value. A `value` of None stands for one that equals no candidate's."""
    for text, left in by_value:
        if text == value:
            return replace(after, candidates=left)
    return None if after.must_equal_one else after
