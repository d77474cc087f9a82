"""The compilers of patterns, choices and quotations, all of them regular languages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn, get_args

from maskwright.automaton.rules.text_contexts import TextContexts
from maskwright.errors import Construct, InputError, RegexError
from maskwright.grammar.pattern.flags import Flags, Syntax
from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.pattern.translate import search as found_in
from maskwright.grammar.regular.derivative import is_live
from maskwright.grammar.regular.substrings import UNITS, Unit, substrings
from maskwright.grammar.regular.terms import EMPTY, Regular, words
from maskwright.grammar.schema.remarks import pattern_remarks
from maskwright.grammar.schema.tree import Report, ReportEntry
from maskwright.limits import DEFAULT_LIMITS, Limits, Work
from maskwright.mask.compile.arguments import check_text, compiler, listed
from maskwright.mask.compile.constructs import OneConstruct
from maskwright.mask.grammar import Grammar
from maskwright.mask.recognizer import Beginning
from maskwright.mask.shared.generations import tables_of
from maskwright.vocab import Vocabulary


@compiler
def compile_regex(
    pattern: str,
    vocab: Vocabulary,
    *,
    search: bool = False,
    syntax: Syntax = "ecma",
    flags: str = "",
    algebra: bool = False,
    limits: Limits | None = None,
) -> Grammar:
    """Compile a regular expression that the whole text must match.

    - `search`: the pattern may match anywhere in the text, and need not match all of it.
    - `syntax`: the syntax of ECMA-262 ("ecma") or of Python's `re` ("python"). They differ in what
      `$`, `.`, `\\d`, `\\w` and `\\s` match, and in flags.
    - `flags`: letters of `imsu` for ECMA-262, of `aimsux` for Python.
    - `algebra`: `a&b` is the intersection of `a` and `b`, and `~a` the complement of `a`.

    Raises `RegexError` with the position of what can't be parsed or is not regular, `LimitError`.
    """
    limits = limits or DEFAULT_LIMITS
    if syntax not in get_args(Syntax):
        raise InputError(f"syntax is one of {', '.join(get_args(Syntax))}", param="syntax")
    check_text(flags, "flags")
    chosen = Flags(syntax=syntax, algebra=algebra).having(flags, _refuse_flag)
    construct = Construct.pattern(pattern)
    with Work(limits, construct):
        term = (found_in if search else full_match)(pattern, limits, chosen)
        if not is_live(term, limits.witness_search):
            raise RegexError("the pattern matches no text", pattern=pattern, position=0)
        report = Report((ReportEntry("", "pattern"),), pattern_remarks(pattern, ""))
        return _compile(term, report, vocab, limits, construct)


@compiler
def compile_choice(
    strings: Sequence[str], vocab: Vocabulary, *, limits: Limits | None = None
) -> Grammar:
    """Compile a list of strings, which may be a hundred thousand. The text must be one of them.

    Raises `InputError` for an empty list, `LimitError`.
    """
    strings = listed(strings, "strings", "strings")
    for at, each in enumerate(strings):
        check_text(each, f"strings[{at}]")
        _check_encodable(each, f"strings[{at}]")
    if not strings:
        raise InputError("a choice needs at least one string", param="strings")
    limits = limits or DEFAULT_LIMITS
    construct = Construct(f"the choice of {len(strings):,} strings")
    with Work(limits, construct):
        return _compile(words(strings), _report("choice"), vocab, limits, construct)


@compiler
def compile_substring(
    document: str, vocab: Vocabulary, *, unit: Unit = "word", limits: Limits | None = None
) -> Grammar:
    """Compile a document. The text must be a contiguous part of it and not empty.

    `unit`: where the part may begin and end. "word": at a run of letters, digits and underscores,
    or at one other character that isn't a space; "line": at a whole line; "char": anywhere.

    Raises `InputError` for a document without such a part.
    """
    if unit not in UNITS:
        raise InputError(f"unit is one of {', '.join(UNITS)}", param="unit")
    _check_encodable(document, "document")
    limits = limits or DEFAULT_LIMITS
    construct = Construct(f"the document of {len(document):,} characters")
    with Work(limits, construct):
        term = substrings(document, unit)
        if term is EMPTY:
            raise InputError(f"the document has no {unit}", param="document")
        return _compile(term, _report("substring"), vocab, limits, construct)


def _check_encodable(text: str, name: str) -> None:
    """Raise `InputError` for a text with half of a surrogate pair, as Python makes of bytes that
    aren't UTF-8: no output holds it."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        half = f"{text[error.start]!a}, character {error.start}"
        message = f"{name} holds half of a surrogate pair ({half}), which is no character"
        raise InputError(f"{message}: decode the text with errors='replace'", param=name) from None


def _report(kind: str) -> Report:
    return Report((ReportEntry("", kind),), ())


def _refuse_flag(reason: str) -> NoReturn:
    raise InputError(reason, param="flags")


def _compile(
    term: Regular, report: Report, vocab: Vocabulary, limits: Limits, construct: Construct
) -> Grammar:
    def begin() -> Beginning:
        tables = tables_of(vocab)
        with Work(limits, construct), tables.lock:
            contexts = TextContexts(term, tables.leaves)
            shared = tables.machine(contexts, limits)
            return Beginning(tables, shared, contexts.start(), OneConstruct(construct))

    return Grammar(begin(), report, begin)
