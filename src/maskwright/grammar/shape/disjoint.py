"""Cheap tests on one or two schemas: do they exclude each other, is a type in one of them free?

Branches of real schemas differ in a type, a constant or an enumeration more often than not. That
they are disjoint is settled here, from an *outline* of each: the types and scalars that an instance
can have at all. An outline is an upper bound, so a test that says yes is right, and one that says
no has not decided.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import reduce
from typing import Final
from weakref import WeakKeyDictionary

from msgspec.structs import replace

from maskwright.garbage import hide
from maskwright.grammar.number.spellings import decimal
from maskwright.grammar.regular.enumerate import few
from maskwright.grammar.schema.tree import (
    ABOUT,
    TYPES,
    AllOf,
    AnyOf,
    Assertion,
    Json,
    Not,
    NotValues,
    OneOf,
    Properties,
    Required,
    Schema,
    StringIn,
    TypeIs,
    Values,
)
from maskwright.immutable import Acyclic

Scalar = tuple[str, object]
"""A type and a value, so that `True` is not 1."""


class Outline(Acyclic):
    """What instances of a schema can be at most. "integer" is not among the types: it is "number"
    here."""

    types: frozenset[str]
    scalars: frozenset[Scalar] | None = None
    """The scalars that an instance can be; None where they are not enumerated."""
    excluded: frozenset[Scalar] = frozenset()
    """Scalars that no instance is."""
    strings: frozenset[str] | None = None
    """The strings that an instance can be; None where they are not enumerated."""

    def joint(self, other: Outline) -> Outline:
        """The outline of the schema in which both hold."""
        scalars, strings = self.scalars, self.strings
        if other.scalars is not None:
            scalars = other.scalars if scalars is None else scalars & other.scalars
        if other.strings is not None:
            strings = other.strings if strings is None else strings & other.strings
        types, excluded = self.types & other.types, self.excluded | other.excluded
        for each in (types, scalars, excluded, strings):
            hide(each)
        return Outline(types, scalars, excluded, strings)

    @property
    def is_empty(self) -> bool:
        """Whether no value at all fits the outline."""
        if self.types & _CONTAINERS:
            return False
        listed = self.listed()
        return listed is not None and next(listed, None) is None

    def scalars_only(self) -> frozenset[Scalar] | None:
        """All values that fit the outline, if they are scalars that are enumerated; else None."""
        listed = None if self.types & _CONTAINERS else self.listed()
        return None if listed is None else frozenset(listed)

    def listed(self) -> Iterator[Scalar] | None:
        """The scalars that fit the outline; None where they are not enumerated."""
        types, scalars = self.types - _CONTAINERS, self.scalars
        if not types:
            return iter(())
        if scalars is None:
            if self.strings is None or types != _STRING:
                return None
            scalars = frozenset(("string", each) for each in self.strings)
        return filter(self._fits, scalars)

    def _fits(self, scalar: Scalar) -> bool:
        kind, value = scalar
        is_listed = self.strings is None or kind != "string" or value in self.strings
        return is_listed and kind in self.types and scalar not in self.excluded


_CONTAINERS: Final = frozenset(("array", "object"))
_STRING: Final = frozenset(("string",))
_LITERALS: Final[frozenset[Scalar]] = frozenset(
    (("null", None), ("boolean", True), ("boolean", False))
)
_MOST_STRINGS: Final = 16
"""Up to how many strings of a pattern are enumerated."""
_MOST_REFERENCES: Final = 16
"""How many references that lead to nothing but references are followed."""
_EVERYTHING: Final = Outline(TYPES - {"integer"})
_NOTHING: Final = Outline(frozenset(), frozenset())


def are_disjoint(schemas: Iterable[Schema], other: Schema) -> bool:
    """Whether surely no value satisfies `other` and all of `schemas`."""
    joint = outline(other)
    for schema in schemas:
        if schema.negation is other:
            return True
        joint = joint.joint(outline(schema))
    return joint.is_empty


def joint_outline(schemas: Iterable[Schema]) -> Outline:
    """The outline of the values that satisfy all of `schemas`."""
    return reduce(Outline.joint, map(outline, schemas), _EVERYTHING)


def have_disjoint_members(left: Schema, right: Schema) -> bool:
    """Whether surely no object satisfies both: they disagree about a member that one requires."""
    ours, theirs = members(left), members(right)
    return any(
        not (ours.may_have(name) and theirs.may_have(name))
        or (
            name in ours.named
            and name in theirs.named
            and _are_apart(ours.named[name], theirs.named[name])
        )
        for name in (*ours.required, *theirs.required)
    )


def _are_apart(left: tuple[Schema, ...], right: tuple[Schema, ...]) -> bool:
    return are_disjoint((*left, *right[1:]), right[0])


class Members(Acyclic):
    """What a schema surely demands of the members of objects."""

    named: Mapping[str, tuple[Schema, ...]]
    """The schemas that hold for the value of each property that is listed."""
    required: tuple[str, ...]
    closed: frozenset[str] | None
    """The only names that an object can have; None where they are not listed."""

    def may_have(self, name: str) -> bool:
        """Whether an object may have a member of this name."""
        if self.closed is not None and name not in self.closed:
            return False
        return not any(schema.never for schema in self.named.get(name, ()))

    def scalars_of(self, name: str) -> frozenset[Scalar] | None:
        """The values of a member, if all of them are scalars that are enumerated; else None."""
        return joint_outline(self.named.get(name, ())).scalars_only()


_MEMBERS: Final[WeakKeyDictionary[Schema, Members]] = WeakKeyDictionary()
"""The members of each schema that has been asked for, as long as the schema is in use."""


def members(schema: Schema) -> Members:
    """What a schema that has been parsed demands of members itself, and by the schemas that it
    refers to or combines by `allOf`."""
    known = _MEMBERS.get(schema)
    if known is not None:
        return known
    named: dict[str, tuple[Schema, ...]] = {}
    required: dict[str, None] = {}
    closed: frozenset[str] | None = None
    waiting = {schema: None}
    for _ in range(_MOST_REFERENCES):
        part = next(iter(waiting), None)
        if part is None:
            break
        del waiting[part]
        for assertion in part.assertions:
            match assertion:
                case Properties(named=names, patterns=patterns, additional=additional):
                    for name, value in names.items():
                        named[name] = (*named.get(name, ()), value)
                    if additional.never and not patterns:
                        closed = frozenset(names) if closed is None else closed & names.keys()
                case Required(names=names):
                    required |= dict.fromkeys(names)
                case AllOf(parts=parts):
                    waiting |= dict.fromkeys(parts)
                case _:
                    pass
    found = _MEMBERS[schema] = Members(named, tuple(required), closed)
    return found


def accepts_all(schema: Schema, kind: str) -> bool:
    """Whether surely every value of a type satisfies `schema`; `kind` "number" stands for integers
    too."""
    seen: set[Schema] = set()
    waiting = [schema]
    while waiting and len(seen) < _MOST_REFERENCES:
        part = waiting.pop()
        if part in seen or part.never:
            return False  # what refers to itself without end has no values
        seen.add(part)
        for assertion in part.assertions:
            match assertion:
                case TypeIs(types=types):
                    if kind not in types:
                        return False
                case AllOf(parts=parts):
                    waiting += parts
                case _:
                    about = ABOUT.get(type(assertion))
                    if about is None or about == kind:
                        return False
    return not waiting


def outline(schema: Schema) -> Outline:
    """The outline of a schema that has been parsed, made once."""
    known = schema.outline
    if known is not None:
        assert isinstance(known, Outline)
        return known
    joint = _NOTHING if schema.never else _EVERYTHING
    schema.outline = joint  # for a schema that refers to itself
    for assertion in schema.assertions:
        joint = joint.joint(_outline_of(assertion))
    schema.outline = joint
    return joint


def _outline_of(assertion: Assertion) -> Outline:
    match assertion:
        case TypeIs(types=types):
            names = _without_integer(types)
            are_literals = names - _CONTAINERS <= {"null", "boolean"}
            return Outline(names, _LITERALS if are_literals else None)
        case Values(values=values):
            scalars = _scalars(values)
            containers = {_type_name(v) for v in values} & _CONTAINERS
            return Outline(frozenset(kind for kind, _ in scalars) | containers, scalars)
        case NotValues(values=values):
            return Outline(_EVERYTHING.types, None, _scalars(values))
        case StringIn(language=language):
            strings = few(language, _MOST_STRINGS)
            return replace(_EVERYTHING, strings=None if strings is None else frozenset(strings))
        case AllOf(parts=parts):
            return joint_outline(parts)
        case AnyOf(options=options) | OneOf(options=options):
            return _union([outline(option) for option in options])
        case Not(schema=Schema(assertions=(TypeIs(types=types),))) if "integer" not in types:
            return Outline(_EVERYTHING.types - types)
        case Not(schema=Schema(assertions=(Values(values=values),))):
            return Outline(_EVERYTHING.types, None, _scalars(values))
        case _:
            return _EVERYTHING


def _union(options: list[Outline]) -> Outline:
    types = frozenset[str]().union(*(option.types for option in options))
    listed = [option.listed() for option in options]
    known = [scalars for scalars in listed if scalars is not None]
    return Outline(types, frozenset[Scalar]().union(*known) if len(known) == len(listed) else None)


def _scalars(values: Iterable[Json]) -> frozenset[Scalar]:
    return frozenset(_scalar(value) for value in values if not isinstance(value, list | dict))


def _scalar(value: Json) -> Scalar:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "number", decimal(value)  # 1e23 and 10**23 are equal
    return _type_name(value), value


def _without_integer(types: frozenset[str]) -> frozenset[str]:
    return types - {"integer"} | {"number"} if "integer" in types else types


def _type_name(value: Json) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case str():
            return "string"
        case list():
            return "array"
        case dict():
            return "object"
        case _:
            return "number"
