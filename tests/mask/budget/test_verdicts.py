"""Which tokens of a group are asked for, and how far one speaks for the others."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright import Grammar, compile_json_schema, compile_regex
from maskwright.automaton.machine.exits import Configuration
from maskwright.mask.budget.verdicts import MARGIN, MOST_CHECKED, Verdict, verdicts
from tests.matching import EVERY_BYTE, configuration

DISTINCT: Any = {"type": "array", "items": {"type": "string"}, "uniqueItems": True}


def json(schema: Any) -> Grammar:
    return compile_json_schema(schema, EVERY_BYTE, whitespace="compact")


class Asked:
    """What `verdicts` gives for every token that is allowed after a text, but for the backslash,
    with which an escape of any letter may begin."""

    def __init__(self, grammar: Grammar, text: bytes, verdict: Verdict) -> None:
        self.asked: list[tuple[bytes, int]] = []

        def noted(here: Configuration, reached: bytes, margin: int) -> bool:
            assert here == configuration(grammar, reached)
            if reached[-1:] != b"\\":
                self.asked.append((reached, margin))
            return verdict(here, reached, margin)

        here = configuration(grammar, text)
        self.groups = grammar.walker.tokens_needing_more_than(here, -1)
        passed = verdicts(grammar.budgets.costs, here, text, self.groups, noted)
        self.passed = {bytes([token]) for token in self.groups.tokens[passed].tolist()}
        self.passed.discard(b"\\")


@pytest.mark.parametrize(
    ("pattern", "refused", "passed", "asked"),
    [
        ("[a-c]x|[de]y", b"", b"abcde", [b"a", b"d"]),
        ("[a-c]x|[de]y", b"a", b"de", [b"a", b"d"]),
        ("[a-c]x|[de]y", b"b", b"abcde", [b"a", b"d"]),  # a speaks for b
        ("[a-c]x|[de]y", b"ad", b"", [b"a", b"d"]),
        ("ax|by|cx", b"a", b"b", [b"a", b"b"]),  # tokens of two groups in turn
    ],
)
def test_the_first_token_speaks_for_its_group(
    pattern: str, refused: bytes, passed: bytes, asked: list[bytes]
) -> None:
    grammar = compile_regex(pattern, EVERY_BYTE)
    found = Asked(grammar, b"", lambda _, text, __: text not in {bytes([each]) for each in refused})
    assert found.passed == {bytes([each]) for each in passed}
    assert sorted(found.asked) == [(text, 0) for text in asked]


def test_a_small_group_is_asked_one_by_one_where_the_text_decides() -> None:
    schema = {**DISTINCT, "items": {"type": "string", "pattern": "^[a-e]x*$"}}
    text = b'["a","'
    found = Asked(
        json(schema),
        text,
        lambda _, reached, __: reached[-1:] != b"d",
    )
    assert found.passed == {b"a", b"b", b"c", b"e"}
    assert sorted(found.asked) == [(text + bytes([each]), 0) for each in b"abcde"]


LETTERS = b"abcdefghijklmnopqrstuvwxyz"
LARGE = json({**DISTINCT, "items": {"type": "string", "pattern": "^([b-z]x*|aax)$"}})
"""Its items begin with a letter of a large group, or with a."""


def test_a_token_with_a_margin_speaks_for_a_large_group() -> None:
    text = b'["'
    found = Asked(LARGE, text, lambda _, reached, __: reached[-1:] != b"q")
    assert found.passed == {bytes([each]) for each in LETTERS}
    assert (text + b"b", MARGIN) in found.asked
    assert not any(reached[-1:] == b"c" for reached, _ in found.asked)


def test_of_a_large_group_without_a_margin_the_first_are_checked() -> None:
    text = b'["'
    found = Asked(LARGE, text, lambda _, reached, margin: margin == 0 and reached[-1:] != b"d")
    checked = LETTERS[1 : 1 + MOST_CHECKED]
    assert found.passed == {bytes([each]) for each in b"a" + checked} - {b"d"}
    asked = {reached[-1:] for reached, margin in found.asked if margin == 0}
    assert asked == {bytes([each]) for each in b"a" + checked}


def test_a_token_that_repeats_an_item_fails_without_being_asked() -> None:
    text = b'["a","a'
    found = Asked(json(DISTINCT), text, lambda _, __, ___: True)
    assert b'"' not in found.passed
    assert b"b" in found.passed
    assert not any(reached == text + b'"' for reached, _ in found.asked)
