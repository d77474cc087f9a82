"""The strings of a language one by one, against `re` over all strings of a small alphabet."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from random import Random

import pytest

from maskwright.grammar.formats.hosts import email
from maskwright.grammar.formats.language import date_time, uri
from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.regular.derivative import contains
from maskwright.grammar.regular.enumerate import few, first
from maskwright.grammar.regular.shortest import shortest
from maskwright.grammar.regular.terms import ANYTHING, EMPTY, Regular, words
from maskwright.limits import DEFAULT_LIMITS, Work

FINITE = ["", "a|b|ba", "[ab]{0,2}", "a?b?a?", "(ab|ba){2}", "(?!ab)[ab]{2}", "a{3}|b"]
INFINITE = ["a*", "a*b", "(ab)+", "a|b{2,}", "[^a]"]


def expected(pattern: str, longest: int) -> list[str]:
    texts = ["".join(each) for size in range(longest + 1) for each in product("ab", repeat=size)]
    return [text for text in texts if re.fullmatch(pattern, text)]


@pytest.mark.parametrize("pattern", FINITE)
def test_a_finite_language_is_listed(pattern: str) -> None:
    found = few(full_match(pattern), 20)
    assert found is not None
    assert sorted(found) == sorted(expected(pattern, 4))
    assert [len(text) for text in found] == sorted(len(text) for text in found)


@pytest.mark.parametrize("pattern", FINITE)
def test_no_more_than_asked_for(pattern: str) -> None:
    count = len(expected(pattern, 4))
    assert few(full_match(pattern), count) is not None
    assert few(full_match(pattern), count - 1) is None
    assert first(full_match(pattern), 2) == few(full_match(pattern), 20)[:2]


@pytest.mark.parametrize("pattern", INFINITE)
def test_an_infinite_language_is_not(pattern: str) -> None:
    assert few(full_match(pattern), 50) is None


@pytest.mark.parametrize("language", [uri, email, date_time])
def test_strings_are_found_where_the_prefixes_that_read_best_lead_nowhere(
    language: Callable[[], Regular],
) -> None:
    with Work(replace(DEFAULT_LIMITS, work=1_000)):
        found = first(language(), 2)
    assert len(set(found)) == 2
    assert all(contains(language(), text) for text in found)
    assert len(found[0]) == len(shortest(language()) or "")


def test_the_shortest_come_first_and_read_well() -> None:
    assert first(full_match("a*b"), 3) == ("b", "ab", "aab")
    assert first(ANYTHING, 4) == ("", "a", "b", "c")
    assert first(EMPTY, 3) == ()
    assert first(words(["x", "yy", "zzz"]), 2) == ("x", "yy")


def test_a_language_spread_thin_is_given_up() -> None:
    assert few(full_match("(?:a{9999})*"), 5) is None


def test_ends_far_from_the_prefixes_that_are_followed() -> None:
    """`a`, `aa`, … go on for ever; the nearest end begins with `<`."""
    assert first(full_match("a*<all>"), 2) == ("<all>", "a<all>")
    assert first(full_match("[^<]*<all>"), 1) == ("<all>",)


@pytest.mark.parametrize("seed", range(40))
def test_a_list_of_words_has_the_order_of_the_language(seed: int) -> None:
    """A list is read without its automaton; in a pattern the same strings are found by it."""
    random = Random(seed)
    listed = ["".join(random.choices("abAZ09_- é{~", k=random.randrange(6))) for _ in range(9)]
    by_automaton = few(full_match("|".join(map(re.escape, listed))), 20)
    assert few(words(listed), 20) == by_automaton
    assert few(words(listed), len(set(listed)) - 1) is None
