"""Context-free grammars as a closed tree: what every dialect, tag and tool format is parsed into.

A grammar is a set of named rules over terminals. A terminal is a regular language over text, a
JSON value under a schema, or a special token. The text of a grammar is the concatenation of the
texts of its terminals, read as one machine over bytes: nothing separates tokens but what the rules
say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from maskwright.grammar.regular.terms import Regular
from maskwright.grammar.schema.tree import Schema


@dataclass(frozen=True, slots=True)
class Terminal:
    """A text of a regular language."""

    language: Regular


@dataclass(frozen=True, slots=True)
class JsonValue:
    """A JSON value that satisfies `schema`, written as the options have it (see
    `compile_json_schema`); no whitespace around it."""

    schema: Schema
    whitespace: Literal["compact", "spaced", "pretty", "flexible"] = "flexible"
    property_order: Literal["schema", "any"] = "schema"
    escapes: Literal["any", "needed"] = "any"


@dataclass(frozen=True, slots=True)
class SpecialToken:
    """One token out of ranges of ids (first, last), which no text spells."""

    ids: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Bounded:
    """A part of a text that is read in at most `tokens` tokens: a text of a language, except the
    last `tail` characters, which end it; or a special token.

    From every beginning of a text there must be a way to end it with at most `tail` more
    characters. A special token counts only together with the text before it.
    """

    body: Terminal | SpecialToken
    tokens: int
    tail: int


@dataclass(frozen=True, slots=True)
class Ref:
    """What the rule `name` generates."""

    name: str


@dataclass(frozen=True, slots=True)
class Concat:
    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    options: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """`least` to `most` copies (None: any number)."""

    body: Expression
    least: int = 0
    most: int | None = None


@dataclass(frozen=True, slots=True)
class Capture:
    """`body`, whose beginning and end are reported as events under `name`.

    What is captured is the text of `body` without `tail`, with which every such text ends.
    """

    name: str
    body: Expression
    tail: str = ""


Expression = (
    Terminal | Bounded | JsonValue | SpecialToken | Ref | Concat | Choice | Repeat | Capture
)


@dataclass(frozen=True, slots=True)
class Rules:
    """A grammar: every `Ref` in it names one of `rules`."""

    start: str
    rules: Mapping[str, Expression]


def renamed(expression: Expression, prefix: str) -> Expression:
    """`expression` with `prefix` before the name of every rule in it."""
    match expression:
        case Ref(name=name):
            return Ref(prefix + name)
        case Concat(parts=parts):
            return Concat(tuple(renamed(part, prefix) for part in parts))
        case Choice(options=options):
            return Choice(tuple(renamed(option, prefix) for option in options))
        case Repeat() | Capture():
            return replace(expression, body=renamed(expression.body, prefix))
        case Terminal() | Bounded() | JsonValue() | SpecialToken():
            return expression


def all_parts(expression: Expression) -> Iterator[Expression]:
    """An expression and all within it."""
    stack = [expression]
    while stack:
        part = stack.pop()
        yield part
        match part:
            case Concat(parts=inner) | Choice(options=inner):
                stack += inner
            case Repeat(body=body) | Capture(body=body):
                stack.append(body)
            case Terminal() | Bounded() | JsonValue() | SpecialToken() | Ref():
                pass
