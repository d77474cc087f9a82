"""The rules of values in which lists and objects stand within each other, in a notation of a tool
format: of objects only declared members, in the schema's order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from msgspec import Struct

from maskwright.grammar.rules.tree import Choice, Expression, Ref, Repeat
from maskwright.grammar.schema.document import escape
from maskwright.grammar.schema.tree import Properties, Schema
from maskwright.grammar.shape.shape import (
    ArrayShape,
    Conjunction,
    ObjectShape,
    Shape,
    construct_of,
    place_of,
)
from maskwright.grammar.tags.rules import choice, series
from maskwright.grammar.tools.arguments import object_schema
from maskwright.grammar.tools.members import DeclaredMembers

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
