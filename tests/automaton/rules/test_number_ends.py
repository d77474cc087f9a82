"""Numbers that can't end, because only digits may follow them, are refused; others are not."""

from __future__ import annotations

import json

import pytest

from maskwright import compile_grammar
from maskwright.errors import UnsupportedGrammarError
from maskwright.grammar.rules.tree import Ref, Rules
from maskwright.grammar.schema.tree import Json
from maskwright.mask.compile.rules import compile_rules
from tests.automaton.rules.networks import alt, seq, text, value
from tests.matching import EVERY_BYTE, matches

INTEGER: dict[str, Json] = {"type": "integer"}
UP_TO_99: dict[str, Json] = INTEGER | {"minimum": 0, "maximum": 99}


@pytest.mark.parametrize(
    ("schema", "after"),
    [
        (INTEGER, "5x"),
        (INTEGER, "[0-9]+;"),
        ({"type": "number"}, "5x"),
        (INTEGER | {"minimum": 1, "multipleOf": 7}, "5x"),
        ({"anyOf": [INTEGER, {"type": "string"}]}, "5x"),
    ],
)
@pytest.mark.parametrize("numbers", ["any", "plain"])
def test_a_number_that_only_digits_follow_is_refused(
    schema: Json, after: str, numbers: str
) -> None:
    rules = {"start": seq(text("a"), Ref("n"), text(after)), "n": value(schema, numbers=numbers)}
    with pytest.raises(UnsupportedGrammarError, match=r"number in the rule 'n' can't end.*maximum"):
        compile_rules(Rules("start", rules), EVERY_BYTE)


def test_the_same_number_has_to_stand_beside_it_wherever_it_stands() -> None:
    number = value(INTEGER)
    rules = {"start": seq(text("a"), alt(seq(number, text("5x")), seq(text("b"), number)))}
    with pytest.raises(UnsupportedGrammarError, match="can't end"):
        compile_rules(Rules("start", rules), EVERY_BYTE)


@pytest.mark.parametrize(
    ("schema", "after", "right"),
    [
        (UP_TO_99, '"5x"', "125x"),
        ({"enum": [1, 15]}, '"5x"', "155x"),
        ({"const": 1.5}, '"5x"', "1.55x"),
        (INTEGER, '("5x")?', "12"),
        (INTEGER, '("5" | "x")', "12x"),
        (INTEGER, '"." /[0-9]/', "12.0.5"),
        ({"type": "string"}, '"5x"', '"a"5x'),
        (INTEGER, f'"5x" | %json {json.dumps(INTEGER)} "y"', "12y"),
        (INTEGER, f'"5x" | %json {json.dumps(INTEGER)}', "12"),
    ],
)
def test_a_number_that_can_end_is_not(schema: Json, after: str, right: str) -> None:
    grammar = compile_grammar(f"start: %json {json.dumps(schema)} {after}", EVERY_BYTE)
    assert matches(grammar, right)
