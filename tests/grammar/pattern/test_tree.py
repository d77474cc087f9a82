"""The syntax of patterns: what is read how, and where what can't be read is pointed at."""

from __future__ import annotations

import re
import sys
import unicodedata

import pytest

from maskwright.errors import LimitError, RegexError
from maskwright.grammar.pattern import characters
from maskwright.grammar.pattern.parse import parse_pattern
from maskwright.grammar.pattern.translate import full_match, search
from maskwright.grammar.regular.derivative import derivative
from maskwright.limits import Limits

REFUSED = [
    ("(", 0, "not closed"),
    ("a(b", 1, "not closed"),
    ("a)", 1, "unmatched"),
    ("*a", 0, "nothing to repeat"),
    ("a|+", 2, "nothing to repeat"),
    ("^*", 0, "nothing to repeat"),
    ("a**", 2, "quantifier after a quantifier"),
    ("a{3,1}", 1, "wrong order"),
    ("[b-a]", 2, "wrong order"),
    ("ab[", 2, "not closed"),
    ("[a\\", 0, "not closed"),
    ("a\\", 1, "backslash"),
    ("\\q", 0, "unknown escape"),
    ("\\x4", 0, "hexadecimal"),
    ("\\u00g0", 0, "hexadecimal"),
    ("\\u{110000}", 0, "code point"),
    ("\\p{Nope}", 0, "Nope"),
    ("\\pL", 0, "\\p{"),
    (r"(a)\1", 3, "back-references"),
    (r"(?<n>a)\k<n>", 7, "back-references"),
    ("(?<=a(?=b))b", 0, "lookbehind"),
    ("a(?<!a$)b", 1, "lookbehind"),
    ("(?i)a", 0, "not supported"),
    ("(?<>a)", 3, "group name"),
]


@pytest.mark.parametrize(("text", "position", "reason"), REFUSED, ids=[r[0] for r in REFUSED])
def test_refused(text: str, position: int, reason: str) -> None:
    with pytest.raises(RegexError, match=re.escape(reason)) as raised:
        parse_pattern(text)
    assert raised.value.position == position
    *_, shown, caret = str(raised.value).splitlines()
    assert shown == f"  {text}"
    assert caret == "  " + " " * position + "^"


READ = [
    ("a{", ["a{"], ["a"]),
    ("a{,2}", ["a{,2}"], ["aa"]),
    ("a{x}", ["a{x}"], []),
    ("]", ["]"], []),
    ("}", ["}"], []),
    (r"\.\*\/\-", [".*/-"], ["a*/-"]),
    (r"[\b]", ["\b"], ["b"]),
    (r"[a\-z]", ["a", "-", "z"], ["b"]),
    (r"[\w-]", ["-", "a"], [" "]),
    (r"[^]", ["a", "\n"], [""]),
    (r"\cA\t\n\0", ["\x01\t\n\x00"], []),
    (r"\u0061\u{1F600}\x62", ["a😀b"], []),
    (r"\uD83D\uDE00", ["😀"], []),
    (".", ["é", "😀", "\t"], ["\n", "\r", "\u2028", ""]),
    (r"\s", [" ", "\u00a0", "\ufeff", "\u2003"], ["\u200b", "a"]),
    (r"\d", ["7"], ["٣"]),
    (r"\w", ["_", "Z"], ["é"]),
    ("(?P<year>a)(?<x>b)(?:c)", ["abc"], []),
    ("é?", ["é", ""], ["e"]),
]


@pytest.mark.parametrize(("text", "inside", "outside"), READ, ids=[r[0] for r in READ])
def test_read(text: str, inside: list[str], outside: list[str]) -> None:
    term = full_match(text)
    assert [derivative(term, s).nullable for s in inside] == [True] * len(inside)
    assert [derivative(term, s).nullable for s in outside] == [False] * len(outside)


@pytest.mark.parametrize("name", ["L", "Lu", "Letter", "gc=Nd", "P", "Zs", "General_Category=Sc"])
def test_unicode_properties(name: str) -> None:
    category = {"Letter": "L"}.get(name, name.rpartition("=")[2])
    term, opposite = full_match(rf"\p{{{name}}}"), full_match(rf"\P{{{name}}}")
    for point in [*range(0, 0x3000, 17), *range(0x3000, sys.maxunicode, 997)]:
        expected = unicodedata.category(chr(point)).startswith(category)
        assert derivative(term, chr(point)).nullable is expected, hex(point)
        assert derivative(opposite, chr(point)).nullable is not expected, hex(point)


SEARCHED = [
    ("b", ["b", "abc", "ab"], ["", "a"]),
    ("^b", ["b", "bc"], ["ab"]),
    ("b$", ["ab"], ["b\n", "ba"]),
    ("", ["", "a"], []),
    ("^$", [""], ["\n"]),
    (r"\bcat\b", ["cat", "a cat.", "-cat-"], ["cats", "concat", "_cat"]),
    ("a(?!b)", ["a", "ac", "aba"], ["ab", "b"]),
    ("^(?=.*[A-Z])(?=.*[0-9]).{4,}$", ["aB3d", "9ZZZ"], ["abcd", "AB3", "ABCD"]),
    ("a|^b", ["ca", "b"], ["cb"]),
]


@pytest.mark.parametrize(("text", "inside", "outside"), SEARCHED, ids=[r[0] for r in SEARCHED])
def test_searched(text: str, inside: list[str], outside: list[str]) -> None:
    term = search(text)
    assert [derivative(term, s).nullable for s in inside] == [True] * len(inside)
    assert [derivative(term, s).nullable for s in outside] == [False] * len(outside)


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("a" * 101, "pattern_length"),
        ("ab" * 20, "pattern_terms"),
        ("(" * 13 + "a" + ")" * 13, "schema_depth"),
    ],
)
def test_limits(text: str, limit: str) -> None:
    limits = Limits(pattern_length=100, pattern_terms=30, schema_depth=12)
    with pytest.raises(LimitError, match=limit) as raised:
        parse_pattern(text, limits)
    assert raised.value.limit == limit


def test_every_code_point_has_its_category() -> None:
    """Also those that are not looked up one by one."""
    categories = characters._categories()
    assert sum(high - low + 1 for ranges in categories.values() for low, high in ranges) == 0x110000
    for category, ranges in characters._UNIFORM:
        for low, high in ranges:
            found = {unicodedata.category(chr(point)) for point in range(low, high + 1)}
            assert found == {category}
