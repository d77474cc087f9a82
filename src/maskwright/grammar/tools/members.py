"""Values in tool formats that write declared members of objects only, in the order of the schema:
what can be written so, and the rules of values in which lists and objects stand within each other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Final, TypeAlias

from msgspec import Struct

from maskwright.errors import UnsupportedSchemaError
from maskwright.grammar.regular.terms import EMPTY, complement, intersection
from maskwright.grammar.rules.tree import Choice, Expression, Ref, Repeat
from maskwright.grammar.schema.document import escape
from maskwright.grammar.schema.tree import (
    AllOf,
    Assertion,
    Contains,
    NotUniqueItems,
    Properties,
    PropertyCount,
    Schema,
    TypeIs,
    UniqueItems,
)
from maskwright.grammar.shape.shape import (
    ArrayShape,
    Conjunction,
    ObjectShape,
    Shape,
    construct_of,
    place_of,
)
from maskwright.grammar.shape.shapes import Shapes
from maskwright.grammar.tags.rules import choice, series

DECLARED_ONLY: Final = "members that the schema doesn't declare are left out"
"""The note on the `additionalProperties` of such an object."""

_MOST_LANGUAGES: Final = 8
"""Languages of names, up to which every combination is looked at."""


_OF_OTHERS: Final = ("additionalProperties", "patternProperties")
_TESTS: Final[Mapping[str, Callable[[Assertion], bool]]] = {
    "additionalProperties": lambda each: (
        isinstance(each, Properties) and each.covers_all and not each.additional.never
    ),
    "patternProperties": lambda each: isinstance(each, Properties) and bool(each.patterns),
    "minProperties": lambda each: isinstance(each, PropertyCount) and each.least > 0,
    "maxProperties": lambda each: isinstance(each, PropertyCount) and each.most is not None,
    "contains": lambda each: isinstance(each, Contains),
    "uniqueItems": lambda each: isinstance(each, UniqueItems | NotUniqueItems),
}
"""By keyword: whether an assertion comes from it, and says something."""


class DeclaredMembers(Struct):
    """Checks the objects of one tool. `written`: how the format writes arguments, for errors."""

    shapes: Shapes
    written: str
    narrowed: dict[str, None] = {}
    """The pointers of schemas that allow members which they don't declare: those are left out."""

    def check(self, shape: ObjectShape, value: Conjunction) -> None:
        """Note whether members are left out of the objects of `shape`, which satisfy `value`.

        Raises `UnsupportedSchemaError` for what depends on more than one member, and for a map: an
        object that declares no members, while a keyword allows some.
        """
        if shape.some:
            raise self.refusal(value, "a condition on some member")
        if shape.least > len(shape.required):
            raise self.refusal(value, "minProperties beyond the required ones", "minProperties")
        if shape.most is not None and shape.most < len(shape.names):
            raise self.refusal(
                value, "maxProperties below the number of properties", "maxProperties"
            )
        if not self._has_others(shape):
            return
        places = {keyword: place_of(value, _TESTS[keyword]) for keyword in _OF_OTHERS}
        asked = next((keyword for keyword, place in places.items() if place is not None), None)
        if asked is not None and not shape.names:
            raise self.refusal(value, "members that the schema doesn't list", asked)
        place = None if asked is None else places[asked]
        if value:  # a value that may be anything has no place of its own
            self.narrowed[place or construct_of(value).pointer or ""] = None

    def refusal(self, value: Conjunction, what: str, keyword: str = "") -> UnsupportedSchemaError:
        """Return the error that `what` can't be written, with the place of the keyword that asks
        for it of `value`."""
        place = place_of(value, _TESTS[keyword]) if keyword else None
        pointer = construct_of(value).pointer or "" if place is None else f"{place}/{keyword}"
        return self.refusal_at(pointer, what)

    def refusal_at(self, pointer: str, what: str) -> UnsupportedSchemaError:
        """Return the error that `what` can't be written."""
        return UnsupportedSchemaError(
            f"{what} can't be had in arguments that are written {self.written}; use a tool format "
            "with JSON arguments",
            pointer=pointer,
        )

    def _has_others(self, shape: ObjectShape) -> bool:
        """Whether there may be members that the shape doesn't list."""
        if shape.most is not None and shape.most <= len(shape.required):
            return False
        if len(shape.languages) > _MOST_LANGUAGES:
            return True
        for mask in product((False, True), repeat=len(shape.languages)):
            names = (
                each if inside else complement(each)
                for each, inside in zip(shape.languages, mask, strict=True)
            )
            if intersection(*names) is not EMPTY and self._has_values(shape.others(mask)):
                return True
        return False

    def _has_values(self, value: Conjunction) -> bool:
        """Whether a value has a type, at least; not every such value can be completed."""
        shape = self.shapes.normal_form(value)
        return bool(shape.arrays or shape.objects) or (
            shape.strings is not EMPTY or shape.scalars is not EMPTY
        )


def object_schema(schema: Schema) -> Schema:
    """Return the schema of arguments: objects that satisfy `schema`."""
    return Schema(schema.pointer, (TypeIs(frozenset(["object"])), AllOf((schema,))))


_NOTHING: Final = Choice(())

Item: TypeAlias = Callable[[Conjunction, str], Expression]
"""Returns the expression of one item of a list, whose pointer is known as far as that."""
Member: TypeAlias = Callable[[str, Conjunction, str], Expression]
"""Returns the expression of one member of an object, with its name."""


class NestedValues(Struct):
    """Translates the items of lists and the members of objects. A rule for each kind of container
    is added to `rules`, under a name that begins with `name`.

    `separator`: what stands between two items or members. `at` in the methods is the pointer of a
    value, as far as it is known.
    """

    members: DeclaredMembers
    name: str
    rules: dict[str, Expression]
    separator: Expression
    _names: dict[tuple[Conjunction, str], str] = {}

    def shape(self, value: Conjunction) -> Shape:
        return self.members.shapes.normal_form(value)

    def container(
        self,
        value: Conjunction,
        at: str,
        kind: str,
        written: Callable[[Shape], Sequence[Expression]],
    ) -> Expression:
        """Return a reference to the rule of the containers of a value, which may contain itself.
        `written`: returns the alternatives; `kind` tells several rules of a value apart."""
        if not value:  # it may be anything
            self.members.narrowed[at] = None
        name = self._names.get((value, kind))
        if name is None:
            name = self._names[value, kind] = f"{self.name}:{len(self.rules)}"
            self.rules[name] = _NOTHING
            self.rules[name] = choice(written(self.shape(value)))
        return Ref(name)

    def items(self, shape: ArrayShape, value: Conjunction, at: str, item: Item) -> Expression:
        """Return the expression of all items of a list."""
        if shape.contains:
            raise self.members.refusal(value, "contains", "contains")
        if shape.unique and (shape.most is None or shape.most > 1):
            raise self.members.refusal(value, "uniqueItems", "uniqueItems")
        if shape.repeats:
            raise self.members.refusal(value, "uniqueItems where it is negated", "uniqueItems")
        at = construct_of(value).pointer or at
        prefix = shape.prefix[: shape.most]
        inside = self._rest(shape, len(prefix), at, item)
        for place in range(len(prefix) - 1, -1, -1):
            before = series(self.separator) if place else series()
            more = series(before, item(prefix[place], at), inside)
            inside = more if place < shape.least else Repeat(more, 0, 1)
        return inside

    def _rest(self, shape: ArrayShape, read: int, at: str, item: Item) -> Expression:
        """Return the expression of the items after the first `read`."""
        least = max(0, shape.least - read)
        most = None if shape.most is None else shape.most - read
        if most == 0:
            return series()
        one = item(shape.rest, at)
        if read:
            return Repeat(series(self.separator, one), least, most)
        fewest, further = max(0, least - 1), None if most is None else most - 1
        some = series(one, Repeat(series(self.separator, one), fewest, further))
        return some if least else Repeat(some, 0, 1)

    def arguments(self, schema: Schema, member: Member) -> Expression:
        """Return the expression of all arguments of a call."""
        value = frozenset([object_schema(schema)])
        objects = self.shape(value).objects
        return choice([self.listed(each, value, "", member) for each in objects])

    def listed(self, shape: ObjectShape, value: Conjunction, at: str, member: Member) -> Expression:
        """Return the expression of all members of an object. Members that aren't required are
        optional."""
        self.members.check(shape, value)
        members: list[Expression] = []
        for name, its in zip(shape.names, shape.values, strict=True):
            place = _place_of_member(value, name) or construct_of(its).pointer or at
            members.append(member(name, its, place))
        behind: Expression = series()
        """What follows after at least one member."""
        first: Expression = series()
        """What follows before the first member."""
        for index in range(len(members) - 1, -1, -1):
            is_required = index in shape.required
            begun = series(members[index], behind)
            first = begun if is_required else Choice((begun, first))
            more = series(self.separator, members[index])
            behind = series(more if is_required else Repeat(more, 0, 1), behind)
        return first


def _place_of_member(value: Conjunction, name: str) -> str | None:
    """Return the pointer of the schema that a value's `properties` have for a member."""
    place = place_of(value, lambda each: isinstance(each, Properties) and name in each.named)
    return None if place is None else f"{place}/properties/{escape(name)}"
