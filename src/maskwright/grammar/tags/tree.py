"""Structural tags as a closed tree: formats in which free text and structure alternate.

The public form is a JSON document, `{"type": "structural_tag", "format": …}`, as clients of several
servers send it today; `grammar.tags.parse` reads it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from maskwright.grammar.schema.tree import Json


@dataclass(frozen=True, slots=True)
class ConstString:
    value: str


@dataclass(frozen=True, slots=True)
class JsonSchemaText:
    """A value under a schema, as JSON or as the members of an object between XML-like marks.

    `pointer` is the schema's place in the tag. `any_order` and `compact` say how an object's
    members follow each other and that there is no whitespace; None and False leave it open.
    """

    schema: Json
    pointer: str
    style: Style = "json"
    any_order: bool | None = None
    compact: bool = False


Style = Literal["json", "qwen_xml", "minimax_xml", "glm_xml"]


@dataclass(frozen=True, slots=True)
class AnyText:
    """Text without `excludes`; where it ends a tag's content, the tag's end doesn't stand in it.

    At most `max_chars` characters, in at most `max_tokens` tokens.
    """

    excludes: tuple[str, ...] = ()
    max_chars: int | None = None
    max_tokens: int | None = None
    pointer: str = ""


@dataclass(frozen=True, slots=True)
class AnyTokens:
    """Text and special tokens but `excludes`, in at most `max_tokens` tokens."""

    excludes: tuple[Token, ...]
    max_tokens: int | None
    pointer: str


@dataclass(frozen=True, slots=True)
class RegexText:
    """A text that matches the pattern as a whole."""

    pattern: str
    pointer: str


@dataclass(frozen=True, slots=True)
class GrammarText:
    """A text of a grammar in one of the dialects."""

    grammar: str
    pointer: str


@dataclass(frozen=True, slots=True)
class Token:
    """One special token, by id or by name."""

    token: int | str
    pointer: str


@dataclass(frozen=True, slots=True)
class TagSequence:
    elements: tuple[Format, ...]


@dataclass(frozen=True, slots=True)
class Or:
    elements: tuple[Format, ...]


@dataclass(frozen=True, slots=True)
class Repeated:
    """`content`, `least` to `most` times (None: any number)."""

    content: Format
    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class Tag:
    """`begin`, `content`, and one of `ends`."""

    begin: str | Token
    content: Format
    ends: tuple[str | Token, ...]
    pointer: str


@dataclass(frozen=True, slots=True)
class TriggeredTags:
    """Free text in which a trigger is always the beginning of one of the tags."""

    triggers: tuple[str | Token, ...]
    tags: tuple[Tag, ...]
    at_least_one: bool
    stop_after_first: bool
    excludes: tuple[str | Token, ...]


@dataclass(frozen=True, slots=True)
class SeparatedTags:
    """Tags with `separator` between them, and nothing else."""

    tags: tuple[Tag, ...]
    separator: str
    at_least_one: bool
    stop_after_first: bool


Format = (
    ConstString
    | JsonSchemaText
    | AnyText
    | AnyTokens
    | RegexText
    | GrammarText
    | Token
    | TagSequence
    | Or
    | Repeated
    | Tag
    | TriggeredTags
    | SeparatedTags
)
