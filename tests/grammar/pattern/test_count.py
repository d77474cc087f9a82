"""Counts that patterns and grammars write in digits."""

from __future__ import annotations

import pytest

from maskwright import Grammar, Vocabulary, compile_grammar, compile_regex
from maskwright.errors import GrammarError
from maskwright.grammar.pattern.cursor import count_of
from tests.matching import BYTES

VOCAB = Vocabulary((*BYTES, b"<|end|>"), special=[256], eos=256)
LONG = "9" * 5_000
"""More digits than Python reads at a time."""


def test_counts() -> None:
    greatest = 10**18 - 1
    texts = ("", "0", "007", "0" * 5_000 + "12", "9" * 18, "1" + "0" * 18, LONG)
    assert list(map(count_of, texts)) == [0, 0, 7, 12, greatest, greatest, greatest]


@pytest.mark.parametrize(
    "text",
    [
        f'root ::= "a"{{{LONG}}} "b"',
        f'start: "a"~{LONG} "b"',
        f'start: "a"~2..{LONG} "b"',
        f'start: "a"{{2,{LONG}}} "b"',
        f"start: /a{{{LONG}}}b/",
    ],
    ids=lambda text: text[:16],
)
def test_a_repeat_of_many_digits_in_a_grammar(text: str) -> None:
    """It was no error of the input, but a failure."""
    check_repeat(compile_grammar(text, VOCAB), text)


def test_a_repeat_of_many_digits_in_a_pattern() -> None:
    for text in (f"a{{{LONG}}}b", f"a{{2,{LONG}}}b"):
        check_repeat(compile_regex(text, VOCAB), text)


def check_repeat(grammar: Grammar, text: str) -> None:
    """After a few times, it may end where only the most of it is so large."""
    matcher = grammar.matcher()
    assert all(matcher.accept(ord("a")) for _ in range(40))
    assert matcher.accept(ord("b")) == ("2," in text or "2.." in text)


def test_an_id_of_many_digits_is_no_token() -> None:
    for item in (f"<[{LONG}]>", f"<[{LONG}-{LONG}]>", f"Token({LONG})"):
        with pytest.raises(GrammarError, match="none of these ids"):
            compile_grammar(f"root ::= {item}", VOCAB)


def test_a_priority_of_many_digits_is_a_high_or_a_low_one() -> None:
    text = f'start: HIGH | LOW\nHIGH.{LONG}: "a"\nLOW.-{LONG}: /[ab]/'
    matcher = compile_grammar(text, VOCAB).matcher()
    assert matcher.accept(ord("b"))
    assert matcher.accepting
