"""Languages of Python's literals, their translation to JSON, and the rules of a tool's arguments as
Python's keyword arguments: `city="Bern", days=[1, 2]`."""

from __future__ import annotations

import json
import re
from functools import partial
from keyword import iskeyword
from typing import Final

from maskwright.grammar.regular import charset
from maskwright.grammar.regular.derivative import arcs, contains, is_live
from maskwright.grammar.regular.terms import (
    EMPTY,
    EPSILON,
    Regular,
    alt,
    char,
    complement,
    concat,
    intersection,
    state,
    words,
)
from maskwright.grammar.rules.tree import Capture, Expression, Terminal
from maskwright.grammar.schema.tree import Schema
from maskwright.grammar.shape.shape import Conjunction, Shape
from maskwright.grammar.tags.rules import choice, series
from maskwright.grammar.tools.members import DeclaredMembers, NestedValues

_NAMES: Final = {"true": "True", "false": "False", "null": "None"}
"""JSON's names of true, false and null, and Python's."""
_JSON_NAMES: Final = {python: name for name, python in _NAMES.items()}

_ESCAPES: Final = {"\\": "\\", "'": "'", '"': '"', "n": "\n", "r": "\r", "t": "\t"}
_ESCAPED_NUL: Final = "x00"
_UNESCAPED: Final = {**_ESCAPES, _ESCAPED_NUL: "\0"}
_NEVER_PLAIN: Final = "\0\n\r\\"

_TOKEN: Final = re.compile(r"""(?P<string>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|[A-Z][a-z]+""")


def string_literal(values: Regular) -> Regular:
    """Return all spellings of the strings in `values`: in quotes of either kind, with the escapes
    `\\\\ \\' \\" \\n \\r \\t` and `\\x00`, any other character verbatim."""
    if not is_live(values):
        return EMPTY
    return alt(*(concat(char(quote), _inside(values, quote)) for quote in "\"'"))


def scalar_literal(scalars: Regular) -> Regular:
    """Return Python's spellings of the numbers, booleans and null in `scalars`, a language of JSON
    texts."""
    names = [python for name, python in _NAMES.items() if contains(scalars, name)]
    numbers = intersection(scalars, complement(words(list(_NAMES))))
    return alt(numbers, words(names)) if names else numbers


def json_text(literal: str) -> str:
    """Translate the literal of a value to JSON."""
    return _TOKEN.sub(_json_token, literal)


def _json_token(match: re.Match[str]) -> str:
    if match["string"] is None:
        return _JSON_NAMES.get(match[0], match[0])
    string = re.sub(r"\\(x00|.)", lambda escape: _UNESCAPED[escape[1]], match[0][1:-1])
    return json.dumps(string, ensure_ascii=False)


def _inside(values: Regular, quote: str) -> Regular:
    """Return the language of the rest of a string, with its closing quote. `values` has a string,
    and so has what is returned."""
    key = ("python string", values, quote)
    return state(key, False, lambda: _moves(values, quote), plain=True)


def _moves(values: Regular, quote: str) -> list[tuple[int, int, Regular]]:
    never = _NEVER_PLAIN + quote
    moves: list[tuple[int, int, Regular]] = []
    for low, high, target in arcs(values):
        inside = _inside(target, quote)
        plain = charset.intersection(((low, high),), charset.complement(charset.of(never)))
        moves += [(first, last, inside) for first, last in plain]
    if values.nullable:
        moves.append((ord(quote), ord(quote), EPSILON))
    escapes = _escapes(values, quote)
    if escapes:  # else a backslash would lead nowhere
        escaped = state(("python escape", values, quote), False, lambda: escapes, plain=True)
        moves.append((ord("\\"), ord("\\"), escaped))
    return sorted(moves, key=lambda arc: arc[0])


def _escapes(values: Regular, quote: str) -> list[tuple[int, int, Regular]]:
    moves: list[tuple[int, int, Regular]] = []
    for low, high, target in arcs(values):
        inside = _inside(target, quote)
        for letter, character in _ESCAPES.items():
            if low <= ord(character) <= high:
                moves.append((ord(letter), ord(letter), inside))
        if low == 0:
            nul = concat(words([_ESCAPED_NUL[1:]]), inside)
            moves.append((ord("x"), ord("x"), nul))
    return sorted(moves, key=lambda arc: arc[0])


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
