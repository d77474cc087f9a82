"""Which bytes spell characters, as text and inside a JSON string; the judge is Python's decoder."""

from __future__ import annotations

import json

import pytest

from maskwright.automaton.leaf.keys import Text
from maskwright.automaton.leaf.table import LeafTable
from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.regular.terms import Regular
from tests.leaf_states import label_after


def accepts(term: Regular, data: bytes, *, inside: bool) -> bool:
    """Inside a string, `data` has the closing quote."""
    leaves = LeafTable()
    return label_after(leaves, leaves.state(Text(inside, term)), data) is not None


ANY = full_match("[^]")
SEQUENCES = [
    b"\x00", b"\x7f", b"\x80", b"\xbf", b"\xc0\x80", b"\xc1\xbf", b"\xc2\x80", b"\xdf\xbf",
    b"\xc2", b"\xc2\xc0", b"\xe0\x80\x80", b"\xe0\x9f\xbf", b"\xe0\xa0\x80", b"\xec\xbf\xbf",
    b"\xed\x9f\xbf", b"\xed\xa0\x80", b"\xed\xbf\xbf", b"\xee\x80\x80", b"\xef\xbf\xbf",
    b"\xe1\x80", b"\xe1\x80\xc0", b"\xf0\x80\x80\x80", b"\xf0\x8f\xbf\xbf", b"\xf0\x90\x80\x80",
    b"\xf3\xbf\xbf\xbf", b"\xf4\x8f\xbf\xbf", b"\xf4\x90\x80\x80", b"\xf5\x80\x80\x80", b"\xff",
]  # fmt: skip


def is_one_character(data: bytes) -> bool:
    try:
        return len(data.decode()) == 1
    except UnicodeDecodeError:
        return False


@pytest.mark.parametrize("data", SEQUENCES)
def test_utf8(data: bytes) -> None:
    assert accepts(ANY, data, inside=False) == is_one_character(data)
    must_be_escaped = data[0] < 0x20
    assert accepts(ANY, data + b'"', inside=True) == (
        is_one_character(data) and not must_be_escaped
    )


@pytest.mark.parametrize(
    ("pattern", "characters"),
    [
        ("[a-z]", "az"),
        ("[é-ÿ]", "éÿ"),
        ("[а-я]", "ая"),
        ("[\\u0800-\\uffff]", "\u0800\ud7ff\ue000\uffff"),
        ("[😀-😎]", "😀😎"),
        ("[\\u{10000}-\\u{10ffff}]", "\U00010000\U0010ffff"),
    ],
)
def test_the_ends_of_ranges_and_their_neighbours(pattern: str, characters: str) -> None:
    term = full_match(pattern)
    for character in characters:
        for point in (ord(character) - 1, ord(character), ord(character) + 1):
            if not 0xD800 <= point < 0xE000 and point <= 0x10FFFF:
                low, high = ord(min(characters)), ord(max(characters))
                data = chr(point).encode()
                assert accepts(term, data, inside=False) == (low <= point <= high), hex(point)


ESCAPES = [
    '\\"', "\\\\", "\\/", "\\b", "\\f", "\\n", "\\r", "\\t", "\\u0041", "\\u00e9", "\\u00E9",
    "\\ud83d\\ude00", "\\uD83D\\uDE00", "\\a", "\\v", "\\0", "\\x41", "\\U0041", "\\u004",
    "\\u00g0", "\\ud83d", "\\ude00", "\\ud83d\\u0041", "\\ud83d\\ud83d", "\\ud83dx", '"',
]  # fmt: skip


@pytest.mark.parametrize("spelled", ESCAPES)
def test_escapes(spelled: str) -> None:
    try:
        read = json.loads(f'"{spelled}"')
        one = len(read) == 1 and not 0xD800 <= ord(read) < 0xE000
    except json.JSONDecodeError:
        read, one = "", False
    assert accepts(ANY, spelled.encode() + b'"', inside=True) == one
    if one:
        other = full_match("[^" + f"\\u{{{ord(read):x}}}" + "]")
        assert not accepts(other, spelled.encode() + b'"', inside=True), "it is that character"
