"""Reads a grammar in any dialect into `Rules`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from maskwright.errors import (
    WHOLE_GRAMMAR,
    GrammarError,
    LimitError,
    UnsatisfiableGrammarError,
    at_line,
)
from maskwright.grammar.dialects.bnf import read_ebnf, read_gbnf
from maskwright.grammar.dialects.detect import Dialect, detect, resembles_schema
from maskwright.grammar.dialects.lark import read_lark
from maskwright.grammar.dialects.lower import Lowered, check_definitions, lower
from maskwright.grammar.dialects.special import GrammarTokens
from maskwright.grammar.dialects.syntax import Document
from maskwright.grammar.rules.tree import Rules
from maskwright.grammar.schema.remarks import grammar_remarks
from maskwright.grammar.schema.tree import ReportEntry
from maskwright.immutable import Immutable
from maskwright.limits import DEFAULT_LIMITS, Limits


class ReadGrammar(Immutable):
    dialect: Dialect
    lowered: Lowered
    text: str
    schema_remarks: tuple[ReportEntry, ...]
    places: Mapping[str, int]
    """Where each rule is defined, as an index of the text."""

    @property
    def rules(self) -> Rules:
        return self.lowered.rules

    @property
    def unused(self) -> tuple[str, ...]:
        """Names of rules and terminals to which the start rule doesn't lead."""
        return self.lowered.unused

    def placed(self, error: UnsatisfiableGrammarError) -> UnsatisfiableGrammarError:
        """The error with the place of its rule, if that is one of the text."""
        place = None if error.rule is None else self.places.get(error.rule)
        if place is None:
            return error
        return type(error)(
            at_line(error.message, self.text, place), rule=error.rule, param=error.param
        )

    def remarks(self, pointer: str | None = None) -> tuple[ReportEntry, ...]:
        """The entries of a report on the patterns and schemas in the grammar: at the names of their
        rules, or at the pointer at which the grammar stands in something else."""
        found = self.schema_remarks
        if pointer is not None:
            found = tuple(replace(each, pointer=pointer) for each in found)
        return (*grammar_remarks(self.text, pointer), *found)


def read_grammar(
    text: str,
    dialect: Dialect | None = None,
    *,
    start: str | None = None,
    tokens: GrammarTokens | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> ReadGrammar:
    """Read a grammar. The default recognises its dialect.

    `start`: the rule that must match the whole text. The default is `start` in Lark, `root` in
    GBNF, and in EBNF `root` or, without such a rule, the first one.

    Raises `GrammarError` with line and column, `LimitError`.
    """
    try:
        document, first, found = _read(text, dialect, tokens or GrammarTokens(), limits)
        lowered = lower(document, start or first, limits)
        places = {name: definition.at for name, definition in document.definitions.items()}
        return ReadGrammar(found, lowered, text, document.schema_remarks(), places)
    except GrammarError as error:
        language = resembles_schema(text)
        if language is None:
            raise
        advice = "give it" if language == "JSON" else "write it in JSON, and give it"
        reason = f"this looks like a JSON Schema in {language}, not like a grammar; {advice} as a "
        reason += f"schema (read as a grammar: {error.reason})"
        raise type(error)(reason, text=text, position=0) from None


def read_document(text: str, dialect: Dialect | None = None) -> tuple[Document, str]:
    """Read a grammar as it is written, without translating it, and name its start rule.

    Raises `GrammarError` with line and column, also if the start rule or a name isn't defined, and
    `LimitError`.
    """
    document, first, _ = _read(text, dialect, GrammarTokens(), DEFAULT_LIMITS)
    check_definitions(document, first)
    return document, first


_READERS: Final = {"lark": read_lark, "gbnf": read_gbnf, "ebnf": read_ebnf}


def _read(
    text: str, dialect: Dialect | None, tokens: GrammarTokens, limits: Limits
) -> tuple[Document, str, Dialect]:
    """The syntax tree of a grammar, the start rule of its dialect, and the dialect."""
    if len(text) > limits.grammar_length:
        raise LimitError(
            f"a grammar of {len(text):,} characters",
            limit="grammar_length",
            value=limits.grammar_length,
            construct=WHOLE_GRAMMAR,
        )
    dialect = dialect or detect(text)
    document = _READERS[dialect](text, tokens, limits)
    if not document.definitions:
        raise GrammarError("the grammar has no rules", text=text, position=0)
    start = "start" if dialect == "lark" else "root"
    if dialect == "ebnf" and start not in document.definitions:
        start = next(iter(document.definitions))
    return document, start, dialect
