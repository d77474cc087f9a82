"""Shortest strings: composed, searched for, and of a certain length."""

from __future__ import annotations

import re
from itertools import product

import pytest

from maskwright.errors import LimitError
from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.regular.shortest import shortest
from maskwright.grammar.regular.terms import (
    EMPTY,
    EPSILON,
    Regular,
    alt,
    char,
    complement,
    concat,
    intersection,
    length,
    repeat,
    words,
)


@pytest.mark.parametrize(
    ("term", "text"),
    [
        (EMPTY, None),
        (EPSILON, ""),
        (full_match("[b-z]"), "b"),
        (full_match("(ab|c){2}"), "cc"),
        (full_match("x*"), ""),
        (words(["abc", "zz", "éé"]), "zz"),
        (words(["日本", "abc"]), "abc"),  # the shortest in UTF-8
        (alt(char("日"), words(["ab"])), "ab"),
        (concat(words(["abc", "ab"]), char("!")), "ab!"),
        (repeat(words(["ab", "c"]), 3, 5), "ccc"),
        (intersection(full_match("(aa)+"), full_match("(aaa)+")), "aaaaaa"),
        (intersection(full_match("a+"), full_match("b+")), None),
        (intersection(full_match("日|ab"), complement(words(["x"]))), "ab"),
        (intersection(full_match("[ab]*b"), complement(words(["b"]))), "ab"),
        (intersection(full_match("(ab)*c?"), length(4, 9)), "abab"),
        (intersection(full_match("(ab)+"), length(5, 5)), None),
    ],
)
def test_a_shortest_string(term: Regular, text: str | None) -> None:
    found = shortest(term)
    if text is None or found is None:
        assert found is text
    else:
        assert found == text


@pytest.mark.parametrize("pattern", ["a(?!b)[ab]{2}", "(?=.*bb)[ab]*", "(?!a)(?!b?$)[ab]+", "a|bb"])
def test_none_is_shorter(pattern: str) -> None:
    every = ["".join(each) for size in range(5) for each in product("ab", repeat=size)]
    nearest = next(text for text in every if re.fullmatch(pattern, text))
    found = shortest(full_match(pattern))
    assert found is not None
    assert re.fullmatch(pattern, found)
    assert len(found) == len(nearest)


def test_a_search_is_bounded() -> None:
    far = intersection(full_match("(a{7})+"), full_match("(a{9})+"))
    with pytest.raises(LimitError, match="among 8 states"):
        shortest(far, limit=8)
    with pytest.raises(LimitError):
        shortest(repeat(char("a"), 1000), limit=999)
