"""Spelling of strings, classes, quantifiers and patterns in the dialects."""

from __future__ import annotations

import pytest

from maskwright.grammar.dialects.detect import Dialect
from maskwright.grammar.dialects.spelling import char_class, pattern, quantifier, string
from maskwright.grammar.regular import charset
from maskwright.grammar.regular.charset import Ranges
from maskwright.grammar.regular.terms import (
    EPSILON,
    Regular,
    alt,
    char,
    chars,
    complement,
    concat,
    repeat,
    words,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", '""'),
        ("aé€", '"aé€"'),
        ('a"\\', r'"a\"\\"'),
        ("\n\r\t", r'"\n\r\t"'),
        ("\x00\x7f\u200b\U000e0001", r'"\x00\x7F\u200B\U000E0001"'),
        ("/[]-^", '"/[]-^"'),
    ],
)
def test_strings(text: str, expected: str) -> None:
    assert string(text) == expected


@pytest.mark.parametrize(
    ("ranges", "dialect", "expected"),
    [
        (charset.of("a"), "gbnf", '"a"'),
        (charset.of("a"), "lark", '"a"'),
        (((97, 99),), "ebnf", "[a-c]"),
        (((97, 99),), "lark", "/[a-c]/"),
        (((97, 98),), "gbnf", "[ab]"),
        (charset.of("/a"), "lark", r"/[\/a]/"),
        (charset.of("/a"), "gbnf", "[/a]"),
        (charset.of("-a!"), "gbnf", "[!a-]"),
        (charset.of("^a"), "gbnf", "[a^]"),
        (charset.of("^\n"), "gbnf", r"[\x5E\n]"),
        (charset.of("[]"), "gbnf", r"[\[\]]"),
        (charset.of("\\a"), "gbnf", r"[a\\]"),
        (charset.of("\x01a"), "gbnf", r"[a\x01]"),
        (charset.complement(charset.of("a")), "gbnf", "[^a]"),
        (charset.complement(charset.of("a-")), "lark", "/[^a-]/"),
        (charset.EVERY, "gbnf", r"[\x00-\U0010FFFF]"),
        # Surrogates count as members wherever that is shorter.
        (((46, 0xD7FF), (0xE000, charset.LAST)), "gbnf", r"[^\x00-,-]"),
    ],
)
def test_classes(ranges: Ranges, dialect: Dialect, expected: str) -> None:
    assert char_class(ranges, dialect) == expected


@pytest.mark.parametrize(
    ("least", "most", "expected"),
    [
        (0, None, "*"),
        (1, None, "+"),
        (0, 1, "?"),
        (1, 1, "{1}"),
        (3, 3, "{3}"),
        (2, None, "{2,}"),
        (0, 4, "{0,4}"),
        (2, 4, "{2,4}"),
    ],
)
def test_quantifiers(least: int, most: int | None, expected: str) -> None:
    assert quantifier(least, most) == expected


AB = concat(char("a"), char("b"))
C = char("c")
DIGIT = chars(((48, 57),))


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        (EPSILON, '""'),
        (AB, '"ab"'),
        (char("/"), '"/"'),
        (DIGIT, "/[0-9]/"),
        (concat(AB, DIGIT), "/ab[0-9]/"),
        (concat(char("/"), DIGIT), r"/\/[0-9]/"),
        (concat(char("."), DIGIT), r"/\.[0-9]/"),
        (repeat(DIGIT, 1, None), "/[0-9]+/"),
        (repeat(AB, 0, None), "/(?:ab)*/"),
        (repeat(repeat(C, 2, 3), 0, None), "/(?:c{2,3})*/"),
        # Options come in the order in which their languages were made, so no other test has these.
        (
            concat(DIGIT, alt(concat(char("@"), char("%")), repeat(char("%"), 2, None))),
            "/[0-9](?:@%|%{2,})/",
        ),
        (repeat(words(["ab", "b."]), 2, 4), r"/(?:ab|b\.){2,4}/"),
        (concat(repeat(C, 0, 1), words(["ab", "b+"])), r"/c?(?:ab|b\+)/"),
    ],
)
def test_patterns(term: Regular, expected: str) -> None:
    assert pattern(term) == expected


def test_what_patterns_cannot_say() -> None:
    assert pattern(complement(AB)) is None
    assert pattern(concat(DIGIT, complement(AB))) is None
    assert pattern(alt(DIGIT, complement(AB))) is None
    assert pattern(repeat(complement(AB), 2, 3)) is None
