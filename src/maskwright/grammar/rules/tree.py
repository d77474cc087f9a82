"""The closed tree of context-free grammars, into which all dialects, tags and tools are translated.

A grammar is a set of named rules over terminals. A terminal is a regular language over text, a JSON
value under a schema, or a special token. A text of a grammar is the concatenation of texts of its
terminals. No lexer splits it; only the rules say what stands between two terminals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Set
from typing import Literal

from msgspec.structs import replace

from maskwright.grammar.regular.terms import Regular
from maskwright.grammar.schema.tree import Schema
from maskwright.immutable import Acyclic, Immutable
from maskwright.limits import CHEAP, spend


class Terminal(Immutable):
    """The texts of a regular language."""

    language: Regular


class JsonValue(Immutable):
    """A JSON value that satisfies `schema`, without whitespace around it. The other fields are
    arguments of `compile_json_schema`."""

    schema: Schema
    whitespace: Literal["compact", "spaced", "pretty", "flexible"] = "flexible"
    property_order: Literal["schema", "any"] = "schema"
    escapes: Literal["any", "needed"] = "any"
    numbers: Literal["any", "plain"] = "any"


class SpecialToken(Acyclic):
    """One special token. `ids`: ranges of ids (first, last); it has any of these ids."""

    ids: tuple[tuple[int, int], ...]


class Bounded(Immutable):
    """A part of a text with at most `tokens` tokens: a text of a language, whose last `tail`
    characters end it and are not counted, or a special token.

    Every prefix of a text must have a completion of at most `tail` characters. A special token is
    counted only together with the text before it. `last`: what stands before those characters in a
    text that has had all its tokens and has not begun to end; it isn't counted either.
    """

    body: Terminal | SpecialToken
    tokens: int
    tail: int
    last: str = ""


class Cut(Immutable):
    """A text after which only its own alternative continues: what could have been read in its place
    is given up (as by the cut of Prolog, and of parsing expression grammars).

    The text is one of finitely many strings. It may stand beside a JSON value that
    begins in the same way.
    """

    body: Terminal


class Ref(Acyclic):
    """A reference to the rule `name`."""

    name: str


class Concat(Immutable):
    parts: tuple[Expression, ...]


class Choice(Immutable):
    options: tuple[Expression, ...]


class Repeat(Immutable):
    """`least` to `most` repetitions of `body` (None: any number)."""

    body: Expression
    least: int = 0
    most: int | None = None


class ContainerCapture(Immutable):
    """Another `name` of a capture, which counts if the captured text is the JSON of an array or
    object, however written, that satisfies `schema`."""

    name: str
    schema: Schema


class Capture(Immutable):
    """`body`, whose beginning and end are reported as events with `name`.

    The captured text is that of `body` without `tail`, with which every text of `body` ends. It is
    reported under the name of `container`, if that counts.
    """

    name: str
    body: Expression
    tail: str = ""
    container: ContainerCapture | None = None


Expression = (
    Terminal | Bounded | Cut | JsonValue | SpecialToken | Ref | Concat | Choice | Repeat | Capture
)


class Rules(Immutable):
    """A grammar. Every `Ref` in it refers to one of `rules`."""

    start: str
    rules: Mapping[str, Expression]


def renamed(expression: Expression, prefix: str) -> Expression:
    """Return `expression` with `prefix` before the name of every rule."""
    return with_rules(expression, lambda rule: Ref(prefix + rule.name))


def with_rules(expression: Expression, of: Callable[[Ref], Expression]) -> Expression:
    """Return `expression` with what `of` says in the place of every reference to a rule."""
    if isinstance(expression, Ref):
        return of(expression)
    return with_parts(expression, lambda part: with_rules(part, of))


def with_parts(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """Return `expression` with each expression directly below it changed. What is bounded or cut is
    a part of its own, with nothing below it."""
    match expression:
        case Concat(parts=parts):
            return Concat(tuple(map(change, parts)))
        case Choice(options=options):
            return Choice(tuple(map(change, options)))
        case Repeat() | Capture():
            return replace(expression, body=change(expression.body))
        case Terminal() | Bounded() | Cut() | JsonValue() | SpecialToken() | Ref():
            return expression


def all_parts(expression: Expression) -> Iterator[Expression]:
    """Yield an expression and all expressions in it."""
    stack = [expression]
    while stack:
        part = stack.pop()
        yield part
        match part:
            case Concat(parts=inner) | Choice(options=inner):
                stack += inner
            case Repeat(body=body) | Capture(body=body):
                stack.append(body)
            case Terminal() | Bounded() | Cut() | JsonValue() | SpecialToken() | Ref():
                pass


Atom = Terminal | JsonValue | SpecialToken


def has_such_text(expression: Expression, is_such: Callable[[Atom], bool], rules: Set[str]) -> bool:
    """Whether one of an expression's texts is put together from such texts alone, if the rules that
    have such a text are `rules`. `is_such`: whether an atom has one."""
    match expression:
        case Terminal() | JsonValue() | SpecialToken():
            return is_such(expression)
        case Ref(name=name):
            return name in rules
        case Concat(parts=parts):
            return all(has_such_text(part, is_such, rules) for part in parts)
        case Choice(options=options):
            return any(has_such_text(option, is_such, rules) for option in options)
        case Repeat(body=body, least=least, most=most):
            if most is not None and most < least:
                return False
            return least == 0 or has_such_text(body, is_such, rules)
        case Capture(body=body) | Bounded(body=body) | Cut(body=body):
            return has_such_text(body, is_such, rules)


def rules_with_such_text(rules: Rules, is_such: Callable[[Atom], bool]) -> set[str]:
    """Return the names of the rules that have such a text (see `has_such_text`): the least fixed
    point."""
    found: set[str] = set()
    changed = True
    while changed:
        changed = False
        spend(CHEAP * len(rules.rules))
        for name, body in rules.rules.items():
            if name not in found and has_such_text(body, is_such, found):
                found.add(name)
                changed = True
    return found


def may_be_empty(atom: Atom) -> bool:
    """Whether the empty text is among the texts of an atom."""
    return isinstance(atom, Terminal) and atom.language.nullable
