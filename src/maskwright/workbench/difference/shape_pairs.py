"""Two normal forms compared: where they disagree, and which of their parts are still to compare.

A *constraint* is a JSON Schema. Some value of one side satisfies it, and no value of the other side
is expected to.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from maskwright.automaton.satisfy.schema_values import SchemaValues
from maskwright.grammar.regular.derivative import contains
from maskwright.grammar.regular.terms import ANYTHING, Regular, complement, intersection, words
from maskwright.grammar.schema.tree import Schema
from maskwright.grammar.shape.shape import (
    ArrayShape,
    Conjunction,
    MemberRequirement,
    ObjectShape,
    Shape,
)
from maskwright.workbench.difference.language_difference import are_words_alike, missing_string

Constraint: TypeAlias = dict[str, Any]


class Disagreement(NamedTuple):
    """Texts of side `side`, 0 or 1, that satisfy `constraint` are not expected of the other."""

    side: int
    constraint: Constraint


class PartPair(NamedTuple):
    """What both sides have at one place within a value.

    `place`: the name of a member or the index of an item; None for the value itself.
    """

    pair: tuple[Conjunction, Conjunction]
    place: str | int | None

    def around(self, constraint: Constraint) -> Constraint:
        """The constraint on the value around this part that has the part satisfy `constraint`."""
        if self.place is None:
            return constraint
        if isinstance(self.place, str):
            members = {"properties": {self.place: constraint}, "required": [self.place]}
            return {"type": "object", **members}
        items = [*[True] * self.place, constraint]
        return {"type": "array", "prefixItems": items, "minItems": len(items)}


@dataclass
class ShapePair:
    """Compares two normal forms when it is made. A side without disagreements has all its texts in
    common with the other side, as far as the parts have, unless it is in `unclear`: of these it
    isn't known whether they have texts of their own besides the disagreements."""

    shapes: tuple[Shape, Shape]
    values: SchemaValues
    bare: bool
    """Whether strings that a schema lists are spelled with the escapes alone that JSON requires."""
    disagreements: list[Disagreement] = field(default_factory=list[Disagreement])
    parts: list[PartPair] = field(default_factory=lambda: list[PartPair]())
    unclear: set[int] = field(default_factory=set[int])

    def __post_init__(self) -> None:
        first, second = self.shapes
        self._compare_strings(first.strings, second.strings)
        for side, one, other in _both_ways(first.scalars, second.scalars):
            text = missing_string(one, other, self.values.limits.witness_search)
            if text is not None:
                self._disagree(side, {"const": json.loads(text)})
        arrays, objects = (first.arrays, second.arrays), (first.objects, second.objects)
        if self._has_one_each("array", arrays):
            self._compare_arrays(*arrays[0], *arrays[1])
        if self._has_one_each("object", objects):
            self._compare_objects(*objects[0], *objects[1])

    def _disagree(self, side: int, constraint: Constraint) -> None:
        self.disagreements.append(Disagreement(side, constraint))

    def _compare_strings(self, first: Regular, second: Regular) -> None:
        if first is second or are_words_alike(first, second):
            return
        for side, one, other in _both_ways(first, second):
            string = missing_string(one, other, self.values.limits.witness_search)
            if string is not None:
                self._disagree(side, {"const": string})
        if self.bare:  # listed strings are spelled otherwise than those of a pattern
            self.unclear = {0, 1}

    def _has_one_each(self, kind: str, both: tuple[tuple[Any, ...], tuple[Any, ...]]) -> bool:
        """Whether both sides have one alternative. Sides with several are only compared with sides
        that have none."""
        if len(both[0]) == len(both[1]) == 1:
            return True
        for side, mine, others in _both_ways(*both):
            if mine:
                self._disagree(side, {"type": kind})
                if others:
                    self.unclear.add(side)
        return False

    def _compare_arrays(self, first: ArrayShape, second: ArrayShape) -> None:
        self._compare_counts("Items", (first.least, second.least), (first.most, second.most))
        if first.repeats or second.repeats or not _contain_alike(first, second):
            self._leave_open("array", [{}, {"minItems": 1}, {"minItems": 2}])
        if first.unique != second.unique:
            self._disagree(int(first.unique), {"type": "array", "not": {"uniqueItems": True}})
        for index in range(max(len(first.prefix), len(second.prefix)) + 1):
            if all(each.most is None or each.most > index for each in (first, second)):
                self.parts.append(PartPair((first.item(index), second.item(index)), index))

    def _compare_objects(self, first: ObjectShape, second: ObjectShape) -> None:
        leasts = max(first.least, len(first.required)), max(second.least, len(second.required))
        self._compare_counts("Properties", leasts, (first.most, second.most))
        if not _require_alike(first, second):
            names = dict.fromkeys((*first.names, *second.names))
            self._leave_open("object", [{}, *({"required": [name]} for name in names)])
        for side, one, other in _both_ways(first, second):
            if self.values.order == "schema" and not _keeps_order(one, other):
                self.unclear.add(side)
        listed = dict.fromkeys((*first.names, *second.names))
        for name in listed:
            self.parts.append(PartPair((_member(first, name), _member(second, name)), name))
        for side, one, other in _both_ways(first, second):
            for name in _required(other) - _required(one):
                self._disagree(side, {"type": "object", "properties": {name: False}})
        count = len(first.languages)
        for each in self.values.names.of((*first.languages, *second.languages)):
            unlisted = complement(words(tuple(listed))) if listed else ANYTHING
            name = self.values.shortest_string(intersection(each.language, unlisted))
            if name is not None:
                pair = first.others(each.mask[:count]), second.others(each.mask[count:])
                self.parts.append(PartPair(pair, name))

    def _leave_open(self, kind: str, constraints: list[Constraint]) -> None:
        """Try values in which a disagreement is likely to show."""
        self.unclear = {0, 1}
        for constraint in constraints:
            for side in (0, 1):
                self._disagree(side, {"type": kind, **constraint})

    def _compare_counts(
        self, what: str, leasts: tuple[int, int], mosts: tuple[int | None, int | None]
    ) -> None:
        kind = "array" if what == "Items" else "object"
        for side, least, other in _both_ways(*leasts):
            if least < other:
                self._disagree(side, {"type": kind, f"max{what}": other - 1})
        for side, most, other in _both_ways(*mosts):
            if other is not None and (most is None or most > other):
                self._disagree(side, {"type": kind, f"min{what}": other + 1})


def _both_ways(first: Any, second: Any) -> Iterable[tuple[int, Any, Any]]:
    return (0, first, second), (1, second, first)


def _required(shape: ObjectShape) -> set[str]:
    return {shape.names[at] for at in shape.required}


def _member(shape: ObjectShape, name: str) -> Conjunction:
    """What the value of a member must satisfy."""
    if name in shape.names:
        return shape.values[shape.names.index(name)]
    return shape.others(tuple(contains(each, name) for each in shape.languages))


def _keeps_order(inner: ObjectShape, outer: ObjectShape) -> bool:
    """Whether the members of all objects of `inner` come in an order that `outer` allows: first the
    names that `outer` declares, in its order, then others in any order."""
    declared = outer.names[: outer.declared]
    mine = [
        name
        for name in inner.names[: inner.declared]
        if not (is_never(_member(inner, name)) or is_never(_member(outer, name)))
    ]
    common = [name for name in declared if name in mine]
    return mine[: len(common)] == common and all(
        name in mine or is_never(_member(inner, name)) or is_never(_member(outer, name))
        for name in declared
    )


def is_never(conjunction: Conjunction) -> bool:
    """Whether a conjunction contains the schema `false`."""
    return any(schema.never for schema in conjunction)


def are_written_alike(first: Iterable[Schema], second: Iterable[Schema]) -> bool:
    """Whether both are the same schemas, or are written alike and depend on nothing else."""
    first, second = frozenset(first), frozenset(second)
    if first == second:
        return True
    mine, others = ({_key(schema) for schema in each} for each in (first, second))
    return mine == others and None not in mine


def _key(schema: Schema) -> bytes | None:
    if schema.never:
        return b"false"
    return schema.key if schema.assertions else b"true"


def _contain_alike(first: ArrayShape, second: ArrayShape) -> bool:
    """Whether both ask for equal numbers of equal items somewhere."""
    return len(first.contains) == len(second.contains) and all(
        (one.least, one.most, one.start) == (other.least, other.most, other.start)
        and are_written_alike([one.schema], [other.schema])
        for one, other in zip(first.contains, second.contains, strict=True)
    )


def _require_alike(first: ObjectShape, second: ObjectShape) -> bool:
    """Whether both have equal requirements that some member has to meet."""
    if not (first.some or second.some):
        return True
    if first.names != second.names or first.languages != second.languages:
        return False  # by which the requirements name members
    return len(first.some) == len(second.some) and all(
        map(_is_requirement_alike, first.some, second.some)
    )


def _is_requirement_alike(first: MemberRequirement, second: MemberRequirement) -> bool:
    return (
        first.absent == second.absent
        and first.names.keys() == second.names.keys()
        and all(are_written_alike(one, second.names[at]) for at, one in first.names.items())
        and [at for at, _ in first.languages] == [at for at, _ in second.languages]
        and all(
            are_written_alike([one], [other])
            for (_, one), (_, other) in zip(first.languages, second.languages, strict=True)
        )
    )
