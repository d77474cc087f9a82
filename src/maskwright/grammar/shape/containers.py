"""The arrays and the objects that satisfy assertions without unions, as one `ArrayShape` or one
`ObjectShape`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Final

from msgspec import Struct

from maskwright.errors import Construct, LimitError
from maskwright.garbage import hide
from maskwright.grammar.regular.derivative import contains
from maskwright.grammar.regular.terms import ANYTHING, Regular, complement, is_text
from maskwright.grammar.schema.tree import (
    Assertion,
    Contains,
    ItemCount,
    Items,
    NotUniqueItems,
    Properties,
    PropertyCount,
    PropertyNames,
    Required,
    Schema,
    SomeMember,
    UniqueItems,
)
from maskwright.grammar.shape.closed import closed, is_closed
from maskwright.grammar.shape.shape import (
    NEVER,
    ArrayShape,
    Conjunction,
    Contained,
    MemberRequirement,
    ObjectShape,
    conjunction_of,
    joint_count,
)
from maskwright.immutable import Acyclic

_MOST_COUNTED: Final = 6
"""The most `contains` of one array: each may or may not count an item, which doubles the ways to
read it."""


def array_shape(branch: Iterable[Assertion]) -> ArrayShape | None:
    """The arrays that satisfy all assertions; assertions about other types are ignored.

    None if the assertions about counts and about repeated items exclude each other. Raises
    `LimitError` for too many `contains`."""
    item_schemas: list[Items] = []
    counts: list[ItemCount] = []
    contains: list[Contained] = []
    unique = repeats = False
    for assertion in branch:
        match assertion:
            case Items():
                item_schemas.append(assertion)
            case ItemCount():
                counts.append(assertion)
            case Contains(schema=schema, least=low, most=high, start=start):
                if high is not None and high < low:
                    return None
                if low > 0 or high is not None:
                    contains.append(Contained(schema, low, high, start))
            case UniqueItems():
                unique = True
            case NotUniqueItems():
                repeats = True
            case _:
                pass
    least, most = joint_count(counts)
    if repeats:
        least = max(least, 2)  # two items that are equal
    if (unique and repeats) or (most is not None and most < least):
        return None
    if len(contains) > _MOST_COUNTED:
        raise LimitError(
            f"an array has to satisfy more than {_MOST_COUNTED} 'contains', and each doubles"
            " what an item may be",
            limit="alternatives",
            value=_MOST_COUNTED,
            construct=Construct.schema(contains[-1].schema.pointer),
            way_out="use fewer",
        )
    size = max((len(items.prefix) for items in item_schemas), default=0)
    prefix = tuple(
        conjunction_of(i.prefix[at] if at < len(i.prefix) else i.rest for i in item_schemas)
        for at in range(size)
    )
    rest = conjunction_of(items.rest for items in item_schemas)
    return ArrayShape(prefix, rest, least, most, tuple(contains), unique, repeats)


class _MemberAssertions(Struct):
    """What the assertions of one branch say of the members of an object."""

    properties: list[Properties] = []
    required: dict[str, None] = {}
    some: list[SomeMember] = []
    optional: dict[str, list[Schema]] = {}
    """What members of these names satisfy, if there are any, although no keyword declares them."""
    allowed_names: list[Regular] = []
    """Languages; every name has to be in each."""


def object_shape(
    branch: Iterable[Assertion],
    strings: Callable[[Schema], Regular],
    order: Callable[[], Mapping[str, int]],
) -> ObjectShape | None:
    """The objects that satisfy all assertions; assertions about other types are ignored.

    None if the counts exclude each other or the required names. `strings`: the strings that satisfy
    a schema. `order`: the place of each declared name, asked for only where several assertions
    declare some.
    """
    members = _MemberAssertions()
    counts: list[PropertyCount] = []
    for assertion in branch:
        match assertion:
            case Properties():
                members.properties.append(assertion)
            case Required(names=names):
                members.required.update(dict.fromkeys(names))
            case SomeMember(named=named, patterns=(), absent=(name,)) if [*named] == [name]:
                # Each requirement doubles the ways to read members; this one has one way.
                members.optional.setdefault(name, []).append(named[name])
            case SomeMember():
                members.some.append(assertion)
            case PropertyNames(schema=schema, negative=negative):
                names = strings(schema)
                if negative:
                    others = ((complement(names), Schema(schema.pointer)),)
                    members.some.append(SomeMember({}, others))
                elif names is not ANYTHING:
                    members.allowed_names.append(names)
            case PropertyCount():
                counts.append(assertion)
            case _:
                pass
    least, most = joint_count(counts)
    if most is not None and most < max(least, len(members.required)):
        return None
    naming = [each for each in members.properties if each.named]
    is_lone = len(naming) == 1 and naming[0].declares
    places: Mapping[str, int] = {} if is_lone or not naming else order()
    found = (name for each in naming for name in each.named if each.declares or name in places)
    declared = sorted(dict.fromkeys(found), key=lambda name: places.get(name, len(places)))
    shape = _shape(members, declared, least, most)
    return (
        closed(shape, members.properties, members.some) if is_closed(members.properties) else shape
    )


def _shape(
    members: _MemberAssertions, declared: list[str], least: int, most: int | None
) -> ObjectShape:
    named = (name for each in members.properties for name in each.named)
    wanted = (name for each in members.some for name in (*each.named, *each.absent))
    names = tuple(dict.fromkeys((*declared, *members.required, *named, *wanted, *members.optional)))
    patterns = (each.patterns for each in (*members.properties, *members.some))
    languages = tuple(
        dict.fromkeys([language for each in patterns for language, _ in each])
        | dict.fromkeys(members.allowed_names)
    )
    places = {language: at for at, language in enumerate(languages)}

    return ObjectShape(
        names=names,
        declared=len(declared),
        values=hide(tuple(_value(members, name) for name in names)),
        required=hide(frozenset(at for at, name in enumerate(names) if name in members.required)),
        languages=hide(languages),
        others=_OthersByLanguage(
            hide(tuple(members.properties)), hide(tuple(members.allowed_names)), places
        ),
        some=tuple(_requirement(each, names, places) for each in members.some),
        least=least,
        most=most,
    )


class _OthersByLanguage(Acyclic):
    """What the value of a member must satisfy whose name a shape doesn't list."""

    properties: tuple[Properties, ...]
    allowed_names: tuple[Regular, ...]
    places: dict[Regular, int]
    """By language: its place among those of the shape."""

    def __call__(self, mask: tuple[bool, ...]) -> Conjunction:
        """`mask`: by language of the shape, whether the name is in it."""
        if not all(mask[self.places[each]] for each in self.allowed_names):
            return NEVER
        schemas: list[Schema] = []
        for each in self.properties:
            matching = [schema for language, schema in each.patterns if mask[self.places[language]]]
            schemas += matching or [each.additional]
        return conjunction_of(schemas)


def _value(members: _MemberAssertions, name: str) -> Conjunction:
    """What the value of a member must satisfy that has this name."""
    if not is_text(name) or not all(contains(each, name) for each in members.allowed_names):
        return NEVER
    schemas = members.optional.get(name, []).copy()
    for each in members.properties:
        if not each.patterns:  # the most common case
            schemas.append(each.named.get(name, each.additional))
            continue
        matching = [schema for language, schema in each.patterns if contains(language, name)]
        if name in each.named:
            matching.append(each.named[name])
        schemas += matching or [each.additional]
    return conjunction_of(schemas)


@lru_cache(maxsize=8192)
def has_name(language: Regular, name: str) -> bool:
    """Whether a name is in a language. Unions of many conditions about members ask this again and
    again."""
    return contains(language, name)


def _requirement(
    some: SomeMember, names: tuple[str, ...], places: Mapping[Regular, int]
) -> MemberRequirement:
    """A `SomeMember` by the indexes of the shape's names and languages."""
    by_name: dict[int, tuple[Schema, ...]] = {}
    for at, name in enumerate(names):
        schemas = [schema for language, schema in some.patterns if has_name(language, name)]
        if name in some.named:
            schemas.append(some.named[name])
        if schemas:
            by_name[at] = tuple(schemas)
    languages = tuple((places[each], schema) for each, schema in some.patterns)
    absent = sum(1 << at for at, name in enumerate(names) if name in some.absent)
    return MemberRequirement(by_name, languages, absent)
