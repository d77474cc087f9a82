"""What can be seen of a schema at a glance: its types and enumerated scalars.

Branches of real schemas differ in a type, a constant or an enumeration more often than not, and
that they exclude each other is settled here, without looking for witnesses. An outline promises
nothing but this: what it leaves out, no value of the schema is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple
from weakref import WeakKeyDictionary

from maskwright.grammar.regular.terms import is_text
from maskwright.grammar.schema.tree import (
    TYPES,
    AllOf,
    AnyOf,
    Assertion,
    DigitsOnly,
    Items,
    Json,
    Not,
    NotValues,
    OneOf,
    Properties,
    Required,
    Schema,
    TypeIs,
    UniqueItems,
    Values,
)

Scalar = tuple[str, object]
"""A type and a value, so that `True` is not 1."""


class Outline(NamedTuple):
    """Types but "integer"; `scalars` are all that may be, if they are enumerated; `excluded` may
    not be."""

    types: frozenset[str]
    scalars: frozenset[Scalar] | None = None
    excluded: frozenset[Scalar] = frozenset()

    def joint(self, other: Outline) -> Outline:
        """The outline of what satisfies both."""
        scalars = self.scalars
        if other.scalars is not None:
            scalars = other.scalars if scalars is None else scalars & other.scalars
        return Outline(self.types & other.types, scalars, self.excluded | other.excluded)

    @property
    def is_empty(self) -> bool:
        """Whether nothing at all is left."""
        if self.types & _CONTAINERS:
            return False
        if self.scalars is None:
            return not self.types
        return not any(s[0] in self.types and s not in self.excluded for s in self.scalars)


_CONTAINERS: Final = frozenset(("array", "object"))
_LITERALS: Final[frozenset[Scalar]] = frozenset(
    (("null", None), ("boolean", True), ("boolean", False))
)
_MOST_STEPS: Final = 16
"""References that lead to nothing but references."""
_EVERYTHING: Final = Outline(TYPES - {"integer"})
_NOTHING: Final = Outline(frozenset(), frozenset())
_OUTLINES: Final[WeakKeyDictionary[Schema, Outline]] = WeakKeyDictionary()


def apart(schemas: Iterable[Schema], other: Schema) -> bool:
    """Whether it shows that no value satisfies `other` and all of `schemas`."""
    joint = outline(other)
    for schema in schemas:
        if schema.negation is other:
            return True
        joint = joint.joint(outline(schema))
    return joint.is_empty


def members_apart(left: Schema, right: Schema) -> bool:
    """Whether it shows that no object satisfies both: by a member that one of them requires."""
    ours, theirs = _members(left), _members(right)
    return any(
        name in ours.named
        and name in theirs.named
        and apart((ours.named[name],), theirs.named[name])
        for name in (*ours.required, *theirs.required)
    )


class _Members(NamedTuple):
    named: Mapping[str, Schema]
    required: tuple[str, ...]


def _members(schema: Schema) -> _Members:
    """The properties that a schema lists and requires itself, or by a reference alone."""
    named: Mapping[str, Schema] = {}
    required: tuple[str, ...] = ()
    for _ in range(_MOST_STEPS):
        match schema.assertions:
            case (AllOf(parts=(part,)),):
                schema = part
            case assertions:
                for assertion in assertions:
                    if isinstance(assertion, Properties):
                        named = assertion.named
                    elif isinstance(assertion, Required):
                        required = assertion.names
                break
    return _Members(named, required)


def is_easy(schema: Schema) -> bool:
    """Whether it shows that some value satisfies `schema`: an empty array or object, any string or
    number, or one of an enumeration."""
    for _ in range(_MOST_STEPS):
        match schema.assertions:
            case (AllOf(parts=(part,)),) if not schema.never:
                schema = part
            case (Values(values=values),):
                return any(map(_is_written, values))
            case assertions:
                typed = sum(isinstance(each, TypeIs) for each in assertions)
                return not schema.never and typed < 2 and all(map(_is_met, assertions))
    return False


def _is_written(value: Json) -> bool:
    """Whether it shows that a value has a text."""
    return is_text(value) if isinstance(value, str) else not isinstance(value, list | dict)


def _is_met(assertion: Assertion) -> bool:
    """Whether each type has a value that satisfies an assertion, the same one for all of these."""
    match assertion:
        case TypeIs(types=types):
            return bool(types)
        case Properties() | Items() | UniqueItems() | DigitsOnly(negative=False):
            return True
        case _:
            return False


def outline(schema: Schema) -> Outline:
    """The outline of one schema, made once it has been parsed."""
    known = _OUTLINES.get(schema)
    if known is not None:
        return known
    _OUTLINES[schema] = found = _NOTHING if schema.never else _EVERYTHING  # if it refers to itself
    for assertion in schema.assertions:
        found = found.joint(_of(assertion))
    _OUTLINES[schema] = found
    return found


def _of(assertion: Assertion) -> Outline:
    match assertion:
        case TypeIs(types=types):
            few = _plain(types) - _CONTAINERS <= {"null", "boolean"}
            return Outline(_plain(types), _LITERALS if few else None)
        case Values(values=values):
            scalars = _scalars(values)
            containers = {_kind(v) for v in values} & _CONTAINERS
            return Outline(frozenset(kind for kind, _ in scalars) | containers, scalars)
        case NotValues(values=values):
            return Outline(_EVERYTHING.types, None, _scalars(values))
        case AllOf(parts=parts):
            found = _EVERYTHING
            for part in parts:
                found = found.joint(outline(part))
            return found
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
    if any(option.scalars is None and option.types - _CONTAINERS for option in options):
        return Outline(types)
    found = (
        {s for s in option.scalars if s[0] in option.types and s not in option.excluded}
        for option in options
        if option.scalars is not None
    )
    return Outline(types, frozenset[Scalar]().union(*found))


def _scalars(values: Iterable[Json]) -> frozenset[Scalar]:
    return frozenset((_kind(v), v) for v in values if not isinstance(v, list | dict))


def _plain(types: frozenset[str]) -> frozenset[str]:
    return types - {"integer"} | {"number"} if "integer" in types else types


def _kind(value: Json) -> str:
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
