"""The rules of a tool's arguments as Python's keyword arguments: `city="Bern", days=[1, 2]`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from keyword import iskeyword
from typing import Final

from maskwright.grammar.regular.terms import EMPTY, words
from maskwright.grammar.rules.tree import Capture, Choice, Expression, Ref, Repeat, Terminal
from maskwright.grammar.schema.document import escape
from maskwright.grammar.schema.tree import Properties, Schema
from maskwright.grammar.shape.places import place_of
from maskwright.grammar.shape.shape import (
    ArrayShape,
    Conjunction,
    ObjectShape,
    Shape,
    construct_of,
)
from maskwright.grammar.tags.rules import series
from maskwright.grammar.tools.arguments import object_schema
from maskwright.grammar.tools.members import DeclaredMembers
from maskwright.grammar.tools.python_literals import scalar_literal, string_literal

_COMMA: Final = Terminal(words([",", ", "]))
_COLON: Final = Terminal(words([":", ": "]))
_NOTHING: Final = Choice(())


@dataclass(slots=True)
class PythonArguments:
    """Translates arguments, and the dicts in them: declared members only, in the schema's order.

    The text of each value is captured as `python:KEY`. A rule for each kind of list and dict is
    added to `rules`, under a name that begins with that of the `tool`.
    """

    members: DeclaredMembers
    tool: str
    rules: dict[str, Expression]
    _names: dict[Conjunction, str] = field(default_factory=dict[Conjunction, str])

    def expression(self, schema: Schema) -> Expression:
        """Return the rules of all arguments. Raises `UnsupportedSchemaError` for schemas that can't
        be expressed in this way."""
        value = frozenset([object_schema(schema)])
        objects = self._shape(value).objects
        return _choice([self._members(shape, value, "", keywords=True) for shape in objects])

    def _shape(self, value: Conjunction) -> Shape:
        return self.members.shapes.normal_form(value)

    def _value(self, value: Conjunction, at: str) -> Expression:
        """Return the expression of a value that stands at the pointer `at`, as far as is known."""
        shape = self._shape(value)
        options: list[Expression] = []
        if shape.scalars is not EMPTY:
            options.append(Terminal(scalar_literal(shape.scalars)))
        if shape.strings is not EMPTY:
            options.append(Terminal(string_literal(shape.strings)))
        if shape.arrays or shape.objects:
            options.append(self._container(value, at))
        return _choice(options)

    def _container(self, value: Conjunction, at: str) -> Expression:
        """Return a reference to the rule of a list or dict, which may contain itself."""
        if not value:  # it may be anything
            self.members.narrowed[at] = None
        name = self._names.get(value)
        if name is None:
            name = self._names[value] = f"{self.tool}:{len(self.rules)}"
            self.rules[name] = _NOTHING
            shape = self._shape(value)
            options = [self._list(one, value, at) for one in shape.arrays]
            options += [self._dict(one, value, at) for one in shape.objects]
            self.rules[name] = _choice(options)
        return Ref(name)

    def _list(self, shape: ArrayShape, value: Conjunction, at: str) -> Expression:
        if shape.contains:
            raise self.members.refusal(value, "contains", "contains")
        if shape.unique and (shape.most is None or shape.most > 1):
            raise self.members.refusal(value, "uniqueItems", "uniqueItems")
        if shape.repeats:
            raise self.members.refusal(value, "uniqueItems where it is negated", "uniqueItems")
        most = shape.most
        prefix = shape.prefix[:most]
        at = construct_of(value).pointer or at
        inside = self._rest(shape, len(prefix), at)
        for place in range(len(prefix) - 1, -1, -1):
            comma = series(_COMMA) if place else series()
            more = series(comma, self._value(prefix[place], at), inside)
            inside = more if place < shape.least else Repeat(more, 0, 1)
        return series(_sign("["), inside, _sign("]"))

    def _rest(self, shape: ArrayShape, read: int, at: str) -> Expression:
        """Return the expression of the items after the first `read`."""
        least = max(0, shape.least - read)
        most = None if shape.most is None else shape.most - read
        if most == 0:
            return series()
        item = self._value(shape.rest, at)
        if read:
            return Repeat(series(_COMMA, item), least, most)
        more = Repeat(series(_COMMA, item), max(0, least - 1), None if most is None else most - 1)
        some = series(item, more)
        return some if least else Repeat(some, 0, 1)

    def _dict(self, shape: ObjectShape, value: Conjunction, at: str) -> Expression:
        return series(_sign("{"), self._members(shape, value, at, keywords=False), _sign("}"))

    def _members(
        self, shape: ObjectShape, value: Conjunction, at: str, *, keywords: bool
    ) -> Expression:
        """Return the expression of the declared members, as keyword arguments or as members of a
        dict."""
        self.members.check(shape, value)
        members: list[Expression] = []
        for name, member in zip(shape.names, shape.values, strict=True):
            place = _place_of_member(value, name) or construct_of(member).pointer or at
            said = self._value(member, place)
            if not keywords:
                key = Terminal(string_literal(words([name])))
                members.append(series(key, _COLON, said))
                continue
            if not name.isidentifier() or iskeyword(name):
                what = f"the parameter {name!r}, which is no name in Python"
                raise self.members.refusal_at(place, what)
            members.append(series(_sign(f"{name}="), Capture(f"python:{name}", said)))
        return _listed(members, shape.required)


def _place_of_member(value: Conjunction, name: str) -> str | None:
    """Return the pointer of the schema that a value's `properties` have for a member."""
    place = place_of(value, lambda each: isinstance(each, Properties) and name in each.named)
    return None if place is None else f"{place}/properties/{escape(name)}"


def _listed(members: Sequence[Expression], required: frozenset[int]) -> Expression:
    """Return the members in their order, with commas between them. Members that aren't `required`
    are optional."""
    behind: Expression = series()
    """What follows after at least one member."""
    first: Expression = series()
    """What follows before the first member."""
    for at in range(len(members) - 1, -1, -1):
        begun = series(members[at], behind)
        first = begun if at in required else Choice((begun, first))
        more = series(_COMMA, members[at])
        behind = series(more if at in required else Repeat(more, 0, 1), behind)
    return first


def _sign(text: str) -> Terminal:
    return Terminal(words([text]))


def _choice(options: Sequence[Expression]) -> Expression:
    return options[0] if len(options) == 1 else Choice(tuple(options))
