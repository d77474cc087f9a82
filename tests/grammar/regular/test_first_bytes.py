"""The bytes with which strings begin."""

from __future__ import annotations

import pytest

from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.regular.derivative import first_bytes
from maskwright.grammar.regular.terms import EMPTY, EPSILON, Regular, intersection, words


@pytest.mark.parametrize(
    ("term", "characters"),
    [
        (EMPTY, ""),
        (EPSILON, ""),
        (full_match("ab"), "a"),
        (full_match("a?b"), "ab"),
        (full_match("(x|é|日)*"), "xé日"),
        (words(["", "no", "né", "ja"]), "nj"),
        (intersection(full_match("[ab]c"), full_match("[bé].")), "b"),
        (full_match("(?!a)[a-c]"), "bc"),
        (full_match("(?!ab)a[bc]|\U0001f600"), "a\U0001f600"),
        (intersection(full_match("a(b|c)|ba"), full_match("a[^bc]|b.")), "b"),
    ],
)
def test_first_bytes(term: Regular, characters: str) -> None:
    found = [byte for byte in range(256) if first_bytes(term) >> byte & 1]
    assert found == sorted({character.encode()[0] for character in characters})
