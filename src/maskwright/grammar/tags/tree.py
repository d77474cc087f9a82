"""The closed tree of structural tags: formats in which free text and structure alternate.

The public form is a JSON document, `{"type": "structural_tag", "format": …}`, which
`grammar.tags.parse` reads.
"""

from __future__ import annotations

from typing import Literal

from maskwright.grammar.schema.tree import Json
from maskwright.immutable import Acyclic, Immutable


class ConstString(Acyclic):
    value: str


class JsonSchemaText(Acyclic):
    """A value that satisfies a schema, as JSON or as members of an object between XML-like marks.

    `pointer`: the schema's place in the tag. `any_order`: whether members may have any order; None
    for the option of the whole tag. `compact`: no whitespace; False for the option of the whole
    tag.
    """

    schema: Json
    pointer: str
    style: Style = "json"
    any_order: bool | None = None
    compact: bool = False


Style = Literal[
    "json", "qwen_xml", "minimax_xml", "glm_xml", "deepseek_xml", "cohere_xml", "kimi_k3_xml"
]


class AnyText(Acyclic):
    """Text that contains none of `excludes`, nor the end of the tag whose content it ends.

    It has at most `max_chars` characters, and at most `max_tokens` tokens.
    """

    excludes: tuple[str, ...] = ()
    max_chars: int | None = None
    max_tokens: int | None = None
    pointer: str = ""


class AnyTokens(Acyclic):
    """Text and special tokens except `excludes`, at most `max_tokens` tokens."""

    excludes: tuple[Token, ...]
    max_tokens: int | None
    pointer: str


class AnyToken(Acyclic):
    """One token, of text or a special one, except `excludes`."""

    excludes: tuple[Token, ...]
    pointer: str


class RegexText(Acyclic):
    """A text that the pattern matches from its first to its last character."""

    pattern: str
    pointer: str


Syntax = Literal["auto", "lark", "gbnf", "ebnf"]


class GrammarText(Acyclic):
    """A text of a grammar in one of the dialects; "auto" is recognised."""

    grammar: str
    pointer: str
    syntax: Syntax = "auto"


class Token(Acyclic):
    """One special token, by id or by name."""

    token: int | str
    pointer: str


class TagSequence(Immutable):
    elements: tuple[Format, ...]


class Or(Immutable):
    elements: tuple[Format, ...]


class Repeated(Immutable):
    """`least` to `most` repetitions of `content` (None: any number)."""

    content: Format
    least: int
    most: int | None


class Tag(Immutable):
    """`begin`, then `content`, then one of `ends`."""

    begin: str | Token
    content: Format
    ends: tuple[str | Token, ...]
    pointer: str


class TriggeredTags(Immutable):
    """Free text in which each trigger begins one of the tags."""

    triggers: tuple[str | Token, ...]
    tags: tuple[Tag, ...]
    at_least_one: bool
    stop_after_first: bool
    excludes: tuple[str | Token, ...]


class SeparatedTags(Immutable):
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
    | AnyToken
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
