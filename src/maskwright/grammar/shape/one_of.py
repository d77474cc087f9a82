"""`oneOf` as `anyOf`: each option without the others that share an instance with it.

An option of `oneOf` excludes all others. Written out, that is a conjunction with the negation of
every other one, and multiplies. Mostly the options are disjoint anyway. What tells options of real
schemas apart is a type, a constant, or a required member whose values differ: authors write it for
that. So options are looked up by the values that they can have (`Rivals`): within one type, by
constant; objects, by the values of a member that they require. The time this takes grows with the
options and with the pairs that are left. Each of these is compared, by cheap tests and then by a
search for a shared instance, and only options that share one are negated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Final

from maskwright.errors import LimitError
from maskwright.grammar.schema.tree import TYPES, AllOf, AnyOf, OneOf, Schema, TypeIs, negated
from maskwright.grammar.shape.disjoint import (
    Members,
    Scalar,
    accepts_all,
    have_disjoint_members,
    members,
    outline,
)
from maskwright.grammar.shape.shape import Conjunction, keyword_of
from maskwright.limits import CHEAP, Limits, spend

Possible = Callable[[Conjunction], bool]
"""The oracle: whether some value satisfies a conjunction. It may ask back for shapes."""

_OF_TYPE: Final = {name: Schema("", (TypeIs(frozenset([name])),)) for name in sorted(TYPES)}


class ExclusiveUnions:
    """The union that stands for each `oneOf`, by type, made once."""

    def __init__(self, limits: Limits, possible: Possible) -> None:
        """`possible` decides which options of a `oneOf` share an instance."""
        self._possible = possible
        self._limits = limits
        self._unions: dict[tuple[OneOf, str], AnyOf] = {}
        self._open: set[tuple[OneOf, str]] = set()

    def union(self, assertion: OneOf, kind: str) -> AnyOf:
        """The values of type `kind` that satisfy exactly one option.

        Raises `LimitError` if too many pairs of options have to be compared."""
        key = (assertion, kind)
        known = self._unions.get(key)
        if known is not None:
            return known
        if key in self._open:  # the oracle asks for what it is to decide: negate all others
            return _without_others(assertion, kind, lambda left, right: True)
        self._open.add(key)
        memo: dict[Conjunction, bool] = {}

        def overlap(left: Schema, right: Schema) -> bool:
            pair = frozenset((left, right, _OF_TYPE[kind]))
            if pair not in memo:
                memo[pair] = self._overlap(left, right, pair, kind, len(memo))
            return memo[pair]

        try:
            union = self._unions[key] = _without_others(assertion, kind, overlap)
        except LimitError as error:
            error.complete(construct=keyword_of(assertion.options))
            raise
        finally:
            self._open.discard(key)
        return union

    def _overlap(
        self, left: Schema, right: Schema, pair: Conjunction, kind: str, compared: int
    ) -> bool:
        """Whether two options may share an instance. `compared`: how many pairs were before."""
        if compared >= self._limits.alternatives:
            raise LimitError(
                f"more than {self._limits.alternatives:,} pairs of options of 'oneOf' have to be"
                " compared",
                limit="alternatives",
                value=self._limits.alternatives,
                way_out="give the options a property or type in which they differ",
            )
        return not (kind == "object" and have_disjoint_members(left, right)) and self._possible(
            pair
        )


def _without_others(
    assertion: OneOf, kind: str, overlap: Callable[[Schema, Schema], bool]
) -> AnyOf:
    """The union of the options, each in conjunction with the negations of those that overlap it."""
    if sum(accepts_all(option, kind) for option in assertion.options) > 1:
        return AnyOf(())  # every value is one of two options
    rivals = Rivals(assertion.options, (kind,))
    options: list[Schema] = []
    for at, option in enumerate(assertion.options):
        others = [assertion.options[k] for k in rivals.of(at)]
        # An option that is listed twice excludes itself.
        excluded = [o for o in others if o is option or overlap(option, o)]
        if excluded:
            negations = map(negated, dict.fromkeys(excluded))
            option = Schema(option.pointer, (AllOf((option, *negations)),))
        options.append(option)
    return AnyOf(tuple(options))


KINDS: Final = tuple(sorted(TYPES - {"integer"}))
"""The types by which options are looked up; "number" stands for integers too."""


class Rivals:
    """The rivals of each option: other options that may share a value with it."""

    def __init__(self, options: Sequence[Schema], kinds: Iterable[str] = KINDS) -> None:
        """`kinds`: the types of the values that matter."""
        spend(CHEAP * len(options))
        self._kinds = [_of_kind(options, kind) for kind in kinds]

    def of(self, at: int) -> list[int]:
        """The rivals of option `at`, in ascending order. Each pair of options that share a value is
        among them, seen from both."""
        found = sorted(set[int]().union(*(kind.beside(at) for kind in self._kinds)) - {at})
        spend(CHEAP * len(found))
        return found


def have_rivals(options: Sequence[Schema], most: int) -> bool:
    """Whether more than `most` pairs of options may share a value."""
    rivals, found = Rivals(options), 0
    for at in range(len(options)):
        found += len(rivals.of(at))  # each pair is seen twice
        if found > 2 * most:
            return True
    return False


def _of_kind(options: Sequence[Schema], kind: str) -> _Values | _Objects:
    holders = [at for at, option in enumerate(options) if kind in outline(option).types]
    if kind == "object":
        return _Objects({at: members(options[at]) for at in holders})
    return _Values(options, holders, kind)


class _Index:
    """Options by the scalars that something of them can be."""

    def __init__(self) -> None:
        self.by_scalar: dict[Scalar, list[int]] = {}
        self.scalars: dict[int, frozenset[Scalar]] = {}
        self.others: list[int] = []
        """Options whose scalars are not enumerated."""

    def add(self, at: int, scalars: frozenset[Scalar] | None) -> None:
        if scalars is None:
            self.others.append(at)
            return
        self.scalars[at] = scalars
        for scalar in scalars:
            self.by_scalar.setdefault(scalar, []).append(at)

    def most(self, at: int) -> int:
        """An upper bound on how many options `meeting` has."""
        scalars = self.scalars.get(at)
        if scalars is None:
            return len(self.scalars) + len(self.others)
        return len(self.others) + sum(len(self.by_scalar[scalar]) for scalar in scalars)

    def meeting(self, at: int) -> set[int]:
        """The options with a scalar that may equal one of option `at`."""
        scalars = self.scalars.get(at)
        if scalars is None:
            return {*self.scalars, *self.others}
        return set(self.others).union(*(self.by_scalar[scalar] for scalar in scalars))


class _Values:
    """Options with arrays, of which nothing more is known, or with values of one type of
    scalars."""

    def __init__(self, options: Sequence[Schema], holders: list[int], kind: str) -> None:
        self._holders = frozenset(holders)
        self._index = _Index()
        for at in holders:
            listed = None if kind == "array" else outline(options[at]).listed()
            own = None if listed is None else frozenset(each for each in listed if each[0] == kind)
            self._index.add(at, own)

    def beside(self, at: int) -> Iterable[int]:
        return self._index.meeting(at) if at in self._holders else ()


class _Objects:
    """Options with objects. What an option demands of a member that it requires, excludes options
    that demand something else of it, or can't have it."""

    def __init__(self, options: dict[int, Members]) -> None:
        self._options = options

    @cached_property
    def _by_member(self) -> dict[str, _Index]:
        """For each name that some option requires, the options that list it; those that may have it
        without listing it are among the `others`."""
        names = {name for each in self._options.values() for name in each.required}
        found = {name: _Index() for name in names}
        listing: dict[str, set[int]] = {name: set() for name in names}
        for at, each in self._options.items():
            for name in names.intersection(each.named):
                listing[name].add(at)
                if each.may_have(name):
                    found[name].add(at, each.scalars_of(name))
        open_ones = [at for at, each in self._options.items() if each.closed is None]
        if open_ones:
            spend(CHEAP * len(open_ones) * len(found))
            for name, index in found.items():
                index.others += (at for at in open_ones if at not in listing[name])
        return found

    def beside(self, at: int) -> Iterable[int]:
        own = self._options.get(at)
        if own is None:
            return ()
        if not own.required:
            return self._options
        name = min(own.required, key=lambda name: self._by_member[name].most(at))
        return self._by_member[name].meeting(at)
