from __future__ import annotations

import pytest

from maskwright.mask import compile_json_schema, compile_regex
from maskwright.workbench.characters import CharacterRanges, next_characters
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
