"""The input of a custom tool: a text, free or of a grammar, which stands in a call as a string.

To a model, a custom tool is a function with one string, `input`. The string is written as the tool
format writes strings: in quotes with escapes, in JSON and in Python, or verbatim as a parameter.
Each input has one spelling, with the escapes that are needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from maskwright.errors import UnsupportedGrammarError
from maskwright.grammar.regular.derivative import arcs
from maskwright.grammar.regular.terms import (
    EMPTY,
    Regular,
    alt,
    concat,
    intersection,
    state,
    words,
)
from maskwright.grammar.rules.tree import (
    Bounded,
    Capture,
    Choice,
    Concat,
    Cut,
    Expression,
    JsonValue,
    Ref,
    Repeat,
    SpecialToken,
    Terminal,
    with_parts,
)
from maskwright.grammar.tags.free_text import text_until
from maskwright.grammar.tags.rules import literal, series
from maskwright.grammar.tools.formats import ToolFormat
from maskwright.immutable import Acyclic

JSON_ESCAPES: Final = {
    **{chr(code): f"\\u{code:04x}" for code in range(0x20)},
    '"': '\\"',
    "\\": "\\\\",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
}
PYTHON_ESCAPES: Final = {
    '"': '\\"',
    "\\": "\\\\",
    "\n": "\\n",
    "\r": "\\r",
    "\0": "\\x00",
}


class Surroundings(Acyclic):
    """How a format writes an input. `capture`: the name under which it is reported."""

    before: str
    after: str
    capture: str
    escapes: Mapping[str, str]
    """By character; empty if the input stands verbatim, and so can't contain `after`."""


def surroundings(format: ToolFormat, *, compact: bool) -> Surroundings:
    """Return how `format` writes the input of a custom tool."""
    if format.parameter:
        at = format.parameter.index("$value")
        before = "".join("input" if p == "$key" else p for p in format.parameter[:at])
        return Surroundings(before, "".join(format.parameter[at + 1 :]), "input:raw", {})
    if format.literals == "python":
        return Surroundings('input="', '"', "input:python", PYTHON_ESCAPES)
    before = '{"input":"' if compact else '{"input": "'
    return Surroundings(before, '"}', "input:json", JSON_ESCAPES)


def custom_arguments(
    said: Expression, around: Surroundings, special: Mapping[str, int]
) -> Expression:
    """Return the arguments of a custom tool whose input is `said`, without captures and with
    terminals that have been `spelled`."""
    before, after = literal(around.before, special), literal(around.after, special)
    if isinstance(said, Terminal) and isinstance(after, Terminal) and not around.escapes:
        whole = intersection(concat(said.language, after.language), text_until(around.after))
        return series(before, Capture(around.capture, Terminal(whole), tail=around.after))
    return series(before, Capture(around.capture, said), after)


def spelled(expression: Expression, around: Surroundings, prefix: str) -> Expression:
    """Return the expression of an input as a format writes it, with `prefix` before the names of
    its rules. Raises `UnsupportedGrammarError` for what can't stand in a string."""

    match expression:
        case Terminal(language=language):
            return Terminal(escaped(language, around.escapes) if around.escapes else language)
        case Ref(name=name):
            return Ref(prefix + name)
        case Concat() | Choice() | Repeat():
            return with_parts(expression, lambda part: spelled(part, around, prefix))
        case Capture(body=body):
            return spelled(body, around, prefix)
        case Bounded() | Cut() | JsonValue() | SpecialToken():
            raise UnsupportedGrammarError(
                "the input of a custom tool is a string, in which JSON values, special tokens and "
                "bounds on tokens can't stand"
            )


def escaped(values: Regular, escapes: Mapping[str, str]) -> Regular:
    """Return the spellings of the strings in `values`, each with the `escapes` of its characters,
    which begin with a backslash."""
    if values is EMPTY:
        return EMPTY
    key = ("escaped", *escapes, values)
    return state(key, values.nullable, lambda: _moves(values, escapes), plain=True)


def _moves(values: Regular, escapes: Mapping[str, str]) -> list[tuple[int, int, Regular]]:
    moves: list[tuple[int, int, Regular]] = []
    begun: list[Regular] = []
    for low, high, target in arcs(values):
        inside = escaped(target, escapes)
        start = low
        for point in sorted(map(ord, escapes)):
            if low <= point <= high:
                begun.append(concat(words([escapes[chr(point)][1:]]), inside))
                if start < point:
                    moves.append((start, point - 1, inside))
                start = point + 1
        if start <= high:
            moves.append((start, high, inside))
    if begun:
        moves.append((ord("\\"), ord("\\"), alt(*begun)))
    return sorted(moves, key=lambda arc: arc[0])
