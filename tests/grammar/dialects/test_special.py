"""Special tokens in grammars."""

from __future__ import annotations

import pytest

from maskwright import Vocabulary, compile_grammar
from maskwright.errors import GrammarError
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


REFUSED = [
    ("start: <nope>", 8, "it has <think>, </think>, <|tool|>, <|end|>"),
    ("start: <|end|>", 8, "may follow where the grammar ends"),
    ("start: <[259]>", 8, "write the text"),
    ("start: <[5]>", 8, "write the text"),
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
