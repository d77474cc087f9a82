"""The compiler of rules, into which grammars of every dialect, tags and tools are translated; and
that of grammars that are written in Lark, GBNF or EBNF."""

from __future__ import annotations

import sys
from typing import Literal

from maskwright.automaton.rules.contexts import RuleContexts
from maskwright.automaton.rules.network import RuleNetwork
from maskwright.automaton.rules.values import RuleValues
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
from maskwright.grammar.rules.captures import captures_in_start
from maskwright.grammar.rules.fold import fold_rules
from maskwright.grammar.rules.tree import (
    Rules,
    SpecialToken,
    all_parts,
)
from maskwright.grammar.schema.tree import Report, ReportEntry
from maskwright.limits import DEFAULT_LIMITS, Limits, Work
from maskwright.mask.compile.arguments import compiler
from maskwright.mask.compile.constructs import RuleConstructs
from maskwright.mask.grammar import Grammar
from maskwright.mask.recognizer import Beginning
from maskwright.mask.shared.generations import tables_of
from maskwright.vocab import Vocabulary


def compile_rules(
    rules: Rules,
    vocab: Vocabulary,
    *,
    report: Report | None = None,
    limits: Limits | None = None,
    check_values: bool = True,
) -> Grammar:
    """Compile a context-free grammar for a vocabulary.

    `check_values`: check that the first byte distinguishes each JSON value from other text that may
    stand in its place. The check can be left out for rules that are known to pass it.

    Raises `UnsatisfiableGrammarError` if no text matches, `InputError` for a special token that the
    vocabulary doesn't have, `UnsupportedGrammarError` for a JSON value that can't be distinguished
    from other text, `LimitError`.
    """
    limits = limits or DEFAULT_LIMITS
    _check_tokens(rules, vocab)
    with Work(limits, WHOLE_GRAMMAR):
        written = fold_rules(captures_in_start(rules, limits))

        def begin(*, check_values: bool = False) -> Beginning:
            tables = tables_of(vocab)
            with Work(limits, WHOLE_GRAMMAR):
                values = RuleValues(
                    tables.leaves, limits, tables.price, tables.parts.names_within_tokens
                )
                network = RuleNetwork(written, values.is_satisfiable, limits)
                with tables.lock:
                    contexts = RuleContexts(network, values, tables.leaves, limits)
                    if check_values:
                        contexts.check_values()
                    shared = tables.machine(contexts, limits)
                    return Beginning(tables, shared, contexts.start(), RuleConstructs(contexts))

        return Grammar(begin(check_values=check_values), report or Report((), ()), begin)


def _check_tokens(rules: Rules, vocab: Vocabulary) -> None:
    parts = (part for body in rules.rules.values() for part in all_parts(body))
    ids = (each for part in parts if isinstance(part, SpecialToken) for each in part.ids)
    for token in (token for first, last in ids for token in range(first, last + 1)):
        if not 0 <= token < vocab.size:
            raise InputError(f"token {token} is not in the vocabulary of {vocab.size} tokens")
        if token in vocab.eos:
            raise InputError(
                f"token {token} ends the text, so a grammar can't contain it: "
                "it may follow where the grammar ends"
            )
        if token not in vocab.special:
            raise InputError(f"token {token} is no special token: write its text instead")


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
