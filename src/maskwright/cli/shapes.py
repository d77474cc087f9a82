"""What a command is told that texts shall look like: a JSON Schema, a grammar or a pattern."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from maskwright.cli.inputs import read_schema, read_text, text_argument
from maskwright.errors import InputError
from maskwright.grammar.dialects.detect import Dialect
from maskwright.mask import Grammar, compile_grammar, compile_json_schema, compile_regex
from maskwright.vocab import Vocabulary

Kind = Literal["auto", "schema", "regex", "lark", "gbnf", "ebnf"]
SUFFIXES: Final[dict[str, Dialect]] = {".lark": "lark", ".gbnf": "gbnf", ".ebnf": "ebnf"}


@dataclass(frozen=True, slots=True)
class SchemaShape:
    schema: dict[str, object] | bool


@dataclass(frozen=True, slots=True)
class GrammarShape:
    text: str
    dialect: Dialect | Literal["auto"]


@dataclass(frozen=True, slots=True)
class RegexShape:
    pattern: str


Shape: TypeAlias = SchemaShape | GrammarShape | RegexShape


def read_shape(argument: str, kind: Kind = "auto") -> Shape:
    """The shape in a file, or in the argument itself if that is no file.

    "auto": a grammar if the file's name or the text says so, else a JSON Schema. A pattern isn't
    guessed, and stands in the argument. Raises InputError.
    """
    if kind == "regex":
        return RegexShape(text_argument(argument, "pattern"))
    if kind == "schema":
        return SchemaShape(read_schema(argument))
    if kind != "auto":
        return GrammarShape(read_grammar_text(argument), kind)
    dialect = dialect_of(argument)
    if dialect is None and not _looks_like_a_grammar(argument):
        return SchemaShape(read_schema(argument))
    return GrammarShape(read_grammar_text(argument), dialect or "auto")


def dialect_of(argument: str) -> Dialect | None:
    """What the name of a file says."""
    return SUFFIXES.get(Path(argument[-255:]).suffix)


def read_grammar_text(argument: str) -> str:
    """The text of a grammar, from a file unless the argument has a colon and no file's name."""
    if _is_inline(argument):
        return text_argument(argument, "grammar")
    try:
        return read_text(argument).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{argument}: not UTF-8 (byte {error.start})", param="grammar") from None


def _looks_like_a_grammar(argument: str) -> bool:
    text = argument.lstrip()
    return not text.startswith(("{", "true", "false")) and _is_inline(argument)


def _is_inline(argument: str) -> bool:
    return (":" in argument or "\n" in argument) and not Path(argument[:255]).is_file()


def compile_shape(shape: Shape, vocab: Vocabulary, **of_schema: Any) -> Grammar:
    """The shape for a vocabulary; `of_schema` are options of `compile_json_schema`."""
    match shape:
        case SchemaShape(schema=schema):
            return compile_json_schema(schema, vocab, **of_schema)
        case GrammarShape(text=text, dialect=dialect):
            return compile_grammar(text, vocab, dialect=dialect)
        case RegexShape(pattern=pattern):
            return compile_regex(pattern, vocab)
