"""Properties of characters: against the `regex` package's tables, on all code points."""

from __future__ import annotations

import json
from importlib.metadata import metadata
from importlib.resources import files

import pytest

from maskwright.errors import RegexError
from maskwright.grammar.pattern import characters
from maskwright.grammar.pattern.parse import parse_pattern
from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.regular import charset
from maskwright.grammar.regular.derivative import derivative

DATA = json.loads(
    (files("maskwright.grammar.pattern") / "unicode_properties.json").read_text(encoding="utf-8")
)
EVERY_CHARACTER = "".join(map(chr, range(0x110000)))


@pytest.mark.parametrize(
    "name",
    [
        *("Script=Greek", "sc=Grek", "scx=Grek", "Script_Extensions=Greek", "sc=Latn", "scx=Latin"),
        *("sc=Zyyy", "scx=Common", "sc=Qaai", "scx=Zinh", "sc=Zzzz", "Script=Han", "scx=Hira"),
        *("scx=Kana", "Script=Old_South_Arabian", "sc=Phag", "Script=SignWriting"),
        *(
            "Alphabetic",
            "Alpha",
            "White_Space",
            "space",
            "Uppercase",
            "Lower",
            "ID_Start",
            "ID_Continue",
        ),
        *("Emoji", "ExtPict", "Math", "Gr_Base", "NChar", "UIdeo", "AHex", "Cased", "CWU"),
    ],
)
def test_as_regex_has_it(name: str) -> None:
    regex = pytest.importorskip("regex")
    if f"Unicode {DATA['unicode']}" not in regex_summary():
        pytest.skip("regex has another version of Unicode")
    found = [match.span() for match in regex.finditer(rf"\p{{{name}}}+", EVERY_CHARACTER)]
    assert characters.property_ranges(name) == tuple((low, high - 1) for low, high in found)


def regex_summary() -> str:
    return str(metadata("regex").get_payload())


KNOWN = [
    (r"\p{Script=Greek}+", ["Ωμέγα"], ["Omega", "Ωa", "", "͂"]),
    (r"\p{scx=Grek}+", ["Ωμέγα", "͂"], ["Omega"]),
    (r"\P{sc=Grek}", ["a", "😀"], ["Ω"]),
    (r"[\p{Script=Han}\p{sc=Hira}_]+", ["漢字かな_"], ["カ"]),
    (r"[^\p{sc=Cyrl}]", ["a"], ["д"]),
    (r"\p{Emoji_Presentation}", ["😀"], ["a", "1"]),
    (r"\p{White_Space}", ["\u2003", " ", "\x85"], ["\ufeff", "a"]),
    (r"\p{Assigned}", ["a"], ["\u0378"]),
    (r"\p{gc=cntrl}", ["\x00"], ["a"]),
]


@pytest.mark.parametrize(("text", "inside", "outside"), KNOWN, ids=[r[0] for r in KNOWN])
def test_in_a_pattern(text: str, inside: list[str], outside: list[str]) -> None:
    term = full_match(text)
    assert [derivative(term, s).nullable for s in inside] == [True] * len(inside)
    assert [derivative(term, s).nullable for s in outside] == [False] * len(outside)


REFUSED = [
    ("Script=Cyrilic", "did you mean 'Script=Cyrillic'?"),
    ("script=greek", "did you mean 'Script=Greek'?"),
    ("sc=Old South Arabian", "did you mean 'sc=Old_South_Arabian'?"),
    ("Scirpt=Greek", "did you mean 'Script=Greek'?"),
    ("Greek", "did you mean 'Script=Greek'?"),
    ("alphabetic", "did you mean 'Alphabetic'?"),
    ("Whitespace", "did you mean 'White_Space'?"),
    ("letters", "did you mean 'Letter'?"),
    ("Script=", "unknown Unicode property 'Script='"),
    ("gc=Any", "unknown"),
    ("Emoji=Yes", "unknown"),
    ("Block=Arrows", "unknown"),
    ("RGI_Emoji", "one of strings"),
]


@pytest.mark.parametrize(("name", "reason"), REFUSED, ids=[r[0] for r in REFUSED])
def test_unknown_names(name: str, reason: str) -> None:
    with pytest.raises(RegexError) as raised:
        parse_pattern(rf"a\p{{{name}}}")
    assert raised.value.position == 1
    assert reason in str(raised.value)


def test_every_character_has_one_script() -> None:
    scripts = [characters.property_ranges(f"Script={name}") for name in DATA["scripts"]]
    assert all(scripts)
    ranges = [pair for found in scripts if found is not None for pair in found]
    assert sum(high - low + 1 for low, high in ranges) == 0x110000
    assert charset.normal(ranges) == charset.EVERY


def test_short_names_are_names() -> None:
    for short, long in DATA["script_aliases"].items():
        for key in ("sc", "scx"):
            assert characters.property_ranges(f"{key}={short}") == characters.property_ranges(
                f"{key}={long}"
            )
    for short, long in DATA["binary_aliases"].items():
        assert characters.property_ranges(short) == characters.property_ranges(long) is not None
