"""The shape that a command is given for its texts: a JSON Schema, a grammar or a pattern."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from maskwright import mask
from maskwright.cli.input.shipped import KINDS, ShippedKind, named, read_file_or_shipped
from maskwright.cli.input.texts import text_argument
from maskwright.errors import InputError
from maskwright.vocab import Vocabulary

if TYPE_CHECKING:
    from maskwright.grammar.dialects.detect import Dialect

Kind = Literal["auto", "schema", "regex", "lark", "gbnf", "ebnf"]
SUFFIXES: Final[dict[str, Dialect]] = {".lark": "lark", ".gbnf": "gbnf", ".ebnf": "ebnf"}


@dataclass(frozen=True, slots=True)
class SchemaArgument:
    schema: dict[str, object] | bool


@dataclass(frozen=True, slots=True)
class GrammarArgument:
    text: str
    dialect: Dialect | Literal["auto"]


@dataclass(frozen=True, slots=True)
class RegexArgument:
    pattern: str


Shape: TypeAlias = SchemaArgument | GrammarArgument | RegexArgument


def read_shape(argument: str, kind: Kind = "auto") -> Shape:
    """The shape in a file, in the argument itself if that is no file, or one that ships.

    "auto": a grammar if the file's name or the text says so, else a JSON Schema. A pattern isn't
    guessed, and stands in the argument. Raises InputError.
    """
    if kind == "regex":
        return RegexArgument(text_argument(argument, "pattern"))
    if kind == "schema":
        return SchemaArgument(read_schema(argument))
    if kind != "auto":
        return GrammarArgument(read_grammar_text(argument, kind), kind)
    dialect = dialect_of(argument)
    if dialect is None and not _looks_like_a_grammar(argument):
        return SchemaArgument(read_schema(argument, KINDS))
    return GrammarArgument(read_grammar_text(argument, dialect), dialect or "auto")


def dialect_of(argument: str) -> Dialect | None:
    """The dialect of a grammar that ships, or what the name of a file says."""
    entry = named(argument)
    if entry is not None:
        return "lark" if entry.kind == "grammar" else None
    return SUFFIXES.get(Path(argument[-255:]).suffix)


def read_schema(
    argument: str, kinds: Sequence[ShippedKind] = ("schema",)
) -> dict[str, object] | bool:
    """The JSON Schema in a file, in the argument itself when that is JSON, or one that ships.

    Raises InputError with line and column; for a name that nothing has, with those of `kinds` that
    are like it.
    """
    inline = argument.lstrip().startswith("{") or argument.strip() in ("true", "false")
    name = "the schema" if inline else argument
    try:
        if inline:
            text = text_argument(argument, name)
        else:
            text = read_file_or_shipped(argument, kinds).decode("utf-8")
        schema: object = json.loads(text)
    except UnicodeDecodeError as error:
        raise InputError(f"{name}: not UTF-8 (byte {error.start})", param="schema") from None
    except json.JSONDecodeError as error:
        raise InputError(
            f"{name}:{error.lineno}:{error.colno}: not valid JSON: {error.msg}", param="schema"
        ) from None
    except (ValueError, RecursionError):
        raise InputError(f"{name}: not valid JSON, or nested too deep", param="schema") from None
    if not isinstance(schema, dict | bool):
        raise InputError(f"{name}: a schema is a JSON object, true or false", param="schema")
    return schema


def read_grammar_text(argument: str, dialect: Dialect | None) -> str:
    """The text of a grammar: the argument itself if it has a colon and no file has its name, else
    from a file, or one that ships unless it is to be in another dialect than Lark."""
    if _is_inline(argument):
        return text_argument(argument, "grammar")
    kinds: Sequence[ShippedKind] = ("grammar",) if dialect in (None, "lark") else ()
    try:
        return read_file_or_shipped(argument, kinds).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{argument}: not UTF-8 (byte {error.start})", param="grammar") from None


def _looks_like_a_grammar(argument: str) -> bool:
    text = argument.lstrip()
    return not text.startswith(("{", "true", "false")) and _is_inline(argument)


def _is_inline(argument: str) -> bool:
    return (":" in argument or "\n" in argument) and not Path(argument[:255]).is_file()


def compile_shape(shape: Shape, vocab: Vocabulary, **of_schema: Any) -> mask.Grammar:
    """The shape for a vocabulary; `of_schema` are options of `compile_json_schema`."""
    match shape:
        case SchemaArgument(schema=schema):
            return mask.compile_json_schema(schema, vocab, **of_schema)
        case GrammarArgument(text=text, dialect=dialect):
            return mask.compile_grammar(text, vocab, dialect=dialect)
        case RegexArgument(pattern=pattern):
            return mask.compile_regex(pattern, vocab)
