"""Ignored text before a terminal: pieces, where they end, and what of them is nullable."""

from __future__ import annotations

import pytest

from maskwright.grammar.dialects.lower import not_empty, skipping
from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.regular.derivative import contains
from maskwright.grammar.regular.terms import EMPTY, EPSILON, complement


@pytest.mark.parametrize(
    ("ignored", "text", "accepted", "rejected"),
    [
        (" ", "a", ["a", " a", "   a"], ["", " ", "a ", "aa"]),
        (" ", "", ["", " ", "  "], ["a"]),
        (" *", "a", ["a", "  a"], [" ", ""]),
        ("-|\\+\\+", "a", ["a", "-++-a"], ["+a", "-+a"]),
        # A piece goes on as long as it can.
        ("#[a-z]*", "b", ["b"], ["#b", "#ab"]),
        ("#[a-z]*", "1", ["1", "#1", "#ab1", "##1"], ["#", "a1"]),
        ("#[a-z]*", "", ["", "#", "#ab#"], ["a"]),
        ("#[a-z]*;", "b", ["#;b", "#a;b"], ["#b", "#ab"]),
        ("ab|abab", "a", ["a", "ababa"], ["aba", "ab"]),
        ("ab|abac", "ad", ["ad"], ["abad"]),
    ],
)
def test_skipping(ignored: str, text: str, accepted: list[str], rejected: list[str]) -> None:
    found = skipping(full_match(ignored), full_match(text) if text else EPSILON)
    assert [each for each in accepted + rejected if contains(found, each)] == accepted


def test_nothing_to_ignore() -> None:
    text = full_match("a")
    assert skipping(EMPTY, text) is text
    assert skipping(EPSILON, text) is text


@pytest.mark.parametrize(
    ("pattern", "accepted", "rejected"),
    [
        ("a", ["a"], ["", "aa"]),
        ("a*", ["a", "aa"], ["", "b"]),
        ("(ab)?", ["ab"], ["", "a"]),
    ],
)
def test_not_empty(pattern: str, accepted: list[str], rejected: list[str]) -> None:
    found = not_empty(full_match(pattern))
    assert [each for each in accepted + rejected if contains(found, each)] == accepted


def test_not_empty_of_the_empty_text_alone() -> None:
    assert not_empty(EPSILON) is EMPTY


def test_complements_are_not_plain() -> None:
    plain, other = full_match("a"), complement(full_match("a"))
    assert skipping(plain, plain).plain
    assert skipping(plain, other).plain is other.plain
    assert not_empty(full_match("a*")).plain
