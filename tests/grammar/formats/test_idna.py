"""Internationalised host names: the rules of RFC 5892 and 5893, each with a name that breaks it."""

from __future__ import annotations

import random
from unicodedata import combining, decomposition, is_normalized

import idna  # a dependency of httpx
import pytest

from maskwright.grammar.formats.idna import _kind, _kinds, _LabelState, _pairs, idn_hostname
from maskwright.grammar.regular.derivative import contains

RULES: list[tuple[str, list[str], list[str]]] = [
    ("ascii", ["a", "a-b.c", "xn-a", "a" * 63], ["", "-a", "a-", "a_b", "a..b", "a.", "a" * 64]),
    ("reserved", ["a--b", "abc--d"], ["ab--cc", "a---b", "b\u00fc--a", "\u00fc.ab--cc"]),
    ("punycode", [], ["xn--a", "xn--bcher-kva.example", "a.XN--b"]),
    (
        "letters and marks",
        ["bücher", "ü1", "日本語", "한국", "ß"],
        ["Bücher", "ü!", "ü_", "♥"],
    ),
    ("no mark first", ["aा", "का"], ["\u0903a", "\u093eक"]),
    ("hyphens", ["ü-ü", "aüb--b"], ["-ü", "ü-", "aü--b"]),
    ("dots", ["ü.ü", "ü。b", "ü．b", "ü｡b"], ["ü。。b", "。ü"]),
    ("middle dot", ["l·l", "el·la"], ["a·l", "l·a", "·l", "l·"]),
    ("greek keraia", ["α͵β"], ["α͵s", "͵", "α͵"]),
    ("hebrew geresh", ["א׳ב", "א״ב"], ["a׳b", "׳א"]),
    ("katakana middle dot", ["・ぁ", "a・ア", "・日"], ["・", "a・b"]),
    ("joiners", ["क्‍ष", "क्‌ष", "ن‌ب"], ["क‍ष", "a‌b", "‍a", "ا‌ب"]),
    ("arabic digits", ["ب٠٠ب", "ب۰۰ب"], ["ب٠۰ب"]),
    ("right to left", ["אב", "אב1", "ابج"], ["אa", "1א", "aא", "א-"]),
    ("digits beyond ascii", ["१२a", "a१२"], []),
    ("names of both directions", ["אב.גד", "a.b.אב"], ["1a.אב"]),
    ("labels", ["ü.b.c.d"], ["ü.b.c.d.e"]),
    ("length", ["ü" * 11, "a" * 52 + "ü"], ["ü" * 12, "a" * 53 + "ü"]),
    ("accents apart from their letters", ["é"], ["e\u0301", "ü\u0308", "q\u0301"]),
    (
        "marks that compose with some letter",
        ["ক\u09be", "க\u0bbe", "क\u093c", "ん\u3099", "ක\u0dcf"],
        ["ক\u09c7\u09be", "க\u0bc6\u0bbe", "न\u093c", "か\u3099", "ක\u0dd9\u0dcf"],
    ),
    (
        "marks in a row",
        ["ב\u05b0", "ผ\u0e39\u0e49", "ກ\u0eb9\u0ec9", "क\u093c\u094dक"],
        ["ב\u05b0\u05b1", "ผ\u0e49\u0e39", "ກ\u0ec9\u0eb9", "क\u094d\u093cक"],
    ),
    ("exceptions", ["ß", "ς", "〇"], ["ـ", "〱", "〻"]),
    ("compatibility", [], ["ﬁ", "ａ", "①", "㎏", "\u212a"]),
]


@pytest.mark.parametrize(("rule", "accepted", "rejected"), RULES, ids=[rule for rule, *_ in RULES])
def test_rules(rule: str, accepted: list[str], rejected: list[str]) -> None:
    language = idn_hostname()
    assert [ascii(text) for text in accepted if not contains(language, text)] == []
    assert [ascii(text) for text in rejected if contains(language, text)] == []


TOP_LEVEL = [
    *("বাংলা", "இந்தியா", "భారత్", "ಭಾರತ", "ଭାରତ", "ഭാരതം", "ලංකා"),
    *("ভাৰত", "ભારત", "ਭਾਰਤ", "भारत", "भारतम्", "भारोत", "சிங்கப்பூர்"),
    *("இலங்கை", "ไทย", "ລາວ", "рф", "укр", "срб", "бел"),
    *("бг", "мкд", "қаз", "мон", "հայ", "გე", "ελ"),
    *("ευ", "中国", "香港", "台灣", "한국", "みんな", "グーグル"),
    *("السعودية", "ایران", "عمان", "مصر", "قطر", "فلسطين", "پاکستان"),
    *("بھارت", "المغرب", "الجزائر", "تونس", "سودان", "سورية", "بازار"),
    *("شبكة", "موقع", "קום", "ישראל", "कॉम", "संगठन", "ネット"),
    *("コム", "ストア", "닷컴", "삼성", "vermögensberatung", "орг", "онлайн"),
    *("сайт", "дети", "москва", "католик", "كاثوليك", "همراه", "ارامكو"),
    *("امارات", "الاردن"),
]
"""Top-level domains of the root zone (https://data.iana.org/TLD/), in every script that it has."""


@pytest.mark.parametrize("name", TOP_LEVEL)
def test_top_level_domains_are_names(name: str) -> None:
    assert idna.encode(name)
    assert contains(idn_hostname(), name)
    assert contains(idn_hostname(), f"a1.{name}")


def test_marks_stand_where_an_independent_implementation_has_them() -> None:
    """Random letters and marks of one script, most of them in an order that nobody writes."""
    language = idn_hostname()
    scripts: dict[int, list[str]] = {}
    for point in range(0x80, 0x1_2000):
        try:
            idna.check_label(
                f"{chr(point)}" if not combining(chr(point)) else f"\u0915{chr(point)}"
            )
        except idna.IDNAError:
            continue
        scripts.setdefault(point >> 7, []).append(chr(point))
    chance = random.Random(0)
    marked = [each for each in scripts.values() if any(map(combining, each))]
    accepted = refused = 0
    for _ in range(4_000):
        script = chance.choice(marked)
        marks = [each for each in script if combining(each)]
        text = "".join(chance.choice(chance.choice([script, marks])) for _ in range(4))
        if contains(language, text):
            accepted += 1
            assert is_normalized("NFC", text), ascii(text)
            assert idna.encode(text), ascii(text)
        else:
            refused += 1
    assert min(accepted, refused) > 400


def test_no_mark_changes_with_the_character_before_it() -> None:
    """Of all characters that compose or are composed, with all marks."""
    characters = [
        chr(point)
        for ranges in _kinds().values()
        for low, high in ranges
        for point in range(low, high + 1)
    ]
    marks = [each for each in characters if combining(each) or each in _pairs()[0]]
    composed = [each for each in characters if decomposition(each) or each in _pairs()[1]]
    assert len(marks) > 500
    assert len(composed) > 500
    accepted = 0
    for rule, letter in (("", "क"), ("rtl", "ب")):
        first = _LabelState(rule).after(_kind(letter))
        assert first is not None
        following = {each: _kind(each) for each in marks}
        for before in composed:
            state = first.after(_kind(before))
            for mark, kind in following.items() if state is not None else ():
                if state.after(kind) is not None:
                    accepted += 1
                    assert is_normalized("NFC", before + mark), ascii(before + mark)
    assert accepted > 100_000
