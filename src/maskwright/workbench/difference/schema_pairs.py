"""Two JSON Schemas compared part by part, from their roots downwards.

Schemas allow equal texts if their normal forms agree and the parts of these do in turn. Pairs of
parts that have been begun may be taken to agree, since texts are finite (coinduction). Where two
parts disagree, a *constraint* on the whole value is named, a JSON Schema: some value of one side
satisfies it, and no value of the other side is expected to; whether that is so is for matchers to
judge.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, Final, TypeAlias

from maskwright.automaton.satisfy.schema_values import SchemaValues
from maskwright.automaton.satisfy.solver import Solver
from maskwright.automaton.value.whitespace import WHITESPACE
from maskwright.automaton.value.witness_text import rendered
from maskwright.errors import InputError, LimitError
from maskwright.grammar.regular import terms as r
from maskwright.grammar.regular.derivative import contains, is_live
from maskwright.grammar.regular.shortest import shortest
from maskwright.grammar.regular.terms import ANYTHING, Regular
from maskwright.grammar.schema.parse import ParseOptions, parse_schema
from maskwright.grammar.schema.tree import Schema
from maskwright.grammar.shape.shape import (
    ArrayShape,
    Conjunction,
    Contained,
    MemberRequirement,
    ObjectShape,
    Shape,
    conjunction_of,
)
from maskwright.immutable import Immutable
from maskwright.limits import DEFAULT_LIMITS, MEASURED, spend
from maskwright.mask.compile.constructs import SchemaConstructs


def missing_string(first: Regular, second: Regular, limit: int) -> str | None:
    """A string of `first` that `second` lacks; None if there is none. `limit`: see
    `derivative.is_live`. Raises `LimitError`."""
    for language in _missing(first, second):
        if language is not r.EMPTY and is_live(language, limit):
            return shortest(language, limit)
    return None


def are_words_alike(first: Regular, second: Regular) -> bool:
    """Whether both languages are lists of equal words, so that JSON spells them alike."""
    return (
        isinstance(first, r.Words)
        and isinstance(second, r.Words)
        and _list_of(first) == _list_of(second)
    )


def _list_of(words: r.Words) -> tuple[object, ...]:
    table = words.table
    return table.strings[words.low : words.high], words.depth, table.bare


def _missing(first: Regular, second: Regular) -> Iterator[Regular]:
    """Languages that are together what `first` has and `second` lacks. Lengths, and parts that are
    in both, aren't complemented, which would multiply them with each other."""
    if first is second or are_words_alike(first, second):
        return
    core, least, most = r.bounds_of(first) or (first, 0, None)
    other, low, high = r.bounds_of(second) or (second, 0, None)
    if least < low:
        yield r.length_bounded(core, least, low - 1 if most is None else min(most, low - 1))
    if high is not None and (most is None or most > high):
        yield r.length_bounded(core, max(least, high + 1), most)
    known = _parts(core)
    for part in _parts(other) - known:
        yield r.intersection(first, r.complement(part))


def _parts(term: Regular) -> set[Regular]:
    """The languages whose intersection a language is."""
    parts = set(term.parts) if isinstance(term, r.Intersection) else {term}
    return parts - {ANYTHING}


Constraint: TypeAlias = dict[str, Any]


Disagreement: TypeAlias = tuple[int, Constraint]
"""Texts of this side, 0 or 1, that satisfy the constraint are not expected of the other."""

PartPair: TypeAlias = tuple[tuple[Conjunction, Conjunction], str | int]
"""What both sides have at one place within a value: the name of a member, or the index of an
item."""


def _around(constraint: Constraint, place: str | int) -> Constraint:
    """The constraint on a value that has the part at a place satisfy `constraint`."""
    if isinstance(place, str):
        members = {"properties": {place: constraint}, "required": [place]}
        return {"type": "object", **members}
    items = [*[True] * place, constraint]
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
    parts: list[PartPair] = field(default_factory=list[PartPair])
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
        self.disagreements.append((side, constraint))

    def _compare_strings(self, first: Regular, second: Regular) -> None:
        if first is second or are_words_alike(first, second):
            return
        for side, one, other in _both_ways(first, second):
            string = missing_string(one, other, self.values.limits.witness_search)
            if string is not None:
                self._disagree(side, {"const": string})
        if self.bare:  # listed strings are spelled otherwise than strings of a pattern
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
        for side, one, other in _both_ways(first, second):
            if not _contains_all(one, other):
                self._leave_open(side, "array", [{}, {"minItems": 1}, {"minItems": 2}])
            if other.unique and not one.unique:
                self._disagree(side, {"type": "array", "not": {"uniqueItems": True}})
            if other.repeats and not one.repeats:
                self._disagree(side, {"type": "array", "uniqueItems": True})
        for index in range(max(len(first.prefix), len(second.prefix)) + 1):
            if all(each.most is None or each.most > index for each in (first, second)):
                self.parts.append(((first.item(index), second.item(index)), index))

    def _compare_objects(self, first: ObjectShape, second: ObjectShape) -> None:
        leasts = max(first.least, len(first.required)), max(second.least, len(second.required))
        self._compare_counts("Properties", leasts, (first.most, second.most))
        listed = dict.fromkeys((*first.names, *second.names))
        for side, one, other in _both_ways(first, second):
            unmet = _unmet(one, other)
            if unmet:
                likely = [{}, *({"required": [name]} for name in listed)]
                self._leave_open(side, "object", [*map(_failing, unmet), *likely])
            if self.values.order == "schema" and not _keeps_order(one, other):
                self.unclear.add(side)
        for name in listed:
            self.parts.append(((_member(first, name), _member(second, name)), name))
        for side, one, other in _both_ways(first, second):
            for name in _required(other) - _required(one):
                self._disagree(side, {"type": "object", "properties": {name: False}})
        count = len(first.languages)
        for each in self.values.names.of((*first.languages, *second.languages)):
            unlisted = r.complement(r.words(tuple(listed))) if listed else ANYTHING
            name = self.values.shortest_string(r.intersection(each.language, unlisted))
            if name is not None:
                pair = first.others(each.mask[:count]), second.others(each.mask[count:])
                self.parts.append((pair, name))

    def _leave_open(self, side: int, kind: str, constraints: list[Constraint]) -> None:
        """Try values of a side in which a disagreement is likely to show."""
        self.unclear.add(side)
        for constraint in constraints:
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


def _contains_all(one: ArrayShape, other: ArrayShape) -> bool:
    """Whether all that `other` says of items somewhere follows from one thing each that `one` says
    of them. What else `one` says only takes arrays away from it."""
    return all(any(_is_implied(each, mine) for mine in one.contains) for each in other.contains)


def _is_implied(contained: Contained, mine: Contained) -> bool:
    """Whether `contained` allows all numbers of items that `mine` allows."""
    return (
        mine.least >= contained.least
        and (contained.most is None or (mine.most is not None and mine.most <= contained.most))
        and mine.start == contained.start
        and are_written_alike([mine.schema], [contained.schema])
    )


class _Requirement(Immutable):
    """A `MemberRequirement` whose names and languages don't depend on what else a shape lists."""

    names: dict[str, tuple[Schema, ...]]
    languages: list[tuple[Regular, Schema]]
    absent: set[str]

    @classmethod
    def of(cls, found: MemberRequirement, shape: ObjectShape) -> _Requirement:
        return cls(
            {shape.names[at]: schemas for at, schemas in found.names.items()},
            [(shape.languages[at], schema) for at, schema in found.languages],
            {name for at, name in enumerate(shape.names) if found.absent >> at & 1},
        )

    def is_alike(self, other: _Requirement) -> bool:
        """Whether both are written alike, and so met by equal objects. A name that only one of the
        shapes lists would be among the names of one alone if it were in some language."""
        mine, others = self.languages, other.languages
        return (
            self.absent == other.absent
            and self.names.keys() == other.names.keys()
            and all(are_written_alike(one, other.names[name]) for name, one in self.names.items())
            and [language for language, _ in mine] == [language for language, _ in others]
            and all(
                are_written_alike([one[1]], [another[1]])
                for one, another in zip(mine, others, strict=True)
            )
        )


def _unmet(one: ObjectShape, other: ObjectShape) -> list[_Requirement]:
    """The requirements of `other`, each to be met by some member, that `one` has no equal of. Such
    a requirement of `one` alone only takes objects away from it."""
    mine = [_Requirement.of(each, one) for each in one.some]
    others = [_Requirement.of(each, other) for each in other.some]
    return [each for each in others if not any(each.is_alike(known) for known in mine)]


def _failing(requirement: _Requirement) -> Constraint:
    """What objects satisfy that don't meet a requirement, if no name is in its languages."""
    return {
        "required": sorted(requirement.absent),
        "properties": dict.fromkeys(requirement.names, False),
    }


class SchemaPairs:
    """The disagreements of two schemas whose instances are written in one way."""

    def __init__(self, first: SchemaConstructs, second: SchemaConstructs) -> None:
        self._roots: Final = first.root, second.root
        self._solver = Solver(first.property_order, DEFAULT_LIMITS)
        self._whitespace = WHITESPACE[first.whitespace]
        self._bare = first.escapes == "needed"
        self._open: set[int] = set()
        """Sides that may have texts of their own."""

    def texts(self) -> Iterator[tuple[int, bytes]]:
        """For each disagreement that has one, the shortest text of a side, 0 or 1, that the other
        side is expected to lack."""
        for side, constraint in self._constraints():
            self._open.add(side)
            try:
                wanted = parse_schema(constraint, ParseOptions()).root
                found = self._solver.shortest.of(frozenset([self._roots[side], wanted]))
            except InputError as error:
                _raise_if_over(error)
                continue
            if found is not None:
                yield side, rendered(found, self._whitespace, 0).encode()

    def has_none(self, side: int) -> bool:
        """Whether no text is a side's own, after `texts` has ended."""
        return side not in self._open

    def _constraints(self) -> Iterator[tuple[int, Constraint]]:
        roots = conjunction_of(self._roots[:1]), conjunction_of(self._roots[1:])
        waiting = deque([(roots, tuple[str | int, ...]())])
        seen = {roots}
        while waiting:
            spend()
            pair, places = waiting.popleft()
            if are_written_alike(*pair):
                continue
            try:
                first, second = map(self._solver.values.shapes.normal_form, pair)
                found = ShapePair((first, second), self._solver.values, self._bare)
            except InputError as error:
                _raise_if_over(error)
                self._open = {0, 1}
                continue
            self._open |= found.unclear
            for side, constraint in found.disagreements:
                yield side, reduce(_around, reversed(places), constraint)
            for inner, place in found.parts:
                if inner not in seen:
                    seen.add(inner)
                    waiting.append((inner, (*places, place)))


def _raise_if_over(error: InputError) -> None:
    """Raise an error again that ends the comparison: its time or memory is used up."""
    if isinstance(error, LimitError) and error.limit in MEASURED:
        raise error
