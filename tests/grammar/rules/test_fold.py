"""Folding of regular parts of a grammar into single terminals."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.regular.terms import EPSILON, Regular, alt, char, concat, repeat
from maskwright.grammar.rules.fold import MOST_PARTS, fold_rules
from maskwright.grammar.rules.tree import (
    Bounded,
    Capture,
    Choice,
    Concat,
    Expression,
    Ref,
    Repeat,
    Rules,
    SpecialToken,
    Terminal,
)
from maskwright.grammar.schema.tree import Schema
from tests.grammar.spelling import Reader

A, B = char("a"), char("b")
TA, TB, TC = Terminal(A), Terminal(B), Terminal(char("c"))
TOKEN = SpecialToken(((7, 7),))
BOUNDED = Bounded(TA, 3, 1)
X = Ref("x")


def folded(start: Expression, **others: Expression) -> Expression:
    return fold_rules(Rules("start", {"start": start, **others})).rules["start"]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (Concat((TA, TB)), Terminal(concat(A, B))),
        (Concat(()), Terminal(EPSILON)),
        (Choice((TA, TB)), Terminal(alt(A, B))),
        (Choice(()), Choice(())),
        (Repeat(TA, 2, 5), Terminal(repeat(A, 2, 5))),
        (Repeat(Choice((TA, TB)), 1), Terminal(repeat(alt(A, B), 1))),
        # Bounds in the wrong order have no text and stay as they are.
        (Repeat(TA, 3, 2), Repeat(TA, 3, 2)),
        # Only what is not regular stays by itself.
        (
            Concat((TA, TB, TOKEN, TB, TA)),
            Concat((Terminal(concat(A, B)), TOKEN, Terminal(concat(B, A)))),
        ),
        (Choice((TOKEN, TA, TB)), Choice((Terminal(alt(A, B)), TOKEN))),
        (Repeat(TOKEN, 0, 2), Repeat(TOKEN, 0, 2)),
        (Concat((TA, BOUNDED)), Concat((TA, BOUNDED))),
        (
            Concat((TA, Capture("c", Concat((TA, TB)), "b"))),
            Concat((TA, Capture("c", Terminal(concat(A, B)), "b"))),
        ),
    ],
)
def test_expressions(expression: Expression, expected: Expression) -> None:
    assert folded(expression) == expected


def test_rules() -> None:
    both = Terminal(concat(A, B))
    assert folded(Concat((TA, X)), x=TB) == both
    assert folded(X, x=Ref("y"), y=Concat((TA, TB))) == both
    assert folded(Concat((TA, X)), x=TOKEN) == Concat((TA, X))
    nested = Choice((Concat((TA, X, TB)), TOKEN))
    assert folded(X, x=nested) == X


@pytest.mark.parametrize(
    ("body", "accepted", "rejected"),
    [
        (Choice((Concat((X, TB)), TA)), ["a", "abb"], ["b", "ba"]),
        (Choice((Concat((TB, X)), TA)), ["a", "bba"], ["b", "ab"]),
        (Choice((Concat((X, TB, X)), TA)), ["a", "aba", "ababa"], ["ab", "aa"]),
        (Choice((Concat((TB, X)), Concat((X, TC)), TA)), ["bac", "bbacc"], ["bc", "cab"]),
        (Choice((Concat((TB, X, TC)), TA)), ["a", "bac", "bbacc"], ["ba", "bbac"]),
    ],
)
def test_recursion(body: Expression, accepted: list[str], rejected: list[str]) -> None:
    rules = fold_rules(Rules("x", {"x": body}))

    def no_value(schema: Schema, value: Any) -> bool:
        return False

    def reads(text: str) -> bool:
        return bool(Reader(text, no_value, rules.rules).readings(rules.rules["x"]))

    assert [text for text in accepted + rejected if reads(text)] == accepted


@pytest.mark.parametrize(
    "body",
    [
        Choice((Concat((X, TB, X)), TA)),
        Choice((Concat((TB, X)), Concat((X, TC)), TA)),
    ],
)
def test_recursion_that_is_regular(body: Expression) -> None:
    assert isinstance(folded(Concat((TA, X)), x=body), Terminal)


def test_right_recursion_that_is_not_regular_stays_recursive() -> None:
    body = Choice((Concat((TOKEN, X)), TA))
    assert folded(body, x=body) == Choice((TA, Concat((TOKEN, X))))
    assert fold_rules(Rules("x", {"x": body})).rules["x"] == Choice((TA, Concat((TOKEN, X))))


def test_terminals_of_many_parts_are_not_joined() -> None:
    half: Regular = full_match("ab" * (MOST_PARTS // 4))
    joined = folded(Concat((Terminal(half), Terminal(half))))
    assert joined == Terminal(concat(half, half))
    more = folded(Concat((Terminal(half), Terminal(half), TA)))
    assert more == Concat((Terminal(concat(half, half)), TA))
    letters = [Terminal(char(chr(0x4E00 + n))) for n in range(MOST_PARTS + 1)]
    assert isinstance(folded(Choice(tuple(letters[:-1]))), Terminal)
    assert isinstance(folded(Choice(tuple(letters))), Choice)
