"""First bytes of characters in UTF-8 against Python's encoder, and those of a term's characters."""

from __future__ import annotations

import pytest

from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.regular.byte_alphabet import (
    EVERY,
    MOST_WORDS,
    alphabet,
    bytes_of,
    first_byte,
)
from maskwright.grammar.regular.terms import (
    ANYTHING,
    EMPTY,
    EPSILON,
    Regular,
    complement,
    intersection,
    length,
    words,
)

FIRST = sum(1 << byte for byte in (*range(0x80), *range(0xC2, 0xF5)))
"""The bytes with which some character begins."""

EDGES = (0, 0x7F, 0x80, 0xBF, 0x7FF, 0x800, 0xFFF, 0x1000, 0xFFFF, 0x10000, 0x3FFFF, 0x40000)


def bits(characters: str) -> int:
    found = 0
    for character in characters:
        found |= 1 << character.encode()[0]
    return found


@pytest.mark.parametrize("point", [*EDGES, 0x10FFFF])
def test_the_first_byte_is_that_of_the_encoder(point: int) -> None:
    assert first_byte(point) == chr(point).encode()[0]
    assert bytes_of(((point, point),)) == bits(chr(point))


@pytest.mark.parametrize("ranges", [((0x61, 0x7A),), ((0x70, 0x90), (0x7F0, 0x810)), ()])
def test_the_bytes_of_a_set(ranges: tuple[tuple[int, int], ...]) -> None:
    points = [point for low, high in ranges for point in range(low, high + 1)]
    assert bytes_of(ranges) & FIRST == bits("".join(map(chr, points)))


@pytest.mark.parametrize(
    ("term", "characters"),
    [
        (EPSILON, ""),
        (full_match("[a-c]x"), "abcx"),
        (full_match("(a|é)*z{0,3}"), "aéz"),
        (full_match("(ab)+"), "ab"),
        (words(["xay", "日"]), "axy日"),
        (intersection(full_match("[a-d]*e"), full_match("[b-z]*")), "bcde"),
        (intersection(full_match("[ab]*"), length(2, 3)), "ab"),
        (intersection(full_match("[ab]*"), complement(words(["a"]))), "ab"),
    ],
)
def test_the_bytes_of_the_characters_of_a_term(term: Regular, characters: str) -> None:
    assert alphabet(term) == bits(characters)


@pytest.mark.parametrize(
    "term",
    [complement(full_match("a")), words([f"a{n}" for n in range(MOST_WORDS + 1)]), EMPTY],
)
def test_where_it_takes_long_every_byte_may_come(term: Regular) -> None:
    assert alphabet(term) == EVERY


def test_any_text_has_the_first_bytes_of_all_characters() -> None:
    assert alphabet(ANYTHING) & bits("a\x00\x7fé日\U0001f600") == bits("a\x00\x7fé日\U0001f600")
