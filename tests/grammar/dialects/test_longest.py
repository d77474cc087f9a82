"""Ends of patterns in terminals: lazy quantifiers, and assertions about the text outside."""

from __future__ import annotations

import pytest

from maskwright.errors import RegexError
from maskwright.grammar.dialects.longest import ends_where_it_can, shortest_first
from maskwright.grammar.pattern.flags import Flags
from maskwright.grammar.pattern.parse import parse_pattern
from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.regular.derivative import contains
from maskwright.grammar.regular.terms import Regular
from maskwright.limits import DEFAULT_LIMITS


def ends(pattern: str) -> Regular:
    tree = parse_pattern(pattern, DEFAULT_LIMITS, Flags(syntax="python"))
    return ends_where_it_can(tree, pattern)


@pytest.mark.parametrize(
    ("pattern", "accepted", "rejected"),
    [
        ("a*", ["", "a", "aaa"], ["b"]),
        ('".*?"', ['""', '"ab"'], ['"', '"a"b"']),
        ("ab*?", ["a"], ["ab"]),
        ("ab+?", ["ab"], ["a", "abb"]),
        ("a{2,5}?", ["aa"], ["a", "aaa"]),
        ("a{2}?b*", ["aa", "aabb"], ["a", "aaa"]),
        ("a??b", ["b", "ab"], ["aab"]),
        # What stands before the first lazy quantifier is greedy.
        ("a*b*?c", ["c", "aac", "abbc"], ["acc"]),
        ("a*;.*?;", [";;", "aa;b;"], [";", "a;;;"]),
        # Each alternative, and each group at the end, ends by itself.
        ("a.*?b|a.*c", ["ab", "axc", "abbc"], ["abb"]),
        ("x*(a.*?b|c)", ["xab", "xc", "xxaab"], ["abb", "cc"]),
        ("(ab*?)*?c", ["c", "abc", "aac"], ["cc"]),
        (".*?b{1,3}", ["b", "ab"], ["bb", "a"]),
    ],
)
def test_texts(pattern: str, accepted: list[str], rejected: list[str]) -> None:
    found = ends(pattern)
    assert [text for text in accepted + rejected if contains(found, text)] == accepted


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("a\\b", "at the text after it"),
        ("a(?!b)", "at the text after it"),
        ("^a", "at the text before it"),
        ("(?<!b)a", "at the text before it"),
        ("a.*?b+", "an unbounded quantifier after a lazy one"),
        ("(a.*?b)+", "an unbounded quantifier after a lazy one, or around it"),
        ("x*(a.*?b)(c+)", "an unbounded quantifier after a lazy one"),
    ],
)
def test_faults(pattern: str, reason: str) -> None:
    with pytest.raises(RegexError, match=reason):
        ends(pattern)


@pytest.mark.parametrize(
    ("pattern", "accepted", "rejected"),
    [
        ("a|ab|bc", ["a", "bc"], ["ab"]),
        ("[ab]*b", ["b", "aab"], ["bb", "abab"]),
        ("a*", [""], ["a"]),
    ],
)
def test_shortest_first(pattern: str, accepted: list[str], rejected: list[str]) -> None:
    found = shortest_first(full_match(pattern))
    assert [text for text in accepted + rejected if contains(found, text)] == accepted
