"""The rules of a tool's arguments as Python's keyword arguments: `city="Bern", days=[1, 2]`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from keyword import iskeyword
from typing import Final

from maskwright.errors import UnsupportedSchemaError
from maskwright.grammar.regular.terms import EMPTY, words
from maskwright.grammar.rules.tree import Capture, Choice, Expression, Ref, Repeat, Terminal
from maskwright.grammar.schema.tree import Schema
from maskwright.grammar.shape.shape import ArrayShape, Conjunction, ObjectShape
from maskwright.grammar.shape.shapes import Shapes
from maskwright.grammar.tags.rules import series
from maskwright.grammar.tools.arguments import object_schema
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

    shapes: Shapes
    tool: str
    rules: dict[str, Expression]
    pointer: str = ""
    """The place of the schema, for errors."""
    _names: dict[Conjunction, str] = field(default_factory=dict[Conjunction, str])

    def expression(self, schema: Schema) -> Expression:
        """Return the rules of all arguments. Raises `UnsupportedSchemaError` for schemas that can't
        be expressed in this way."""
        self.pointer = schema.pointer
        whole = self.shapes.normal_form(frozenset([object_schema(schema)]))
        return _choice([self._members(shape, keywords=True) for shape in whole.objects])

    def _value(self, value: Conjunction) -> Expression:
        shape = self.shapes.normal_form(value)
        options: list[Expression] = []
        if shape.scalars is not EMPTY:
            options.append(Terminal(scalar_literal(shape.scalars)))
        if shape.strings is not EMPTY:
            options.append(Terminal(string_literal(shape.strings)))
        if shape.arrays or shape.objects:
            options.append(self._container(value))
        return _choice(options)

    def _container(self, value: Conjunction) -> Expression:
        """Return a reference to the rule of a list or dict, which may contain itself."""
        name = self._names.get(value)
        if name is None:
            name = self._names[value] = f"{self.tool}:{len(self.rules)}"
            self.rules[name] = _NOTHING
            shape = self.shapes.normal_form(value)
            options = [self._list(one) for one in shape.arrays]
            options += [self._dict(one) for one in shape.objects]
            self.rules[name] = _choice(options)
        return Ref(name)

    def _list(self, shape: ArrayShape) -> Expression:
        if shape.contains:
            raise self._refusal("contains")
        if shape.unique:
            raise self._refusal("uniqueItems")
        if shape.repeats:
            raise self._refusal("uniqueItems where it is negated")
        most = shape.most
        prefix = shape.prefix[:most]
        inside = self._rest(shape, len(prefix))
        for at in range(len(prefix) - 1, -1, -1):
            comma = series(_COMMA) if at else series()
            more = series(comma, self._value(prefix[at]), inside)
            inside = more if at < shape.least else Repeat(more, 0, 1)
        return series(_sign("["), inside, _sign("]"))

    def _rest(self, shape: ArrayShape, read: int) -> Expression:
        """Return the expression of the items after the first `read`."""
        least = max(0, shape.least - read)
        most = None if shape.most is None else shape.most - read
        if most == 0:
            return series()
        item = self._value(shape.rest)
        if read:
            return Repeat(series(_COMMA, item), least, most)
        more = Repeat(series(_COMMA, item), max(0, least - 1), None if most is None else most - 1)
        some = series(item, more)
        return some if least else Repeat(some, 0, 1)

    def _dict(self, shape: ObjectShape) -> Expression:
        return series(_sign("{"), self._members(shape, keywords=False), _sign("}"))

    def _members(self, shape: ObjectShape, *, keywords: bool) -> Expression:
        """Return the expression of the declared members, as keyword arguments or as members of a
        dict."""
        if shape.some:
            raise self._refusal("a condition on some member")
        if shape.least > len(shape.required):
            raise self._refusal("minProperties beyond the required ones")
        if shape.most is not None and shape.most < len(shape.names):
            raise self._refusal("maxProperties below the number of properties")
        members = [
            self._argument(name, value) if keywords else self._item(name, value)
            for name, value in zip(shape.names, shape.values, strict=True)
        ]
        return _listed(members, shape.required)

    def _argument(self, name: str, value: Conjunction) -> Expression:
        if not name.isidentifier() or iskeyword(name):
            raise self._refusal(f"the parameter {name!r}, which is no name in Python")
        return series(_sign(f"{name}="), Capture(f"python:{name}", self._value(value)))

    def _item(self, name: str, value: Conjunction) -> Expression:
        return series(Terminal(string_literal(words([name]))), _COLON, self._value(value))

    def _refusal(self, what: str) -> UnsupportedSchemaError:
        return UnsupportedSchemaError(
            f"{what} can't be had in arguments that are written as Python; use a tool format with "
            "JSON arguments",
            pointer=self.pointer,
        )


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
