"""The syntax tree of a grammar, which all dialects share: definitions over a small closed tree.

`at` is a place in the text of the grammar, at which errors are reported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from msgspec import field
from msgspec.structs import replace

from maskwright.grammar.dialects.guidance_options import Style
from maskwright.grammar.regular.terms import Regular
from maskwright.grammar.schema.tree import ReportEntry, Schema
from maskwright.immutable import Acyclic, Immutable


class Literal(Immutable):
    """A text of a regular language: a string, a character class or a regular expression."""

    language: Regular
    at: int


class Name(Immutable):
    """A reference to a rule or terminal, or to a parameter of the enclosing template."""

    name: str
    at: int
    arguments: tuple[Node, ...] = ()


class Series(Immutable):
    parts: tuple[Node, ...]


class Either(Immutable):
    options: tuple[Node, ...]


class Times(Immutable):
    body: Node
    least: int
    most: int | None


class Both(Immutable):
    """The intersection of the parts, which must be regular."""

    parts: tuple[Node, ...]
    at: int


class Not(Immutable):
    """The complement of `body`, which must be regular."""

    body: Node
    at: int


class Json(Immutable):
    schema: Schema
    at: int
    whitespace: Style = "flexible"


class Special(Acyclic):
    """One special token; see `rules.SpecialToken`."""

    ids: tuple[tuple[int, int], ...]
    at: int


Node = Literal | Name | Series | Either | Times | Both | Not | Json | Special


class Options(Immutable):
    """The options in brackets after a rule's name, which say which of its texts remain.

    - `lazy`: texts that have no other one as their beginning.
    - `suffix`: texts with it at their end, and as for `lazy`.
    - `stop`: texts before which it doesn't occur; it is no part of them.
    - `max_tokens`: texts of at most so many tokens.
    - `capture`, `stop_capture`: the names under which the text and the suffix are reported.
    """

    capture: str | None = None
    lazy: bool = False
    suffix: Node | None = None
    stop: Node | None = None
    stop_capture: str | None = None
    max_tokens: int | None = None

    @property
    def shapes_text(self) -> bool:
        """Whether they leave only some of the rule's texts, which then are regular."""
        return self.lazy or self.stop is not None or self.max_tokens is not None


class Definition(Immutable):
    """A rule or terminal. `body` is None if it is declared, but not defined."""

    name: str
    at: int
    body: Node | None
    terminal: bool = False
    parameters: tuple[str, ...] = ()
    priority: int = 0
    options: Options = field(default_factory=Options)


class Document(Immutable):
    """A grammar: its text, its definitions by name, the ignored nodes, and what is likely to be a
    mistake in its schemas, each with the place of the schema."""

    text: str
    definitions: dict[str, Definition]
    ignored: tuple[Node, ...] = ()
    remarks: tuple[tuple[int, ReportEntry], ...] = ()

    def schema_remarks(self) -> tuple[ReportEntry, ...]:
        """Entries of a report on the schemas, at the names of the rules in which these stand."""
        entries: list[ReportEntry] = []
        for place, entry in self.remarks:
            before = ((each.at, name) for name, each in self.definitions.items())
            _, name = max((each for each in before if each[0] <= place), default=(0, ""))
            note = f"in a schema of %json, at {entry.place or 'its root'}: {entry.note}"
            entries.append(ReportEntry(name, "", note, entry.rule))
        return tuple(entries)


def series(parts: list[Node]) -> Node:
    return parts[0] if len(parts) == 1 else Series(tuple(parts))


def either(options: list[Node]) -> Node:
    return options[0] if len(options) == 1 else Either(tuple(options))


def below(node: Node) -> tuple[Node, ...]:
    """Return the children of a node."""
    match node:
        case Series(parts=parts) | Both(parts=parts) | Either(options=parts):
            return parts
        case Times(body=body) | Not(body=body):
            return (body,)
        case Name(arguments=arguments):
            return arguments
        case Literal() | Json() | Special():
            return ()
        case _:
            assert_never(node)


def with_below(node: Node, change: Callable[[Node], Node]) -> Node:
    """Return the node with each of its children changed."""
    match node:
        case Series(parts=parts) | Both(parts=parts):
            return replace(node, parts=tuple(map(change, parts)))
        case Either(options=options):
            return replace(node, options=tuple(map(change, options)))
        case Times(body=body) | Not(body=body):
            return replace(node, body=change(body))
        case Name(arguments=arguments):
            return replace(node, arguments=tuple(map(change, arguments)))
        case Literal() | Json() | Special():
            return node
        case _:
            assert_never(node)
