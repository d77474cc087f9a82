from __future__ import annotations

import pytest

from maskwright.mask import compile_json_schema, compile_regex
from maskwright.workbench.continuations import CharacterRanges, in_words, next_characters
from maskwright.workbench.reading import byte_vocabulary

VOCABULARY = byte_vocabulary()
# Characters at the edges of UTF-8's lengths, and some between.
PROBES = "\x00\t\n !\"'09AZ\\az{}\x7f\x80éßπ߿ࠀ\u2028中\ud7ff\ue000\uffff\U00010000😀\U0010ffff"


@pytest.mark.parametrize(
    ("pattern", "prefix"),
    [
        ("[a-c]|z", ""),
        (".", ""),
        ("[^a]", ""),
        ("[α-ω]x", ""),
        ("[α-ωa]x", "a"),
        (r"\w+", "a"),
        ("[\U00010000-\U0010ffff]|[ࠀ-中]", ""),
        ("é|è|ê", ""),
        ("a?", ""),
        ("a", "a"),
    ],
)
def test_a_character_is_allowed_if_and_only_if_its_bytes_are(pattern: str, prefix: str) -> None:
    matcher = compile_regex(pattern, VOCABULARY).matcher()
    assert matcher.accept_bytes(prefix.encode()) == len(prefix.encode())
    found = next_characters(matcher)
    assert found.is_exact
    for character in PROBES:
        data = character.encode()
        assert (character in found) == (matcher.copy().accept_bytes(data) == len(data)), character


def test_ranges_are_joined_and_counted() -> None:
    found = next_characters(compile_regex("[a-cd-fx]|[à-ä]", VOCABULARY).matcher())
    assert found.ranges == ((0x61, 0x66), (0x78, 0x78), (0xE0, 0xE4))
    assert found.count == 12
    assert "".join(found.members()) == "abcdefxàáâãä"


def test_every_character_of_a_string() -> None:
    matcher = compile_json_schema({"type": "string"}, VOCABULARY).matcher()
    matcher.accept_bytes(b'"')
    assert next_characters(matcher).ranges == ((0x20, 0xD7FF), (0xE000, 0x10FFFF))


def test_within_a_character() -> None:
    matcher = compile_regex("é", VOCABULARY).matcher()
    matcher.accept_bytes(b"\xc3")
    assert next_characters(matcher) == CharacterRanges((), is_exact=False, is_within=True)


BEYOND = ((0x80, 0xD7FF), (0xE000, 0x10FFFF))


@pytest.mark.parametrize(
    ("ranges", "may_end", "words"),
    [
        ((), False, "nothing"),
        ((), True, "end of text"),
        (((48, 57),), True, "0-9, end of text"),
        (
            ((9, 10), (13, 13), (32, 32), (44, 44), (125, 125)),
            False,
            "tab, line break, carriage return, space, ',', '}'",
        ),
        (((102, 102), (116, 116)), False, "f, t"),
        (((97, 99),), False, "a-c"),
        (((34, 34), *BEYOND), False, "'\"', any character beyond ASCII"),
        (((34, 34), (0xE9, 0xE9)), False, "'\"', é"),
        (((0x3B1, 0x3C9),), False, "α-ω"),
        (((0x20, 0xD7FF), (0xE000, 0x10FFFF)), False, "any character"),
        (((0, 0xD7FF), (0xE000, 0x10FFFF)), True, "any character, end of text"),
        (((0x20, 0xD7FF),), False, "space-\\x7f, U+0080-U+D7FF"),
        (((1, 1),), False, "\\x01"),
    ],
)
def test_sets_in_words(ranges: tuple[tuple[int, int], ...], may_end: bool, words: str) -> None:
    assert in_words(CharacterRanges(ranges), may_end) == words


def test_long_sets_are_cut_but_the_end_is_reported() -> None:
    many = CharacterRanges(tuple((code, code) for code in range(0, 0x80, 4)))
    assert in_words(many, True).endswith("…, end of text")


def test_what_is_not_known_is_said() -> None:
    assert in_words(CharacterRanges(((97, 97),), is_exact=False), False) == (
        "a, some characters beyond ASCII"
    )
    assert in_words(CharacterRanges((), False, True), False) == "the rest of a UTF-8 character"
