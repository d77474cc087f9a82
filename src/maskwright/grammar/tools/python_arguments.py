"""The rules of a tool's arguments as Python's keyword arguments: `city="Bern", days=[1, 2]`."""

from __future__ import annotations

from functools import partial
from keyword import iskeyword
from typing import Final

from maskwright.grammar.regular.terms import EMPTY, words
from maskwright.grammar.rules.tree import Capture, Expression, Terminal
from maskwright.grammar.schema.tree import Schema
from maskwright.grammar.shape.shape import Conjunction, Shape
from maskwright.grammar.tags.rules import series
from maskwright.grammar.tools.members import DeclaredMembers
from maskwright.grammar.tools.nested_values import NestedValues, choice
from maskwright.grammar.tools.python_literals import scalar_literal, string_literal

_COMMA: Final = Terminal(words([",", ", "]))
_COLON: Final = Terminal(words([":", ": "]))


class PythonArguments:
    """Translates arguments, and the lists and dicts in them. The text of each argument is captured
    as `python:KEY`."""

    def __init__(self, members: DeclaredMembers, tool: str, rules: dict[str, Expression]) -> None:
        """`rules`: see `NestedValues`."""
        self._members = members
        self._nested = NestedValues(members, tool, rules, _COMMA)

    def expression(self, schema: Schema) -> Expression:
        """Return the rules of all arguments. Raises `UnsupportedSchemaError` for schemas that can't
        be expressed in this way."""
        return self._nested.arguments(schema, self._keyword)

    def _keyword(self, name: str, value: Conjunction, at: str) -> Expression:
        """Return one argument of the call."""
        if not name.isidentifier() or iskeyword(name):
            raise self._members.refusal_at(
                at, f"the parameter {name!r}, which is no name in Python"
            )
        return series(_sign(f"{name}="), Capture(f"python:{name}", self._value(value, at)))

    def _item(self, name: str, value: Conjunction, at: str) -> Expression:
        """Return one member of a dict."""
        key = Terminal(string_literal(words([name])))
        return series(key, _COLON, self._value(value, at))

    def _value(self, value: Conjunction, at: str) -> Expression:
        shape = self._nested.shape(value)
        options: list[Expression] = []
        if shape.scalars is not EMPTY:
            options.append(Terminal(scalar_literal(shape.scalars)))
        if shape.strings is not EMPTY:
            options.append(Terminal(string_literal(shape.strings)))
        if shape.arrays or shape.objects:
            written = partial(self._containers, value, at)
            options.append(self._nested.container(value, at, "", written))
        return choice(options)

    def _containers(self, value: Conjunction, at: str, shape: Shape) -> list[Expression]:
        """Return the alternatives of lists and dicts."""
        lists = [self._nested.items(each, value, at, self._value) for each in shape.arrays]
        dicts = [self._nested.listed(each, value, at, self._item) for each in shape.objects]
        return [
            *(series(_sign("["), inside, _sign("]")) for inside in lists),
            *(series(_sign("{"), inside, _sign("}")) for inside in dicts),
        ]


def _sign(text: str) -> Terminal:
    return Terminal(words([text]))
