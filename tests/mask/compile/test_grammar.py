"""Grammars as clients send them: dialect, start, special tokens, report and refusals."""

from __future__ import annotations

import pickle
import re
from itertools import accumulate, product
from math import inf
from typing import Any

import pytest

from maskwright import Vocabulary, compile_grammar
from maskwright.errors import (
    GrammarError,
    InputError,
    LimitError,
    UnsatisfiableGrammarError,
    UnsupportedGrammarError,
)
from maskwright.limits import Limits
from maskwright.mask.compile import rules as compiler
from tests.matching import BYTES, EVERY_BYTE, allowed, matches, vocabulary

SPECIAL = Vocabulary((*BYTES, b"<tool>", b"<end>"), special=[256], eos=257)

ACCEPTED: list[tuple[str, dict[str, Any], list[str], list[str]]] = [
    # text, options, texts that match and texts that don't
    ('start: "a" x?\nx: "b"', {}, ["a", "ab"], ["", "b", "abb"]),
    ('start: "a" x?\nx: "b"', {"start": "x"}, ["b"], ["a", "ab"]),
    ('start: "a"', {"dialect": "lark"}, ["a"], ["b"]),
    ('root ::= "a" x*\nx ::= [b-d]', {}, ["a", "abcd"], ["", "ae"]),
    ('root ::= "a" x*\nx ::= [b-d]', {"dialect": "gbnf"}, ["a", "abcd"], ["", "ae"]),
    ("first ::= 'a' x\nx ::= 'b' | 'c'", {}, ["ab", "ac"], ["a", "b"]),
    ("first ::= 'a' x\nx ::= 'b' | 'c'", {"dialect": "ebnf", "start": "x"}, ["b", "c"], ["ab"]),
    # `root` comes before the first rule.
    ("first ::= 'a'\nroot ::= 'b'", {"dialect": "ebnf"}, ["b"], ["a"]),
]


@pytest.mark.parametrize(("text", "options", "accepted", "rejected"), ACCEPTED, ids=str)
def test_texts(text: str, options: Any, accepted: list[str], rejected: list[str]) -> None:
    grammar = compile_grammar(text, EVERY_BYTE, **options)
    assert [each for each in accepted if not matches(grammar, each)] == []
    assert [each for each in rejected if matches(grammar, each)] == []


REPORTS: list[tuple[str, str, list[str]]] = [
    ('start: "a"', "lark, 1 rule", []),
    ('start: x\nx: "b"\ny: "c"\nZ: "d"', "lark, 2 rules", ["y", "Z"]),
    ('root ::= x\nx ::= "b"\ny ::= x', "gbnf, 2 rules", ["y"]),
    ("root ::= 'a'", "ebnf, 1 rule", []),
]


@pytest.mark.parametrize(("text", "note", "unused"), REPORTS)
def test_the_report_names_dialect_and_unused_rules(text: str, note: str, unused: list[str]) -> None:
    report = compile_grammar(text, EVERY_BYTE).report
    assert [(entry.keyword, entry.note) for entry in report.enforced] == [("grammar", note)]
    assert [entry.keyword for entry in report.annotations] == unused
    assert {entry.note for entry in report.annotations} <= {"not used"}
    assert report.warnings == ()


REFUSED: list[tuple[str, dict[str, Any], type[Exception], str]] = [
    ('start: "a"', {"dialect": "peg"}, InputError, "one of auto, lark, gbnf, ebnf"),
    ('start: "a"', {"dialect": None}, InputError, "one of auto, lark, gbnf, ebnf"),
    ('start: "a"', {"dialect": "gbnf"}, GrammarError, "begins with name ::="),
    ('start: "a"', {"start": "x"}, GrammarError, "no rule 'x' to start with"),
    ('start: "a" y', {}, GrammarError, "y is not defined"),
    ('start: "a" start', {}, UnsatisfiableGrammarError, "generates no text"),
    ('start: "aaa"', {"limits": Limits(grammar_length=5)}, LimitError, "grammar_length"),
    ('start: x\nx: "b"', {"limits": Limits(grammar_rules=1)}, LimitError, "grammar_rules"),
    ("start: <none>", {}, GrammarError, "no token <none>"),
    ("start: <end>", {}, GrammarError, "ends the text"),
]


@pytest.mark.parametrize(("text", "options", "kind", "message"), REFUSED, ids=str)
def test_refusals(text: str, options: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message) as raised:
        compile_grammar(text, SPECIAL, **options)
    assert type(raised.value) is kind


@pytest.mark.parametrize("text", ['start: "a" <tool>', 'start: "a" <[256]>'])
def test_special_tokens_are_those_of_the_vocabulary(text: str) -> None:
    matcher = compile_grammar(text, SPECIAL).matcher()
    assert matcher.accept(ord("a"))
    assert allowed(matcher) == {256}
    assert matcher.accept(256)
    assert allowed(matcher) == {257}


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ('start: start "a"', "none of its alternatives comes to an end", (1, "start")),
        ('\nstart: "a" start | start "b"', "none of its alternatives comes", (2, "start")),
        (
            'start: (start "b")~2 | "a" c\nc: start "d"',
            "needs it again; add one that doesn't",
            (1, "sta"),
        ),
        (
            'root ::= a\na ::= b\nb ::= a "x"',
            "needs 'a', which needs 'b', which needs 'a' again",
            (2, "a"),
        ),
        ('start: "a" x\nx: %json {"not": {}}', "it needs 'x', which matches nothing", (2, "x")),
        (
            "start: a0\n" + "\n".join(f'a{n}: "x" a{n + 1}' for n in range(30)) + '\na30: a0 "z"',
            "'a1', which needs 'a2', which needs …, which needs 'a28'",
            (2, "a0"),
        ),
    ],
)
def test_a_grammar_without_a_text_is_refused_at_the_rule_that_needs_itself(
    text: str, message: str, place: tuple[int, str]
) -> None:
    with pytest.raises(UnsatisfiableGrammarError, match=re.escape(message)) as raised:
        compile_grammar(text, EVERY_BYTE)
    again = pickle.loads(pickle.dumps(raised.value))
    assert str(again) == str(raised.value)
    first, shown, caret = str(again).split("\n")
    assert first.endswith(f"(line {place[0]}, column 1)")
    assert shown.startswith(f"  {place[1]}")
    assert caret == "  ^"


def test_a_count_that_no_text_can_hold_meets_a_limit_and_lets_texts_be_read() -> None:
    rules = f'many: nest~{10**30}\nnest: "x" nest "y" | "z"'
    grammar = compile_grammar(f'start: "b" | "c" many\n{rules}', EVERY_BYTE)
    with pytest.raises(LimitError, match="of the rule 'many' has more than 200,000"):
        _ = grammar.min_tokens
    assert matches(grammar, "b")
    assert not matches(grammar, "cxzy")


def test_rules_that_exhaust_the_stack_meet_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(*arguments: object, **options: object) -> None:
        raise RecursionError

    monkeypatch.setattr(compiler, "compile_rules", exhausted)
    with pytest.raises(LimitError, match="nest too deep") as raised:
        compile_grammar('start: "a"', EVERY_BYTE)
    assert raised.value.limit == "schema_depth"


@pytest.mark.parametrize(
    ("grammar", "pattern", "most"),
    [
        # The group of the pattern is the text whose tokens are counted.
        ('start: "a" g "!"\ng[max_tokens=2]: /[ab]*/', "a([ab]*)!", 2),
        ('start: "a" g "!"\ng[max_tokens=1, stop="bb"]: /[ab]*/', "a((?:a|b(?!b))*)!", 1),
        ('start: "a" g "b"\ng[max_tokens=2, suffix="!"]: /[ab]*/', "a([ab]*)!b", 2),
        ("start: g\ng[max_tokens=3]: /[ab]+/", "([ab]+)", 3),
    ],
)
def test_bounds_on_tokens(grammar: str, pattern: str, most: int) -> None:
    """Of all short sequences of tokens exactly those within the bound are texts. A token counts
    that has a part of the text."""
    vocab = vocabulary("aa", "ab", "b!", "!b", "ba", alphabet="ab!")
    compiled, known = compile_grammar(grammar, vocab), vocab.tokens[:-1]
    for size in range(1, 6):
        for tokens in product(range(len(known)), repeat=size):
            text = b"".join(known[token] for token in tokens).decode()
            expected = _counted(text, [len(known[token]) for token in tokens], pattern) <= most
            matcher = compiled.matcher()
            read = all(token in allowed(matcher) and matcher.accept(token) for token in tokens)
            assert (read and matcher.accepting) is expected, [known[token] for token in tokens]


def _counted(text: str, sizes: list[int], pattern: str) -> float:
    """How many tokens of these sizes have a part of the group; infinite if nothing matches."""
    found = re.fullmatch(pattern, text)
    if found is None:
        return inf
    ends = list(accumulate(sizes))
    begin, end = found.span(1)
    return sum(at - size < end and at > begin for at, size in zip(ends, sizes, strict=True))


def test_tokens_that_can_not_be_counted() -> None:
    grammar = "start: /[a-z]*/ g\ng[max_tokens=2]: /[a-z]*/"
    with pytest.raises(UnsupportedGrammarError, match="the tokens of 'g' can't be counted"):
        compile_grammar(grammar, EVERY_BYTE)
