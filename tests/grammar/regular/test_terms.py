"""The normal form of terms: repeats that stand next to each other."""

from __future__ import annotations

import pytest

from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.regular.derivative import arcs, contains
from maskwright.grammar.regular.terms import (
    EMPTY,
    Regular,
    char,
    complement,
    concat,
    intersection,
    repeat,
    words,
)

A, B = char("a"), words(["ab", "b"])


@pytest.mark.parametrize(
    ("term", "same"),
    [
        (concat(repeat(A, 0, 1), repeat(A, 0, 1), repeat(A, 0, 1)), repeat(A, 0, 3)),
        (concat(repeat(A), repeat(A, 1)), repeat(A, 1)),
        (concat(repeat(A, 2, 3), repeat(A, 1, 5), B), concat(repeat(A, 3, 8), B)),
        (concat(repeat(A, 0, 4), repeat(A, 2)), repeat(A, 2)),
        (concat(repeat(B, 0, 1), concat(repeat(B, 0, 1), A)), concat(repeat(B, 0, 2), A)),
    ],
)
def test_repeats_of_one_body_are_one(term: Regular, same: Regular) -> None:
    assert term is same


def test_lists_of_words_together_are_one_list() -> None:
    left, right = words(["ab", "b", "cd", "d"]), words(["b", "cd", "e"])
    assert intersection(left, right) is words(["b", "cd"])
    assert intersection(left, complement(right)) is words(["ab", "d"])
    assert intersection(left, right, complement(words(["b"]))) is words(["cd"])
    assert intersection(left, complement(words(["ab", "b"])), complement(words(["cd"]))) is words(
        ["d"]
    )
    assert intersection(words(["a"]), words(["b"])) is EMPTY
    assert intersection(right, complement(right)) is EMPTY
    third = repeat(char("d"))
    assert intersection(left, third, complement(right)) is intersection(words(["ab", "d"]), third)


def test_repeats_of_others_stay() -> None:
    term = concat(repeat(A, 0, 1), repeat(char("b"), 0, 1), repeat(A, 0, 1))
    accepted = [text for text in ("", "a", "b", "ab", "ba", "aa", "aba") if contains(term, text)]
    assert accepted == ["", "a", "b", "ab", "ba", "aa", "aba"]
    assert not any(contains(term, text) for text in ("bb", "aaa", "bab"))


def test_many_optional_characters_are_few_terms() -> None:
    term = full_match("a?" * 600 + "b")
    for _ in range(600):
        [(_, _, term), _] = arcs(term)
    assert contains(term, "b")
    assert not contains(term, "ab")
