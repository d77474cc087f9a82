"""The classes of the normal form: for each JSON type, what a value of it must look like.

A *conjunction* is a set of schemas that must all hold. Its `Shape` is a union over types: one
regular language for the values of strings, one for the spellings of the other scalars, and a list
of alternatives each for arrays and objects. What items and members must satisfy stays a
conjunction, whose shape is asked for when a text gets there; so recursion costs nothing here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from msgspec import field

from maskwright.errors import Construct
from maskwright.garbage import hide
from maskwright.grammar.regular.terms import Regular
from maskwright.grammar.schema.tree import (
    AllOf,
    Assertion,
    ItemCount,
    PropertyCount,
    Schema,
    about_the_value,
    negated,
)
from maskwright.grammar.shape.disjoint import are_disjoint
from maskwright.immutable import Acyclic
from maskwright.limits import spend

Conjunction = frozenset[Schema]

NEVER: Final[Conjunction] = frozenset([Schema("", never=True)])


def conjunction_of(schemas: Iterable[Schema]) -> Conjunction:
    """The conjunction of schemas, without those that allow everything: so equal demands are more
    often equal sets."""
    return hide(frozenset(s for s in schemas if s.assertions or s.never))


def referenced(schema: Schema) -> Schema:
    """What a schema that consists of a reference refers to; the schema itself if it is another.

    Beside the reference, `allOf` may have schemas that allow everything, as a description is."""
    seen: set[Schema] = set()
    while schema not in seen and len(schema.assertions) == 1:
        (assertion,) = schema.assertions
        if not isinstance(assertion, AllOf):
            break
        parts = assertion.parts
        if len(parts) > 1:
            parts = [part for part in parts if part.assertions or part.never]
        if len(parts) != 1:
            break
        spend()
        seen.add(schema)
        schema = parts[0]
    return schema


def is_demanded(conjunction: Conjunction, schema: Schema) -> bool:
    """Whether a conjunction has a schema that says the same as another one: a reference to the same
    schema, or one of equal assertions."""
    target = referenced(schema)
    return not target.never and any(
        other is target or (not other.never and other.assertions == target.assertions)
        for other in map(referenced, conjunction)
    )


def target_of(conjunction: Conjunction) -> Conjunction:
    """What a conjunction that is nothing but a reference refers to; any other itself."""
    if len(conjunction) == 1:
        (schema,) = conjunction
        target = referenced(schema)
        if target is not schema:
            return conjunction_of((target,))
    return conjunction


def in_order(conjunction: Conjunction) -> list[Schema]:
    """The schemas of a conjunction in the order in which they were made, equal in every run."""
    return sorted(conjunction, key=lambda schema: schema.number)


def construct_of(conjunction: Conjunction) -> Construct:
    """What an error names whose cause is a value that must satisfy a conjunction."""
    first = min(conjunction, key=lambda schema: schema.number, default=None)
    return Construct.schema("" if first is None else first.pointer)


def keyword_of(options: tuple[Schema, ...]) -> Construct:
    """What an error names whose cause is a union of options: the keyword, or the first of them."""
    first = options[0].pointer
    keyword = first.rpartition("/")[0]
    return Construct.schema(keyword if keyword.endswith(("/oneOf", "/anyOf")) else first)


def joint_count(counts: list[ItemCount] | list[PropertyCount]) -> tuple[int, int | None]:
    """The least and the most that satisfy all of them; None is unbounded."""
    least = max((each.least for each in counts), default=0)
    most = min((each.most for each in counts if each.most is not None), default=None)
    return least, most


class Contained(Acyclic):
    """From item `start` on, `least` to `most` items satisfy `schema`."""

    schema: Schema
    least: int
    most: int | None
    start: int


class ArrayShape(Acyclic, eq=False):
    """One alternative of arrays: item i satisfies `prefix[i]`, the items after these `rest`."""

    prefix: tuple[Conjunction, ...]
    rest: Conjunction
    least: int
    most: int | None
    contains: tuple[Contained, ...]
    unique: bool
    """Whether no two items are equal."""
    repeats: bool
    """Whether some two items are equal."""

    __hash__ = object.__hash__

    def item(self, index: int) -> Conjunction:
        return self.prefix[index] if index < len(self.prefix) else self.rest


class MemberRequirement(Acyclic, eq=False):
    """Some member has one of these names, and a value that satisfies one of the schemas given for
    the name; or one of the names in `absent` is missing.

    Names and languages are given by their indexes in the shape. A name that the shape lists is
    looked up in `names` alone, other names in `languages`."""

    names: Mapping[int, tuple[Schema, ...]]
    languages: tuple[tuple[int, Schema], ...]
    absent: int
    """The names, as bits; any one of them may be missing instead."""

    __hash__ = object.__hash__


class ObjectShape(Acyclic, eq=False):
    """One alternative of objects."""

    names: tuple[str, ...]
    """The names that the shape lists: first the declared properties in order, then names that are
    only required, named by a negation or part of a `MemberRequirement`."""
    declared: int
    """How many of the names are declared properties."""
    values: tuple[Conjunction, ...]
    """What the value of each name must satisfy."""
    required: frozenset[int]
    """Indexes into `names`."""
    languages: tuple[Regular, ...]
    """The languages that distinguish the other names."""
    others: Callable[[tuple[bool, ...]], Conjunction]
    """What the value of another name must satisfy, by whether the name is in each language."""
    some: tuple[MemberRequirement, ...]
    """Requirements that some member has to meet, each of them."""
    least: int
    most: int | None
    verdicts: dict[tuple[Conjunction, Schema], bool | None] = field(
        default_factory=dict[tuple[Conjunction, Schema], bool | None]
    )
    """What `meets` has found."""

    __hash__ = object.__hash__

    def meets(self, value: Conjunction, wanted: Schema) -> bool | None:
        """Whether the values that satisfy a conjunction all satisfy a schema that a requirement
        names; False if surely none does, None where that is open."""
        known = self.verdicts.get((value, wanted), ...)
        if known is ...:
            unwanted = negated(wanted)
            known = are_disjoint(value, unwanted) or None
            if known is None and (is_demanded(value, unwanted) or are_disjoint(value, wanted)):
                known = False
            self.verdicts[value, wanted] = known
        return known


class Shape(Acyclic):
    """The normal form of a conjunction."""

    strings: Regular
    """The values (not spellings) of strings."""
    scalars: Regular
    """The spellings of numbers, booleans and null."""
    arrays: tuple[ArrayShape, ...]
    objects: tuple[ObjectShape, ...]


def place_of(conjunction: Conjunction, test: Callable[[Assertion], bool]) -> str | None:
    """The JSON Pointer of the first schema with an assertion about the value that passes a test,
    among the conjunction and what it consists of; None if there is none."""
    seen: set[Schema] = set()
    waiting = in_order(conjunction)
    for schema in waiting:
        if schema in seen:
            continue
        seen.add(schema)
        if any(map(test, schema.assertions)):
            return schema.pointer
        for assertion in schema.assertions:
            waiting += about_the_value(assertion)
    return None
