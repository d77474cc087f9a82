"""Reading a grammar's text: its dialect, its start rule, unused names, and limits."""

from __future__ import annotations

from dataclasses import replace

import pytest

from maskwright.errors import GrammarError, LimitError
from maskwright.grammar.dialects.detect import Dialect
from maskwright.grammar.dialects.read import read_grammar
from maskwright.grammar.dialects.special import GrammarTokens
from maskwright.grammar.regular.derivative import contains
from maskwright.grammar.rules.tree import Rules, SpecialToken, Terminal
from maskwright.limits import DEFAULT_LIMITS

LARK = "start: /a/\nother: /b/\n"
GBNF = 'root ::= "a"\nother ::= "b"\n'
EBNF = "first ::= 'a'\nother ::= 'b'\n"


def reads(rules: Rules, text: str) -> bool:
    body = rules.rules[rules.start]
    assert isinstance(body, Terminal)
    return contains(body.language, text)


@pytest.mark.parametrize(
    ("text", "dialect", "start", "expected"),
    [
        (LARK, "lark", None, "a"),
        (LARK, "lark", "other", "b"),
        (LARK, None, None, "a"),
        (GBNF, "gbnf", None, "a"),
        (GBNF, "gbnf", "other", "b"),
        (GBNF, None, None, "a"),
        (EBNF, "ebnf", None, "a"),
        (EBNF, "ebnf", "other", "b"),
        # In EBNF `root` is the start wherever it stands; only without it is it the first rule.
        ("other ::= 'b'\nroot ::= 'a'\n", "ebnf", None, "a"),
    ],
)
def test_start(text: str, dialect: Dialect | None, start: str | None, expected: str) -> None:
    rules = read_grammar(text, dialect, start=start).rules
    assert [letter for letter in "ab" if reads(rules, letter)] == [expected]


@pytest.mark.parametrize(
    ("text", "dialect"), [(LARK, "lark"), (GBNF, "gbnf"), ("start: <x>\n", "lark")]
)
def test_dialect_and_unused_names(text: str, dialect: Dialect) -> None:
    found = read_grammar(text, tokens=GrammarTokens({"<x>": 3}))
    assert found.dialect == dialect
    assert found.unused == (("other",) if "other" in text else ())


def test_mistakes_in_schemas_stand_at_the_names_of_rules() -> None:
    grammar = """
%import common.INT
start: a b INT
a: %json {"items": {"minimum": 1, "minimum": 5}} "x"
b: %json {"enum": null, "type": "null"} | /[[:digit:]]/ // %json {"a": 1, "a": 2}
"""
    found = read_grammar(grammar, "lark")
    assert {(each.pointer, each.rule) for each in found.remarks()} == {
        *(("a", "repeated-name"), ("b", "null-keyword"), ("b", "posix-class"))
    }
    assert {each.pointer for each in found.remarks("/format/grammar")} == {"/format/grammar"}
    (note,) = (each.note for each in found.remarks() if each.rule == "repeated-name")
    assert note.startswith("in a schema of %json, at /items/minimum: 'minimum' stands 2 times")


@pytest.mark.parametrize(
    ("text", "dialect"),
    [("start: <x>", "lark"), ("root ::= <x>", "gbnf"), ("root ::= <x>", "ebnf")],
)
def test_special_tokens(text: str, dialect: Dialect) -> None:
    rules = read_grammar(text, dialect, tokens=GrammarTokens({"<x>": 3})).rules
    assert rules.rules[rules.start] == SpecialToken(((3, 3),))


@pytest.mark.parametrize(
    ("text", "dialect", "start", "reason"),
    [
        ("", "lark", None, "the grammar has no rules"),
        ("# nothing\n", "gbnf", None, "the grammar has no rules"),
        ("", "ebnf", None, "the grammar has no rules"),
        ("first: /a/", "lark", None, "no rule 'start'"),
        ('first ::= "a"', "gbnf", None, "no rule 'root'"),
        (EBNF, "ebnf", "third", "no rule 'third' to start with; there are: first, other"),
        ("start: <x>", "lark", None, "no token <x>"),
    ],
)
def test_faults(text: str, dialect: Dialect, start: str | None, reason: str) -> None:
    with pytest.raises(GrammarError, match=reason):
        read_grammar(text, dialect, start=start)


def test_limits() -> None:
    limits = replace(DEFAULT_LIMITS, grammar_length=len(LARK))
    assert read_grammar(LARK, limits=limits).dialect == "lark"
    with pytest.raises(LimitError, match="a grammar of 23 characters") as caught:
        read_grammar(LARK + " ", limits=limits)
    assert caught.value.limit == "grammar_length"
    with pytest.raises(LimitError, match="more than 1 rules"):
        read_grammar("start: a\na: /b/", limits=replace(DEFAULT_LIMITS, grammar_rules=1))
