"""Recursion at the ends of rules against the loops that it becomes."""

from __future__ import annotations

import pytest

from maskwright import compile_grammar
from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.rules.fold import is_right_recursive, repeated
from maskwright.grammar.rules.tree import (
    Capture,
    Choice,
    Concat,
    Expression,
    Ref,
    Repeat,
    Terminal,
)
from tests.matching import EVERY_BYTE, matches

N = Terminal(full_match("n"))
X = Ref("x")


@pytest.mark.parametrize(
    ("body", "accepted", "rejected"),
    [
        ('x "," x | "n"', "n n,n n,n,n", ", n, ,n nn n,,n"),
        ('x x | "n" | "m"', "n m nm mmn", "o no"),
        ('x x | x | "" | "n"', "n nn", "m"),
        ('x "!" | "n"', "n n! n!!", "! nn !n"),
        ('"-" x | "n"', "n -n --n", "- n- -"),
        ('"-" x | x "!" | x "+" x | "n"', "n -n! --n!! n+-n! -n!+n", "n- n!n + -+n n+"),
        ('x "[" x "]" | "n"', "n n[n] n[n[n]][n]", "n[] [n] n[n"),
        ('x "+" x "-" x | "n"', "n n+n-n n+n-n+n-n n+n+n-n-n", "n+n n-n n+n-n-n"),
        ('("(" x ")" | x ("+" | "*") x) | "n"', "n (n) (n)+n*n (n*(n))", "(n n) n(n)"),
        ('x "a" x "b" | x "c" | "n"', "n nanb nc ncanbc nancb", "nan nab canb"),
    ],
)
def test_texts_are_the_same(body: str, accepted: str, rejected: str) -> None:
    grammar = compile_grammar(f"start: x\nx: {body}\n", EVERY_BYTE, dialect="lark")
    for text in accepted.split():
        assert matches(grammar, text), text
    for text in rejected.split():
        assert not matches(grammar, text), text


def test_captures_stay_around_what_they_are_around() -> None:
    body: Expression = Choice((Concat((X, Capture("c", N))), N))
    loop = Repeat(Choice((Concat((Capture("c", N),)),)))
    assert repeated("x", body) == Concat((Repeat(Choice(())), Choice((N,)), loop))
    around = Capture("c", body)
    assert repeated("x", around) is around


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (Choice((Concat((N, X)), N)), True),
        (Choice((Concat((X, N, X)), N)), False),
        (Choice((Concat((X, N)), N)), False),
        (Concat((N, Ref("y"))), False),
    ],
)
def test_which_end(body: Expression, expected: bool) -> None:
    assert is_right_recursive("x", body) is expected
