"""Which options of a `oneOf` may share a value, without comparing each with each.

What tells options of real schemas apart is a type, a constant, or a required member whose values
differ: authors write it for that. So options are looked up by the values that they can have: within
one type, by constant; objects, by the values of a member that they require. The time this
takes grows with the options and with the pairs that are left, which the caller compares one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Final

from maskwright.grammar.schema.tree import TYPES, Schema
from maskwright.grammar.shape.disjoint import Members, Scalar, members, outline
from maskwright.limits import CHEAP, spend

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


def _of_kind(options: Sequence[Schema], kind: str) -> _Scalars | _Objects | _Any:
    holders = [at for at, option in enumerate(options) if kind in outline(option).types]
    match kind:
        case "object":
            return _Objects({at: members(options[at]) for at in holders})
        case "array":
            return _Any(holders)
        case _:
            return _Scalars(options, holders, kind)


class _Any:
    """Options that are known only to have values of a type."""

    def __init__(self, holders: list[int]) -> None:
        self._holders = frozenset(holders)

    def beside(self, at: int) -> Iterable[int]:
        return self._holders if at in self._holders else ()


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


class _Scalars:
    """Options with values of one type of scalars."""

    def __init__(self, options: Sequence[Schema], holders: list[int], kind: str) -> None:
        self._holders = frozenset(holders)
        self._index = _Index()
        for at in holders:
            listed = outline(options[at]).listed()
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
