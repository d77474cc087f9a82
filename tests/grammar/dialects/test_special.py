"""Special tokens in grammars."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product

import pytest

from maskwright import Vocabulary, compile_grammar
from maskwright.errors import GrammarError
from maskwright.grammar.dialects.detect import Dialect
from tests.matching import BYTES, allowed

VOCAB = Vocabulary(
    (*BYTES, b"<think>", b"</think>", b"<|tool|>", b"<|end|>"), special=range(256, 260), eos=259
)
THINK, END_THINK, TOOL, EOS = range(256, 260)


def accepts(text: str, tokens: list[int | str], dialect: str) -> bool:
    matcher = compile_grammar(text, VOCAB, dialect=dialect).matcher()  # type: ignore[arg-type]
    for token in tokens:
        steps = [token] if isinstance(token, int) else list(token.encode())
        for step in steps:
            if step not in allowed(matcher) or not matcher.accept(step):
                return False
    return EOS in allowed(matcher)


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        ("root ::= <think> !</think>* </think> [0-9]+", "gbnf"),
        ("root ::= <[256]> !<[257]>* <[257]> [0-9]+", "gbnf"),
        ("start: <think> <[^257]>* </think> /[0-9]+/", "lark"),
        ("start: <[256]> (/(?s:.)/ | <[256,258]>)* <[257-257]> /[0-9]+/", "lark"),
    ],
)
def test_reasoning_before_an_answer(text: str, dialect: str) -> None:
    assert accepts(text, [THINK, "why\n", TOOL, "é", END_THINK, "42"], dialect)
    assert accepts(text, [THINK, END_THINK, "1"], dialect)
    assert not accepts(text, [THINK, END_THINK], dialect)
    assert not accepts(text, ["<think>", END_THINK, "1"], dialect)
    assert not accepts(text, [THINK, "</think>1"], dialect)
    assert not accepts(text, [THINK, EOS, END_THINK, "1"], dialect)


def test_ranges_and_wildcards() -> None:
    assert accepts("start: <[256-257]> <[258,256]>", [END_THINK, TOOL], "lark")
    assert not accepts("start: <[256-257]> <[258,256]>", [TOOL, TOOL], "lark")
    assert accepts("start: <[*]>+", ["a", TOOL], "lark")
    assert not accepts("start: <[*]>+", [], "lark")
    assert accepts("start: <|tool|> %json {}", [TOOL, "[1]"], "lark")
    assert accepts('start: "a" <|tool|> "b"\n%ignore " "', ["a  ", TOOL, " b"], "lark")


ORDINARY = Vocabulary((b"a", b"b", b"ab", b"<", b"t>", b"<t>", b"<s>", b""), special=(6, 7), eos=7)
A, AB, T, S = 0, 2, 5, 6
WITH_TOKENS: list[tuple[str, Dialect, str]] = [
    (f"start: <[{AB}]> <[{A},{S}]>", "lark", "ab(a|S)"),
    (f"start: <[{A}-{AB}]> <t>", "lark", "(a|b|ab)<t>"),
    ("start: X*\nX: <t> /a/", "lark", "(<t>a)*"),
    (f'start: <[^{AB}]>* "<"', "lark", "((?!ab)[ab<t>S])*<"),
    (f"root ::= !<[{AB},{S}]>+", "gbnf", "((?!ab)[ab<t>])+"),
    (f"root ::= <[{A}]> !<[{AB},{T}]>+", "gbnf", "a((?!ab|<t>)[ab<t>S])+"),
    ("root ::= !<t>* <t>", "gbnf", "((?!<t>)[ab<t>S])*<t>"),
    ("root ::= !<s>* <t>", "gbnf", "[ab<t>]*<t>"),
    (f"root ::= Token({AB}, {S}) ExcludeToken({A}, {T})*", "ebnf", "(ab|S)((?!<t>)[b<t>S])*"),
]


def sequences(longest: int) -> Iterator[tuple[int, ...]]:
    return (ids for size in range(longest + 1) for ids in product(range(S + 1), repeat=size))


@pytest.mark.parametrize(("text", "dialect", "meant"), WITH_TOKENS)
def test_an_ordinary_token_stands_for_its_text(text: str, dialect: Dialect, meant: str) -> None:
    """Every sequence of up to 4 tokens, against a pattern in which S is the special token."""
    grammar = compile_grammar(text, ORDINARY, dialect=dialect)
    letters = [*(token.decode() for token in ORDINARY.tokens[:S]), "S"]
    wanted = [ids for ids in sequences(4) if re.fullmatch(meant, "".join(letters[i] for i in ids))]
    assert len(wanted) > 0

    def matches(ids: tuple[int, ...]) -> bool:
        matcher = grammar.matcher()
        return all(map(matcher.accept, ids)) and matcher.accepting

    assert [ids for ids in sequences(4) if matches(ids)] == wanted


REFUSED = [
    ("start: <nope>", 8, "its special tokens are <think>, </think>, <|tool|>, <|end|>"),
    ("start: <|end|>", 8, "may follow where the grammar ends"),
    ("start: <[259]>", 8, "an end token may follow"),
    ("start: <[300-999999999999]>", 8, "none of these ids"),
    ("start: <[97,200]>", 8, "token 200 is a part of a character"),
    ("start: <[^200]>*", 8, "token 200 is a part of a character"),
    ("start: <[^5]>", 8, "can't be counted"),
    ("start: <[5-3]>", 10, "wrong order"),
    ("start: <[x]>", 10, "is a number"),
    ("start: <[256>", 13, "<[5,7-9]>"),
    ("start: <", 8, "<name>"),
    ("start: A\nA: <think>", 4, "no text"),
]


@pytest.mark.parametrize(("text", "column", "reason"), REFUSED, ids=[row[0] for row in REFUSED])
def test_refused(text: str, column: int, reason: str) -> None:
    with pytest.raises(GrammarError) as raised:
        compile_grammar(text, VOCAB)
    assert reason in raised.value.reason
    assert raised.value.column == column
