"""Sets of characters: each escape and class, its set in both syntaxes, and faults with places."""

from __future__ import annotations

import re
from string import ascii_letters, digits

import pytest

from maskwright.errors import RegexError
from maskwright.grammar.pattern.flags import Flags
from maskwright.grammar.pattern.parse import parse_pattern
from maskwright.grammar.pattern.tree import Class

ECMA, PYTHON = Flags(), Flags(syntax="python")
IGNORE = Flags(ignore_case=True)
TRIED = "".join(map(chr, range(0x180))) + "\u0660\u1e9e\u2028\u212a\u3000日\ufeff\U0001f600"


def members(text: str, flags: Flags) -> str:
    tree = parse_pattern(text, flags=flags)
    assert isinstance(tree, Class)
    return "".join(c for c in TRIED if any(low <= ord(c) <= high for low, high in tree.ranges))


@pytest.mark.parametrize(
    "text",
    [
        *(
            r"\d",
            r"\D",
            r"\w",
            r"\W",
            r"\s",
            r"\S",
            r"\x41",
            r"\u0041",
            r"\U00000041",
            r"\0",
            r"\a",
        ),
        *(
            r"\141",
            r"\101",
            r"\.",
            r"\é",
            "[abc]",
            "[^abc]",
            "[a-c]",
            "[]a]",
            "[^]a]",
            "[a-]",
            "[-a]",
        ),
        *(
            r"[\]a]",
            r"[\d_]",
            r"[^\s\w]",
            r"[\x41-\x43]",
            r"[\b]",
            r"[\-a]",
            r"[^\D]",
            "[a^]",
            "[é-ü]",
        ),
    ],
)
def test_classes_of_python_are_those_of_re(text: str) -> None:
    assert members(text, PYTHON) == "".join(c for c in TRIED if re.fullmatch(text, c))
    ascii_only = Flags(syntax="python", ascii=True)
    assert members(text, ascii_only) == "".join(c for c in TRIED if re.fullmatch(text, c, re.A))


@pytest.mark.parametrize("text", ["k", "[a-c]", "[^a-c]", "é", "[é-ü]", "ß", r"\w", r"[\W]", "ſ"])
def test_case_is_ignored_as_in_re(text: str) -> None:
    flags = Flags(syntax="python", ignore_case=True)
    assert members(text, flags) == "".join(c for c in TRIED if re.fullmatch(text, c, re.I))


@pytest.mark.parametrize(
    ("text", "flags", "characters"),
    [
        (r"\d", ECMA, "0123456789"),
        (r"[^\D5]", ECMA, "012346789"),
        (r"\s", ECMA, "\t\n\v\f\r \xa0\u2028\u3000\ufeff"),
        (r"\cA", ECMA, "\x01"),
        (r"\cz", ECMA, "\x1a"),
        (r"\u{1F600}", ECMA, "\U0001f600"),
        (r"\uD83D\uDE00", ECMA, "\U0001f600"),
        (r"[\uD83D\uDE00a]", ECMA, "a\U0001f600"),
        (r"\uFEFF", ECMA, "\ufeff"),
        (r"\0", ECMA, "\0"),
        ("[^]", ECMA, TRIED),
        ("[]", ECMA, ""),
        (
            r"[\w-a]",
            Flags(ascii=True),
            f"-_{digits}{ascii_letters}",
        ),
        ("k", IGNORE, "Kk"),
        ("k", Flags(ignore_case=True, unicode=True), "Kk\u212a"),
        (r"[^k]", IGNORE, TRIED.replace("k", "").replace("K", "")),
        (r"\N{LATIN SMALL LETTER A WITH GRAVE}", PYTHON, "à"),
        (r"\p{Sc}", ECMA, "$¢£¤¥"),
        (r"[\P{L}]", ECMA, "".join(c for c in TRIED if not c.isalpha())),
    ],
)
def test_a_set_and_its_characters(text: str, flags: Flags, characters: str) -> None:
    assert members(text, flags) == "".join(sorted(characters))


@pytest.mark.parametrize(
    ("text", "flags", "position", "message"),
    [
        ("a[b", ECMA, 1, "not closed"),
        ("a[]", PYTHON, 1, "not closed"),
        ("a[b-a]", ECMA, 3, "wrong order"),
        (r"a[\d-b]", PYTHON, 2, "on both sides"),
        (r"a\xg0", ECMA, 1, "2 hexadecimal digits"),
        (r"a\u12", ECMA, 1, "4 hexadecimal digits"),
        (r"a\u{110000}", ECMA, 1, "code point"),
        (r"a\U00110000", PYTHON, 1, "code point"),
        (r"a\N{NOBODY}", PYTHON, 1, "no character named 'NOBODY'"),
        (r"a\400", PYTHON, 1, "octal"),
        (r"a\q", ECMA, 1, r"unknown escape \\q"),
        (r"a[\q]", PYTHON, 2, r"unknown escape \\q"),
        (r"a\pL", ECMA, 1, r"written \\p\{Name\}"),
        (r"a\p{Nobody}", ECMA, 1, "Nobody"),
        (r"a[\1]", ECMA, 2, "octal"),
    ],
)
def test_a_fault_and_its_place(text: str, flags: Flags, position: int, message: str) -> None:
    with pytest.raises(RegexError, match=message) as caught:
        parse_pattern(text, flags=flags)
    assert caught.value.position == position
