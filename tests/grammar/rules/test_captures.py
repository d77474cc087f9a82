"""Captures of called rules, written out in the start rule."""

from __future__ import annotations

from dataclasses import replace

import pytest

from maskwright.errors import LimitError
from maskwright.grammar.regular.terms import char
from maskwright.grammar.rules.captures import captures_in_start
from maskwright.grammar.rules.tree import (
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
from maskwright.limits import DEFAULT_LIMITS

A, B = Terminal(char("a")), Terminal(char("b"))
TOKEN = SpecialToken(((7, 7),))
CAPTURED = Capture("c", A, "a")
X, Y = Ref("x"), Ref("y")


def start_rule(**rules: Expression) -> Expression:
    return captures_in_start(Rules("start", rules), DEFAULT_LIMITS).rules["start"]


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ({"start": X, "x": CAPTURED}, CAPTURED),
        ({"start": X, "x": Y, "y": CAPTURED}, CAPTURED),
        ({"start": Concat((X, B)), "x": CAPTURED}, Concat((CAPTURED, B))),
        ({"start": Choice((X, TOKEN)), "x": CAPTURED}, Choice((CAPTURED, TOKEN))),
        ({"start": Repeat(X, 1, 3), "x": CAPTURED}, Repeat(CAPTURED, 1, 3)),
        ({"start": Capture("d", X, "a"), "x": CAPTURED}, Capture("d", CAPTURED, "a")),
        # A rule is written out wherever it is called.
        ({"start": Concat((X, B, X)), "x": CAPTURED}, Concat((CAPTURED, B, CAPTURED))),
        # Rules without captures stay rules.
        ({"start": Concat((X, Y)), "x": CAPTURED, "y": B}, Concat((CAPTURED, Y))),
        ({"start": Concat((CAPTURED, Y)), "y": B}, Concat((CAPTURED, Y))),
        ({"start": Y, "x": CAPTURED, "y": B}, Y),
        # Recursion in the middle stays, and what calls it keeps the call.
        (
            {"start": Concat((X, Y)), "x": Choice((Concat((B, X, B)), CAPTURED)), "y": CAPTURED},
            Concat((X, CAPTURED)),
        ),
        (
            {"start": Y, "y": Concat((X, B)), "x": Choice((Concat((B, X, B)), CAPTURED))},
            Concat((X, B)),
        ),
    ],
)
def test_start_rule(rules: dict[str, Expression], expected: Expression) -> None:
    assert start_rule(**rules) == expected


def test_recursion_at_an_end_becomes_a_loop() -> None:
    found = start_rule(start=X, x=Choice((Concat((CAPTURED, B, X)), CAPTURED)))
    loop = Repeat(Choice((Concat((CAPTURED, B)),)))
    assert found == Concat((loop, Choice((CAPTURED,)), Repeat(Choice(()))))


def test_other_rules_are_unchanged() -> None:
    rules = {"start": Concat((X, Y)), "x": Concat((CAPTURED, Y)), "y": B}
    found = captures_in_start(Rules("start", rules), DEFAULT_LIMITS)
    assert found.start == "start"
    assert {**found.rules, "start": rules["start"]} == rules


def test_limit_of_size() -> None:
    rules: dict[str, Expression] = {"r0": CAPTURED}
    for n in range(1, 5):
        rules[f"r{n}"] = Concat((Ref(f"r{n - 1}"), Ref(f"r{n - 1}")))
    # A capture has two parts; each rule above has twice those of the rule below it, and itself.
    grammar, parts = Rules("r4", rules), 2 * 2**4 + 2**4 - 1
    captures_in_start(grammar, replace(DEFAULT_LIMITS, grammar_nodes=parts))
    with pytest.raises(LimitError, match="the rule 'r4'") as caught:
        captures_in_start(grammar, replace(DEFAULT_LIMITS, grammar_nodes=parts - 1))
    assert caught.value.limit == "grammar_nodes"
