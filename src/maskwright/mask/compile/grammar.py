"""The compiler of grammars that are written in Lark, GBNF or EBNF."""

from __future__ import annotations

import sys
from typing import Literal

from maskwright.errors import (
    WHOLE_GRAMMAR,
    InputError,
    LimitError,
    UnsatisfiableGrammarError,
    amount,
)
from maskwright.grammar.dialects.detect import DIALECTS, Dialect
from maskwright.grammar.dialects.read import read_grammar
from maskwright.grammar.dialects.special import GrammarTokens
from maskwright.grammar.rules.begins import check_bounded_begins
from maskwright.grammar.schema.tree import Report, ReportEntry
from maskwright.limits import DEFAULT_LIMITS, Limits, Work
from maskwright.mask.compile.arguments import compiler
from maskwright.mask.compile.rules import compile_rules
from maskwright.mask.grammar import Grammar
from maskwright.vocab import Vocabulary


@compiler
def compile_grammar(
    text: str,
    vocab: Vocabulary,
    *,
    dialect: Dialect | Literal["auto"] = "auto",
    start: str | None = None,
    limits: Limits | None = None,
) -> Grammar:
    """Compile a grammar in the syntax of Lark, llama.cpp's GBNF, or EBNF (W3C's and xgrammar's).

    `dialect`: "lark", "gbnf", "ebnf", or "auto" to recognise it. `start`: the rule that must match
    the whole text. The default is `start` in Lark, `root` in GBNF, and in EBNF `root` or, without
    such a rule, the first one.

    Raises `GrammarError` with line and column of what can't be read or enforced,
    `UnsatisfiableGrammarError` if no text matches, `LimitError`.
    """
    if dialect not in ("auto", *DIALECTS):
        raise InputError(f"dialect is one of auto, {', '.join(DIALECTS)}", param="dialect")
    limits = limits or DEFAULT_LIMITS
    with Work(limits, WHOLE_GRAMMAR):
        try:
            return _compile(text, vocab, None if dialect == "auto" else dialect, start, limits)
        except RecursionError:
            raise LimitError(
                "the grammar's rules nest too deep",
                limit="schema_depth",
                value=sys.getrecursionlimit(),
            ) from None


def _compile(
    text: str, vocab: Vocabulary, dialect: Dialect | None, start: str | None, limits: Limits
) -> Grammar:
    tokens = GrammarTokens(vocab.special_tokens, frozenset(vocab.eos), vocab.tokens)
    read = read_grammar(text, dialect, start=start, tokens=tokens, limits=limits)
    check_bounded_begins(read.rules)
    enforced = ReportEntry(
        "", "grammar", f"{read.dialect}, {amount(len(read.rules.rules), 'rule')}"
    )
    unused = tuple(ReportEntry("", name, "not used") for name in read.unused)
    report = Report((enforced,), (*unused, *read.remarks()))
    try:
        return compile_rules(read.rules, vocab, report=report, limits=limits)
    except UnsatisfiableGrammarError as error:
        raise read.placed(error) from None
