"""Derivatives, emptiness and labels of terms, against Python's `re` and against sets of strings."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise, product

import pytest

from maskwright.errors import LimitError
from maskwright.grammar.formats.language import date_time, time
from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.regular.charset import LAST
from maskwright.grammar.regular.derivative import (
    MOST_SIFTED,
    arcs,
    common,
    contains,
    derivative,
    is_live,
    label,
    made,
    shortest_length,
)
from maskwright.grammar.regular.terms import (
    ANY_CHAR,
    ANYTHING,
    EMPTY,
    EPSILON,
    Regular,
    alt,
    char,
    complement,
    concat,
    intersection,
    length,
    repeat,
    tagged,
    word_list,
    word_slice,
    words,
)

A, B = char("a"), char("b")
TEXTS = ["".join(each) for size in range(6) for each in product("ab", repeat=size)]

PATTERNS = [
    *("", "a", "[^a]", "ab|b", "a*", "(ab)*", "a?b?", "a?a", "(a|b)*abb", "(a?){3}", "a{2,4}b{1}"),
    *("(?:a?b)*a", "(a*b*)*", "((a|ab)(b|))*", "(?!ab)[ab]*", "(?=.*b)[ab]{2,3}", "(?!.*aa).*b"),
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_term_contains_what_the_pattern_matches(pattern: str) -> None:
    term = full_match(pattern)
    found = [text for text in TEXTS if contains(term, text)]
    assert found == [text for text in TEXTS if re.fullmatch(pattern, text)]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_derivative_has_the_rests_of_the_texts(pattern: str) -> None:
    term = full_match(pattern)
    for prefix in ("a", "b", "ab", "ba"):
        rest = derivative(term, prefix)
        found = [text for text in TEXTS if contains(rest, text)]
        assert found == [text for text in TEXTS if re.fullmatch(pattern, prefix + text)]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_transitions_ascend_are_disjoint_and_lead_to_living_targets(pattern: str) -> None:
    found = arcs(full_match(pattern))
    assert all(0 <= low <= high <= LAST and is_live(target) for low, high, target in found)
    assert all(left[1] < right[0] for left, right in pairwise(found))


def sets_of_texts(term: Regular) -> set[str]:
    return {text for text in TEXTS if contains(term, text)}


LEFT, RIGHT = full_match("(ab|a)*b?"), full_match("a*(b|bb)|ba")


@pytest.mark.parametrize(
    ("term", "texts"),
    [
        (alt(LEFT, RIGHT), sets_of_texts(LEFT) | sets_of_texts(RIGHT)),
        (intersection(LEFT, RIGHT), sets_of_texts(LEFT) & sets_of_texts(RIGHT)),
        (complement(LEFT), {*TEXTS} - sets_of_texts(LEFT)),
        (intersection(LEFT, complement(RIGHT)), sets_of_texts(LEFT) - sets_of_texts(RIGHT)),
        (intersection(LEFT, length(2, 3)), {t for t in sets_of_texts(LEFT) if 2 <= len(t) <= 3}),
        (tagged((LEFT, RIGHT)), sets_of_texts(LEFT) | sets_of_texts(RIGHT)),
    ],
)
def test_the_algebra_is_that_of_sets(term: Regular, texts: set[str]) -> None:
    assert sets_of_texts(term) == texts


@pytest.mark.parametrize(
    ("term", "live"),
    [
        (EMPTY, False),
        (EPSILON, True),
        (ANYTHING, True),
        (intersection(full_match("a+"), full_match("b+")), False),
        (intersection(full_match("a*"), full_match("b*")), True),
        (intersection(full_match("(aa)*"), full_match("(aaa)*"), full_match("a+")), True),
        (intersection(full_match("(aa)*"), full_match("a(aa)*")), False),
        (intersection(full_match("(aa)*"), length(3, 3)), False),
        (intersection(full_match("(aa)*"), length(3, 4)), True),
        (complement(alt(repeat(A), complement(repeat(A)))), False),
        (full_match("(?!a)a"), False),
        (full_match("(?!a)[ab]"), True),
        (concat(A, intersection(repeat(A, 1), repeat(B, 1))), False),
        (alt(intersection(repeat(A, 1), repeat(B, 1)), B), True),
    ],
)
def test_whether_a_language_has_a_string(term: Regular, live: bool) -> None:
    assert is_live(term) is live


def test_a_search_for_a_string_is_bounded() -> None:
    every = intersection(full_match("(a{3})*"), full_match("(a{5})*"), full_match("(a{7})*a{3}b"))
    with pytest.raises(LimitError, match="among 4 states"):
        is_live(every, limit=4)


@pytest.mark.parametrize("times", [date_time, time])
@pytest.mark.parametrize("ending", ["Z", r"\+00:00", r"\.\d{3}Z", "[^.]*", "7:3.*"])
def test_times_with_an_ending_are_found_soon(times: Callable[[], Regular], ending: str) -> None:
    """Their automaton has thousands of states, since it remembers the minute."""
    term = intersection(times(), full_match(f"[^x]*{ending}"))
    before = made()
    assert is_live(term)
    assert made() - before < 2_000


@pytest.mark.parametrize(
    ("term", "text", "expected"),
    [
        (A, "", 0),
        (A, "a", 1),
        (tagged((A, B)), "", 0),
        (tagged((A, B)), "b", (0, 1)),
        (tagged((ANY_CHAR, B)), "b", (1, 1)),
        (tagged((words(["a", "ab", "b"]), EMPTY), named=True), "ab", (2, 0)),
        (tagged((words(["a", "ab", "b"]), ANYTHING), named=True), "b", (3, 1)),
        (tagged((words(["a", "ab", "b"]), ANYTHING), named=True), "bb", (0, 1)),
    ],
)
def test_the_label_says_which_parts_contain_the_text(
    term: Regular, text: str, expected: int | tuple[int, ...]
) -> None:
    assert label(derivative(term, text)) == expected


@pytest.mark.parametrize(
    ("term", "shortest"),
    [
        (full_match("(aa)+b?"), (2, True)),
        (intersection(full_match("(aaa)+"), length(4, None)), (6, True)),
        (intersection(full_match("(aaa)+"), length(4, 5)), (None, False)),
        (intersection(repeat(A, 1), repeat(B, 1)), (None, False)),
        (EPSILON, (0, True)),
    ],
)
def test_the_length_of_a_shortest_string(term: Regular, shortest: tuple[int | None, bool]) -> None:
    assert shortest_length(term) == shortest


def test_words_in_other_languages_are_a_list() -> None:
    listed = words(["ab", "b", "ba"])
    pattern, ending = full_match("[ab]{2}"), full_match(".*b")
    assert common(pattern, listed) is words(["ab", "ba"])
    assert common(listed, pattern, complement(ending)) is words(["ba"])
    assert common(listed, ANYTHING) is listed
    assert common(listed, words(["b", "c"]), ending) is words(["b"])
    assert common(listed, full_match("c.*")) is EMPTY
    bare = word_slice(word_list(["ab", "b"], bare=True))
    assert common(bare, ending) is bare
    many = words([chr(point) for point in range(0x4E00, 0x4E00 + MOST_SIFTED + 1)])
    assert common(many, full_match("[^a]")) is intersection(many, full_match("[^a]"))
