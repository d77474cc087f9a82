"""Patterns as strings: whatever `format: regex` allows can be parsed."""

from __future__ import annotations

import pytest

from maskwright.errors import RegexError
from maskwright.grammar.formats import expressions
from maskwright.grammar.pattern.translate import search
from maskwright.grammar.regular.derivative import contains

PATTERNS = [
    *("", "a", "a|b", "|", "a*", "a+?", "a??", "a{2}", "a{2,}", "a{2,10}?", "^a$", r"\ba\B"),
    *("(a)", "(?:a|b)*", "(?=a)b", "(?!a)b", "(?<=a)b", "(?<!a)b", "((((a))))", "(?<n>a)"),
    *("x(?<$>a)y", "[]", "[^]", "[abc]", "[^a-z0-9A-F]", r"[\d\-x]", "[-a]", "[^-a-z]", "[a-]"),
    *("[-]", "[.^$]", r"[\]]", "[-^]", r"\d\D\s\S\w\W", r"\n\r\t\v\f", r"\cA", r"\x41", r"\u0041"),
    *(r"\u{41}", r"\u{0041}", r"\p{L}", r"\P{Lu}", r"\p{Script=Greek}", r"\.\*\/\\", "ü", "é{3}"),
]
NO_PATTERNS = [
    *("(", ")", "a)", "(a", "*", "+", "?", "a**", "a{2,1}", "a{10,9}", "^*", "$+", r"\b?", "(?a)"),
    *("(?", "(?<", "(?<n>a", "[", "[a", "[z-a]", "[9-0]", "\\", r"\e", r"\c1", r"\x4", r"\u004"),
    *(r"\u{}", r"\p{Nope}", r"\pL", r"\a"),
]
ONLY_WITHOUT_U = ["a{", "a}", "{", "{1}", "a{,2}", "(?=a)*", "]", r"\-"]
"""What ECMA-262 allows without the `u` flag (annex B), and `pattern` with it."""
LEFT_OUT = [
    *(r"(a)\1", r"\k<n>(?<n>a)", "(?<n>a)(?<m>b)", "(((((a)))))"),
    *("[!-~]", "a{1000}", "a{09,10}", "[--a]"),
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns(pattern: str) -> None:
    assert contains(expressions.regex(), pattern)
    search(pattern)


@pytest.mark.parametrize("pattern", NO_PATTERNS)
def test_what_is_no_pattern(pattern: str) -> None:
    assert not contains(expressions.regex(), pattern)
    with pytest.raises(RegexError):
        search(pattern)


@pytest.mark.parametrize("pattern", [*ONLY_WITHOUT_U, *LEFT_OUT])
def test_what_is_left_out(pattern: str) -> None:
    assert not contains(expressions.regex(), pattern)
