"""The normal form: for each JSON type, what a value of it must look like.

A *conjunction* is a set of schemas that must all hold. Its `Shape` is a union over types: one
regular language for the values of strings, one for the spellings of the other scalars, and a list
of alternatives each for arrays and objects. What items and members must satisfy stays a conjunction
and is looked at only when it is reached, so recursion costs nothing here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from maskwright.grammar.regular.terms import Regular
from maskwright.grammar.schema.tree import ItemCount, PropertyCount, Schema

Conjunction = frozenset[Schema]

NEVER: Final[Conjunction] = frozenset([Schema("", never=True)])


def joined(schemas: Iterable[Schema]) -> Conjunction:
    """All of them but those that allow everything, so that equal meanings are equal sets."""
    return frozenset(s for s in schemas if s.assertions or s.never)


def in_order(conjunction: Conjunction) -> list[Schema]:
    """Its schemas in the order in which they were made, the same in every run."""
    return sorted(conjunction, key=lambda schema: schema.number)


def joint_count(counts: list[ItemCount] | list[PropertyCount]) -> tuple[int, int | None]:
    """The least and the most that satisfy all of them."""
    least = max((each.least for each in counts), default=0)
    most = min((each.most for each in counts if each.most is not None), default=None)
    return least, most


@dataclass(frozen=True, slots=True)
class Contained:
    """`least` to `most` items from `start` on satisfy `schema`."""

    schema: Schema
    least: int
    most: int | None
    start: int


@dataclass(frozen=True, slots=True, eq=False)
class ArrayShape:
    prefix: tuple[Conjunction, ...]
    rest: Conjunction
    least: int
    most: int | None
    contains: tuple[Contained, ...]
    unique: bool
    repeats: bool
    """Whether some two items are equal."""

    def item(self, index: int) -> Conjunction:
        return self.prefix[index] if index < len(self.prefix) else self.rest


@dataclass(frozen=True, slots=True, eq=False)
class Wanted:
    """A member with one of these names and a value that satisfies one of the schemas beside it, or
    one of some names missing.

    Names and languages are indexes into those of the shape; a name of the shape is not looked up
    in `languages`."""

    names: Mapping[int, tuple[Schema, ...]]
    languages: tuple[tuple[int, Schema], ...]
    absent: int
    """The names one of which may be missing instead, as bits."""


@dataclass(frozen=True, slots=True, eq=False)
class ObjectShape:
    """`names` are the declared properties in order, then those that are only required or wanted."""

    names: tuple[str, ...]
    declared: int
    values: tuple[Conjunction, ...]
    """What the value of each name must satisfy."""
    required: frozenset[int]
    """Indexes into `names`."""
    languages: tuple[Regular, ...]
    """The languages of names that tell the other members apart."""
    others: Callable[[tuple[bool, ...]], Conjunction]
    """What the value of another name must satisfy, by its membership in each language."""
    some: tuple[Wanted, ...]
    """For each of these, some member is like it."""
    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class Shape:
    strings: Regular
    """The values (not spellings) of strings."""
    scalars: Regular
    """The spellings of numbers, booleans and null."""
    arrays: tuple[ArrayShape, ...]
    objects: tuple[ObjectShape, ...]
