"""The rules of arguments as Cohere writes them: `<cofl:value name="a" type="raw">x</cofl:value>`.

An element for each value says its type: `raw` is a string, verbatim; `json` a number, boolean or
null; in `dict` and `list` stand further elements, with names and without.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

from maskwright.grammar.regular.terms import EMPTY, EPSILON, concat, intersection
from maskwright.grammar.rules.tree import Capture, Expression, Terminal
from maskwright.grammar.schema.tree import Schema
from maskwright.grammar.shape.shape import Conjunction, Shape
from maskwright.grammar.tags.free_text import text_until
from maskwright.grammar.tags.rules import choice, literal, series
from maskwright.grammar.tools.members import DeclaredMembers, NestedValues

_END: Final = "</cofl:value>"
_ESCAPES: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}


class CohereValues:
    """Translates arguments, and the values in them. The text of each argument is captured as
    `string:KEY`, `json:KEY` or, of lists and objects, `cohere:KEY`."""

    def __init__(
        self,
        members: DeclaredMembers,
        name: str,
        rules: dict[str, Expression],
        special: Mapping[str, int],
    ) -> None:
        """`name`, `rules`: see `NestedValues`. `special`: the ids of special tokens by name."""
        self._nested = NestedValues(members, name, rules, Terminal(EPSILON))
        self._special = special
        self._behind = literal(_END, special)

    def expression(self, schema: Schema) -> Expression:
        """Return the rules of all arguments. Raises `UnsupportedSchemaError` for schemas that can't
        be expressed in this way."""
        return self._nested.arguments(schema, partial(self._element, is_argument=True))

    def _element(
        self, name: str | None, value: Conjunction, at: str, *, is_argument: bool = False
    ) -> Expression:
        """Return the elements of a value, by its types."""
        shape, nested = self._nested.shape(value), self._nested
        key = "" if name is None else f' name="{_escaped(name)}"'
        options: list[Expression] = []

        def add(type: str, inside: Expression, capture: str) -> None:
            before = literal(f'<cofl:value{key} type="{type}">', self._special)
            said = self._ended(inside, f"{capture}:{name}" if is_argument else None)
            options.append(series(before, said))

        if shape.strings is not EMPTY:
            add("raw", Terminal(shape.strings), "string")
        if shape.scalars is not EMPTY:
            add("json", Terminal(shape.scalars), "json")
        if shape.objects:
            written = partial(self._dicts, value, at)
            add("dict", nested.container(value, at, "dict", written), "cohere")
        if shape.arrays:
            written = partial(self._lists, value, at)
            add("list", nested.container(value, at, "list", written), "cohere")
        return choice(options)

    def _dicts(self, value: Conjunction, at: str, shape: Shape) -> list[Expression]:
        return [self._nested.listed(each, value, at, self._element) for each in shape.objects]

    def _lists(self, value: Conjunction, at: str, shape: Shape) -> list[Expression]:
        item = partial(self._element, None)
        return [self._nested.items(each, value, at, item) for each in shape.arrays]

    def _ended(self, inside: Expression, capture: str | None) -> Expression:
        """Return what stands in an element, and its end, before which a plain text ends."""
        if isinstance(inside, Terminal) and isinstance(self._behind, Terminal):
            language = concat(inside.language, self._behind.language)
            whole = Terminal(intersection(language, text_until(_END)))
            return whole if capture is None else Capture(capture, whole, tail=_END)
        return series(inside if capture is None else Capture(capture, inside), self._behind)


def _escaped(name: str) -> str:
    return "".join(_ESCAPES.get(character, character) for character in name)
