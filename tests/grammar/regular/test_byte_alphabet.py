"""First bytes of characters in UTF-8 against Python's encoder, and those of a term's characters."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from maskwright.grammar.formats.language import date_time, time
from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.regular.byte_alphabet import (
    EVERY,
    MOST_WORDS,
    alphabet,
    bytes_of,
    first_byte,
    lacks_what_it_needs,
    needed,
)
from maskwright.grammar.regular.derivative import contains, derivative, is_live, made
from maskwright.grammar.regular.terms import (
    ANYTHING,
    EMPTY,
    EPSILON,
    Intersection,
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
        (time(), "0123456789:.+-Zz"),
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


@pytest.mark.parametrize(
    ("term", "sets"),
    [
        (EPSILON, []),
        (full_match("a"), ["a"]),
        (full_match("a[bc]d?"), ["a", "bc"]),
        (full_match("(a|b)+c*"), ["ab"]),
        (full_match("(ab|bc)d"), ["b", "d"]),
        (full_match("(ab|bc)?d"), ["d"]),
        (full_match("(ab){0,3}"), []),
        (full_match("(ab){2,3}"), ["a", "b"]),
        (intersection(full_match("a.*"), full_match(".*b")), ["a", "b"]),
        (intersection(full_match("a+"), length(2, 3)), ["a"]),
        (complement(full_match("a")), []),
        (words(["ab", "b"]), []),
    ],
)
def test_the_bytes_that_every_text_of_a_term_holds(term: Regular, sets: list[str]) -> None:
    assert needed(term) == {bits(each) for each in sets}


def _pattern(random: Random, depth: int) -> str:
    if depth == 0 or random.random() < 0.2:
        return random.choice(["a", "b", "c", "[ab]", "[bc]", "ab", ""])
    first, second = _pattern(random, depth - 1), _pattern(random, depth - 1)
    times = random.choice(["", "", "?", "*", "{2,3}", "{0,2}"])
    return random.choice([f"({first}|{second}){times}", f"({first}){times}{second}"])


def test_what_texts_need_against_all_short_ones() -> None:
    random = Random(5)
    texts = ["".join(each) for size in range(6) for each in product("abc", repeat=size)]
    claims = emptied = 0
    for _ in range(300):
        left, right = (full_match(_pattern(random, 3)) for _ in range(2))
        found = [text for text in texts if contains(left, text)]
        claims += len(needed(left))
        assert all(bits(text) & each for text in found for each in needed(left))
        both = intersection(left, right)
        if isinstance(both, Intersection) and lacks_what_it_needs(both):
            emptied += 1
            assert not any(contains(right, text) for text in found)
    assert claims > 100
    assert emptied > 20


def test_what_lacks_a_character_is_not_searched_for_long() -> None:
    """After `t` there is no `T` in a date and time; times have thousands of states."""
    pattern = full_match(r".*\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ.*")
    term = intersection(*(derivative(each, "2016-01-05t") for each in (date_time(), pattern)))
    before = made()
    assert not is_live(term)
    assert made() - before < 2_000


def test_what_lacks_none_is_searched() -> None:
    pattern = full_match(r".*\d\d:\d\d:\d\dZ.*")
    term = intersection(*(derivative(each, "2016-01-05t") for each in (date_time(), pattern)))
    assert is_live(term)
