"""Which characters are the same but for case: all of Unicode against Python's `re`."""

from __future__ import annotations

import re
import sys

from maskwright.grammar.pattern import characters
from maskwright.grammar.pattern.characters import Casing, closed


def twins(character: str, casing: Casing) -> str:
    """The character and those that differ from it in case alone."""
    ranges = closed(((ord(character), ord(character)),), casing)
    return "".join(chr(point) for low, high in ranges for point in range(low, high + 1))


def test_no_character_beyond_the_last_looked_at_has_a_case() -> None:
    rest = "".join(map(chr, range(characters._CASED_UP_TO + 1, sys.maxunicode + 1)))
    assert rest.lower() == rest.upper() == rest


def test_pythons_relation() -> None:
    points = (
        chr(point) for point in range(characters._CASED_UP_TO) if not 0xD800 <= point < 0xE000
    )
    cased = "".join(c for c in points if c.lower() != c or c.upper() != c)
    found = {c: "".join(re.findall(re.escape(c), cased, re.IGNORECASE)) for c in cased}
    assert {c: twins(c, "python") for c in cased} == found


def test_unicodes_relation_keeps_the_dotless_i_apart() -> None:
    assert set(twins("i", "unicode")) == {"i", "I"}
    assert twins("\u0131", "unicode") == "\u0131"
    assert set(twins("s", "unicode")) == {"s", "S", "ſ"}
    assert set(twins("ß", "unicode")) == {"ß", "ẞ"}


def test_the_relation_of_ecma() -> None:
    assert set(twins("k", "ecma")) == {"k", "K"}
    assert set(twins("s", "ecma")) == {"s", "S"}
    assert set(twins("é", "ecma")) == {"é", "É"}
    assert set(twins("ß", "ecma")) == {"ß"}
    assert set(twins("σ", "ecma")) == {"σ", "ς", "Σ"}
    assert set(twins("ǆ", "ecma")) == {"ǆ", "ǅ", "Ǆ"}


def test_ascii_alone() -> None:
    assert closed(((0x59, 0x62), (0xC9, 0xC9)), "ascii") == (
        (0x41, 0x42),
        (0x59, 0x62),
        (0x79, 0x7A),
        (0xC9, 0xC9),
    )
