"""Where a JSON value and something else may begin: which places are checked, and which are not."""

from __future__ import annotations

import pytest

from maskwright.automaton.rules.value_places import value_places
from maskwright.grammar.rules.tree import Capture, Expression, Ref, Repeat
from tests.automaton.rules.networks import (
    TOKEN,
    A,
    B,
    C,
    X,
    alt,
    item_sets,
    opt,
    seq,
    text,
    value,
    words,
)

V = value({"type": "integer"})
OTHER = value({"type": "string"})
NOTHING = text("(?!)")


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        # A value alone needs no check
        ({"start": V}, set()),
        ({"start": seq(A, V, B)}, set()),
        ({"start": seq(A, B)}, set()),
        ({"start": alt(A, B)}, set()),
        # Beside a text, a token or another value
        ({"start": alt(V, A)}, {"a value"}),
        ({"start": seq(A, alt(V, TOKEN), B)}, {"token value"}),
        ({"start": alt(V, OTHER)}, {"value value"}),
        ({"start": seq(opt(A), V)}, {"a value"}),
        ({"start": seq(text("a*"), V)}, {"'' value"}),
        ({"start": seq(Repeat(A), V)}, {"a value"}),
        ({"start": seq(A, opt(V), B)}, {"b value"}),
        ({"start": seq(A, Capture("c", alt(V, B)))}, {"b value"}),
        # In or after a rule that is called
        ({"start": alt(Ref("p"), A), "p": V}, {"a p"}),
        ({"start": seq(A, Ref("p")), "p": alt(V, B)}, {"b value", "p"}),
        ({"start": seq(Ref("p"), V), "p": opt(A)}, {"p value"}),
        # A place for no copy read, and one for the last copy that is required
        ({"start": seq(Repeat(A, 2, 4), V)}, {"a value"}),
        ({"start": Repeat(alt(V, A), 2, 4)}, {"a value"}),
        # Places that no text reaches
        ({"start": alt(A, seq(NOTHING, alt(V, B)))}, set()),
        ({"start": alt(A, seq(Ref("dead"), X)), "dead": seq(alt(V, B), NOTHING)}, set()),
        (
            {"start": seq(A, alt(V, C), NOTHING)} | {"start": alt(A, seq(B, NOTHING, alt(V, C)))},
            set(),
        ),
    ],
)
def test_places_that_are_checked(rules: dict[str, Expression], expected: set[str]) -> None:
    sets = item_sets(rules)
    places = [[item.symbol for item in sets.items_of(kernel)] for kernel in value_places(sets)]
    assert {words(sets.network, symbols) for symbols in places} == expected
