"""Special tokens in grammars."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from itertools import product

import pytest

from maskwright import Vocabulary, compile_grammar
from maskwright.errors import GrammarError, LimitError
from maskwright.grammar.dialects.detect import Dialect
from maskwright.grammar.dialects.read import read_grammar
from maskwright.grammar.dialects.special import (
    GrammarTokens,
    _within,  # pyright: ignore[reportPrivateUsage]
)
from maskwright.limits import Limits, Work
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


def test_reading_many_tokens_is_counted_work() -> None:
    """Each name was sought among all tokens, and each range gone through, uncounted: a grammar of
    two megabytes, which is allowed, took minutes."""
    looked: list[int] = []

    class Texts(tuple[bytes, ...]):
        """Texts that note how often they are gone through."""

        __slots__ = ()

        def __reversed__(self) -> Iterator[bytes]:
            looked.append(len(self))
            return reversed(tuple(self))

        def index(self, *_: object) -> int:
            looked.append(len(self))
            return super().index(*_)  # type: ignore[arg-type]

    size = 10_000
    tokens = GrammarTokens(texts=Texts(f"<{number}>".encode() for number in range(size)))
    with Work(Limits(work=2_000)):
        read_grammar("root ::= " + " ".join(["<9999>"] * 100), tokens=tokens)
    assert looked == [size]
    overlapping = ",".join([f"0-{size}"] * 100)
    with Work(Limits(work=4_000)):
        read_grammar(f"root ::= <[{overlapping}]>", tokens=tokens)
    with pytest.raises(LimitError), Work(Limits(work=4_000)):
        read_grammar("root ::= " + f"<[0-{size}]> " * 10, tokens=tokens)


def test_ids_in_ranges_that_overlap() -> None:
    tokens = GrammarTokens({"<x>": 6}, texts=[b"a", b"b", b"c", b"d"])
    assert _within(((2, 3), (0, 2), (1, 1), (6, 99)), tokens) == [0, 1, 2, 3, 6]
    assert _within(((7, 99), (5, 5)), tokens) == [5]
    rng = random.Random(0)
    for _ in range(200):
        lows = [rng.randrange(9) for _ in range(rng.randrange(1, 5))]
        ranges = tuple((low, low + rng.randrange(4)) for low in lows)
        wanted = {n for low, high in ranges for n in range(low, high + 1) if n < 7}
        assert _within(ranges, tokens) == sorted(wanted)


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
