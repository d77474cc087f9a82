"""Internationalised host names: the rules of RFC 5892 and 5893, each with a name that breaks it."""

from __future__ import annotations

import pytest

from maskwright.grammar.formats.idna import idn_hostname
from maskwright.grammar.regular.derivative import contains

RULES: list[tuple[str, list[str], list[str]]] = [
    ("ascii", ["a", "a-b.c", "xn-a", "a" * 63], ["", "-a", "a-", "a_b", "a..b", "a.", "a" * 64]),
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
    ("combining characters", ["é"], ["e\u0301", "ü\u0308"]),
    ("marks in a row", ["ב\u05b0"], ["ב\u05b0\u05b1"]),
    ("exceptions", ["ß", "ς", "〇"], ["ـ", "〱", "〻"]),
    ("compatibility", [], ["ﬁ", "ａ", "①", "㎏", "\u212a"]),
]


@pytest.mark.parametrize(("rule", "accepted", "rejected"), RULES, ids=[rule for rule, *_ in RULES])
def test_rules(rule: str, accepted: list[str], rejected: list[str]) -> None:
    language = idn_hostname()
    assert [ascii(text) for text in accepted if not contains(language, text)] == []
    assert [ascii(text) for text in rejected if contains(language, text)] == []
