"""Walking and renaming the expressions of a grammar, and what texts they have."""

from __future__ import annotations

from typing import get_args

import pytest

from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.rules.tree import (
    Bounded,
    Capture,
    Choice,
    Concat,
    Cut,
    Expression,
    JsonValue,
    Ref,
    Repeat,
    Rules,
    SpecialToken,
    Terminal,
    all_parts,
    has_such_text,
    may_be_empty,
    renamed,
    rules_with_such_text,
)
from maskwright.grammar.schema.tree import Schema
from tests.ids import named

N = Terminal(full_match("n"))
TOKEN = SpecialToken(((7, 7),))
VALUE = JsonValue(Schema(""))
BOUNDED = Bounded(N, 3, 0)

RENAMED: list[tuple[Expression, Expression]] = [
    (Cut(N), Cut(N)),
    (Ref("x"), Ref("p-x")),
    (N, N),
    (TOKEN, TOKEN),
    (VALUE, VALUE),
    (BOUNDED, BOUNDED),
    (Concat((N, Ref("x"))), Concat((N, Ref("p-x")))),
    (Choice((Ref("x"), Ref("y"))), Choice((Ref("p-x"), Ref("p-y")))),
    (Repeat(Ref("x"), 2, 5), Repeat(Ref("p-x"), 2, 5)),  # its bounds stay
    (Capture("c", Ref("x"), "end"), Capture("c", Ref("p-x"), "end")),  # and a capture's name
    (Repeat(Choice((Concat((Ref("x"),)), N))), Repeat(Choice((Concat((Ref("p-x"),)), N)))),
]


@pytest.mark.parametrize(("expression", "expected"), RENAMED, ids=named)
def test_rules_get_a_prefix(expression: Expression, expected: Expression) -> None:
    assert renamed(expression, "p-") == expected


PARTS: list[tuple[Expression, list[Expression]]] = [
    *((each, [each]) for each in (N, TOKEN, VALUE, BOUNDED, Cut(N), Ref("x"))),
    (Concat((N, Ref("x"))), [Concat((N, Ref("x"))), Ref("x"), N]),
    (Choice((N, TOKEN)), [Choice((N, TOKEN)), TOKEN, N]),
    (Capture("c", TOKEN, "end"), [Capture("c", TOKEN, "end"), TOKEN]),
    (Repeat(Capture("c", N)), [Repeat(Capture("c", N)), Capture("c", N), N]),
    (Concat((N, N)), [Concat((N, N)), N, N]),  # one for each place
]


@pytest.mark.parametrize(("expression", "expected"), PARTS, ids=named)
def test_all_parts(expression: Expression, expected: list[Expression]) -> None:
    found = list(all_parts(expression))
    assert found[0] == expression
    assert sorted(map(repr, found)) == sorted(map(repr, expected))


def test_every_kind_of_expression_has_a_row() -> None:
    kinds = set(get_args(Expression))
    assert {type(expression) for expression, _ in RENAMED} == kinds
    assert {type(expression) for expression, _ in PARTS} == kinds


def test_parts_are_found_at_any_depth() -> None:
    deep: Expression = Ref("x")
    for _ in range(100_000):
        deep = Repeat(deep)
    assert sum(isinstance(part, Ref) for part in all_parts(deep)) == 1


EMPTY = Terminal(full_match("n?"))


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (N, False),
        (EMPTY, True),
        (TOKEN, False),
        (VALUE, False),
        (Ref("empty"), True),
        (Ref("other"), False),
        (Concat(()), True),
        (Concat((EMPTY, Ref("empty"))), True),
        (Concat((EMPTY, N)), False),
        (Choice((N, EMPTY)), True),
        (Choice(()), False),
        (Repeat(N), True),
        (Repeat(N, 1), False),
        (Repeat(EMPTY, 2, 3), True),
        (Repeat(EMPTY, 3, 2), False),  # which has no text at all
        (Capture("c", EMPTY), True),
        (Bounded(EMPTY, 3, 0), True),
        (Cut(EMPTY), True),
    ],
    ids=named,
)
def test_what_may_be_empty(expression: Expression, expected: bool) -> None:
    assert has_such_text(expression, may_be_empty, {"empty"}) is expected


def test_rules_have_texts_by_the_least_fixed_point() -> None:
    bodies: dict[str, Expression] = {
        "start": Concat((Ref("later"), EMPTY)),
        "circle": Choice((Concat((EMPTY, Ref("circle"))), N)),
        "later": Choice((Ref("circle"), Repeat(Ref("start"), 0, 1))),
    }
    rules = Rules("start", bodies)
    assert rules_with_such_text(rules, may_be_empty) == {"start", "later"}
    assert rules_with_such_text(rules, lambda _: True) == {*bodies}
    assert rules_with_such_text(rules, lambda _: False) == {"later"}
