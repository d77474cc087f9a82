from __future__ import annotations

from maskwright.mask import compile_regex
from maskwright.vocab import Vocabulary
from maskwright.workbench.reading import read_text
from maskwright.workbench.tokens import token_text, tokens_of, traced

TOKENS = [b"a", b"b", b"ab", b"abc", b"\xc3", b"\xa9", b""]


def test_the_tokens_that_may_follow() -> None:
    vocabulary = Vocabulary(TOKENS, eos=6)
    grammar = compile_regex("a(bc|b)?é?", vocabulary)
    assert tokens_of(read_text(grammar, b"").matcher) == ([0, 2, 3], ["a", "ab", "abc"], 7)
    assert tokens_of(read_text(grammar, b"ab").matcher).texts == ["\\xc3", "<end>"]
    assert tokens_of(read_text(grammar, b"ab\xc3").matcher).ids == [5]


def test_tokens_as_text() -> None:
    assert token_text("é".encode()) == "é"
    assert token_text(b"\xff\n") == "\\xff\n"
    assert token_text(b"", is_end=True) == "<end>"


TRACED = [b"a", b"b", b"c", b"ab", b"bc", b""]


def test_each_token_of_a_text() -> None:
    grammar = compile_regex("abc|b", Vocabulary(TRACED, eos=5))
    rows = [row[:5] for row in traced(grammar, b"abc")]
    # The fewest tokens spell the text: "a" or "ab", then the rest, which is forced.
    assert [row[1] for row in rows] in (["ab", "c", "<end>"], ["a", "bc", "<end>"])
    assert rows[0][2] == 3  # a, ab, b
    assert [row[3] for row in rows] == [True, True, True]
    assert [row[4] for row in rows] == [False, True, False]


def test_the_first_token_that_is_not_allowed_is_the_last() -> None:
    grammar = compile_regex("ab", Vocabulary(TRACED, eos=5))
    rows = [*traced(grammar, b"ca")]
    assert [(row.text, row.is_allowed) for row in rows] == [("c", False)]
    assert [row.text for row in traced(grammar, b"ab")] == ["ab", "<end>"]
