"""Languages that begin alike, and bounds on the way to an end, against brute force."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from random import Random

import pytest

from maskwright.automaton.value.witness_text import spelled
from maskwright.grammar.formats.idna import idn_hostname
from maskwright.grammar.formats.language import regex
from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.regular.beginnings import (
    WayToEnd,
    beginning_alike,
    least_length,
    least_weight,
    span,
    surely_fits,
    way_to_end,
)
from maskwright.grammar.regular.charset import of
from maskwright.grammar.regular.derivative import contains, derivative, is_live, split
from maskwright.grammar.regular.shortest import shortest
from maskwright.grammar.regular.terms import (
    EMPTY,
    Chars,
    LengthBounded,
    Regular,
    Scale,
    alt,
    char,
    concat,
    counting_set,
    length_bounded,
    repeat,
    tagged,
    weighed,
    words,
)
from maskwright.limits import DEFAULT_LIMITS, Limits, Work
from tests.properties.patterns import counted_pattern

TEXTS = ["".join(text) for size in range(6) for text in product("ab", repeat=size)]
WRITTEN = [
    "[ab]{0,6}a[ab]{0,6}b[ab]{0,2}",
    "(?:[ab]*a[ab]{3}){3}",
    "(?:a{2,9}b){1,7}",
    "(?:a*b{9})*a",
    "(?:a?b?){0,9}a{3}",
    "a{4}b|a{6}b|ba{2,}",
    "(?:aab|ab){3,}",
]
RANDOM = [counted_pattern(Random(seed), "ab", 3 + seed % 4) for seed in range(24)]


@pytest.mark.parametrize("pattern", [*WRITTEN, *dict.fromkeys(RANDOM)])
def test_texts_begin_alike(pattern: str) -> None:
    term = full_match(pattern)
    for start in {derivative(term, text) for text in TEXTS[:5]} - {EMPTY}:
        for most in (0, 1, 3, 5):
            simpler = beginning_alike(start, most)
            for text in TEXTS:
                if len(text) <= most:
                    begins = derivative(start, text) is not EMPTY
                    assert (derivative(simpler, text) is not EMPTY) == begins, (most, text)
                if len(text) < most:
                    assert contains(simpler, text) == contains(start, text), (most, text)


def unbounded(_: Regular) -> int:
    return 1 << 30


@pytest.mark.parametrize("pattern", [*WRITTEN, *dict.fromkeys(RANDOM)])
def test_what_all_begins_alike_is_not_taken_apart(
    pattern: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each part for itself: the result is the one that is found by looking at all parts."""
    term = full_match(pattern)
    starts = sorted({derivative(term, text) for text in TEXTS[:15]} - {EMPTY}, key=id)
    found = [[beginning_alike(start, most) for most in range(24)] for start in starts]
    for start, alike in zip(starts, found, strict=True):
        assert all(each is start for most, each in enumerate(alike) if most >= span(start))
    monkeypatch.setattr("maskwright.grammar.regular.beginnings.span", unbounded)
    assert found == [[beginning_alike(start, most) for most in range(24)] for start in starts]


def test_a_large_language_with_small_counters_takes_few_steps() -> None:
    """The derivatives of the format `regex` have thousands of parts within parts."""
    start = derivative(regex(), "<<")
    with Work(Limits(work=300)):
        assert beginning_alike(start, 77) is start


def test_a_counting_set_begins_as_its_options_do() -> None:
    a, tail = char("a"), words(["b", "ba"])
    assert isinstance(a, Chars)
    counts = sum(1 << n for n in (0, 2, 4, 6, 8, 10, 40))
    for most in range(9):
        simpler = beginning_alike(counting_set(a, counts, tail), most)
        for text in TEXTS:
            if len(text) <= most:
                begins = any(("a" * n + "ba").startswith(text) for n in (0, 2, 4, 6, 8, 10, 40))
                assert (derivative(simpler, text) is not EMPTY) == begins, (most, text)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a{3,90}x", "a{7,60}x"),
        (r"[^]{0,90}a[^]{0,1000}b", r"[^]{0,40}a[^]{0,900}b"),
        ("(?:a{30}b){50}", "(?:a{30}b){20}"),
    ],
)
def test_counters_out_of_reach_make_no_difference(one: str, other: str) -> None:
    most = 3 if one.startswith("a") else 20
    assert beginning_alike(full_match(one), most) is beginning_alike(full_match(other), most)


@pytest.mark.parametrize(
    "pattern", [*WRITTEN, *dict.fromkeys(RANDOM), "é{3}|\\x01", r"\"{2}(a|\n)"]
)
def test_no_beginning_is_farther_from_an_end_than_the_bound(pattern: str) -> None:
    term = full_match(pattern)
    way = way_to_end(term)
    assert way is not None
    seen: set[Regular] = {term}
    waiting = [term]
    while waiting and len(seen) < 60:
        here = waiting.pop()
        text = shortest(here)
        assert text is not None
        assert least_length(here) <= len(text)
        assert len(spelled(text)[1:-1].encode()) <= way.farthest
        waiting += [target for target in split(here).targets if target not in seen]
        seen.update(waiting)


BOUNDS = [(0, 0), (0, 1), (0, 4), (2, 3), (3, 3), (4, 6), (6, 6), (1, None), (5, None)]


@pytest.mark.parametrize("pattern", [*WRITTEN, *dict.fromkeys(RANDOM), "ab|aaaa", "(ab)*", "b?"])
def test_what_surely_fits_does(pattern: str) -> None:
    """Where the look of a term says so, some string has an allowed length."""
    term = full_match(pattern)
    lengths = [size for size in range(61) if contains_length(term, size)]
    for least, most in BOUNDS:
        bounded = length_bounded(term, least, most)
        if isinstance(bounded, LengthBounded) and surely_fits(bounded):
            end = 60 if most is None else most
            assert any(least <= size <= end for size in lengths), (least, most)


def contains_length(term: Regular, size: int) -> bool:
    """Whether a string has this length, by the derivatives after each character."""
    states = {term}
    for _ in range(size):
        states = {target for state in states for target in split(state).targets}
    return any(state.nullable for state in states)


@pytest.mark.parametrize(
    ("pattern", "least", "most", "expected"),
    [
        (r"|(?:\S+\s+){0,99}\S+", 0, 5_000, True),
        (r"|(?:\S+\s+){0,99}\S+", 700, 5_000, True),
        (r"(?:\S+\s+){40,99}\S+", 0, 80, False),
        (r"(?:\S+\s+){40,99}\S+", 0, 81, True),
        ("a{3,7}", 7, None, True),
        ("a{3,7}", 8, None, False),
        ("(?:aa)*", 3, 3, False),
        ("(?:aa)*", 3, 5, True),
        ("(?!aa)a*", 1, 9, False),  # no plain term: it has to be searched
    ],
)
def test_what_the_look_of_a_counted_repeat_shows(
    pattern: str, least: int, most: int | None, expected: bool
) -> None:
    bounded = length_bounded(full_match(pattern), least, most)
    assert surely_fits(bounded) is expected
    if expected and (most or 0) < 100:
        size = least if most is None else most
        assert any(contains_length(bounded.core, each) for each in range(least, size + 1))


def test_a_long_counted_repeat_is_found_alive_without_its_automaton() -> None:
    """Each round has states of its own: written out, they would take thousands of steps."""
    core = full_match(r"|(?:[^\s~]+\s+){0,2000}[^\s~]+")
    with Work(Limits(work=400)):
        bounded = length_bounded(core, 0, 90_000)
        assert is_live(bounded)
        assert shortest(derivative(bounded, "x y")) == ""


def test_states_tell_how_far_an_end_is() -> None:
    assert way_to_end(full_match("[0-9]{2,}")) == WayToEnd(2, 2)
    assert way_to_end(repeat(words(["ab", "c"]), 2)) == WayToEnd(4, 4)


@pytest.mark.parametrize(
    ("listed", "size"), [(["ab", "c"], 2), (["aé"], 8), (['a"'], 12), (["é\n"], 12)]
)
def test_a_word_is_as_far_from_its_end_as_it_is_long(listed: list[str], size: int) -> None:
    assert way_to_end(words(listed)) == WayToEnd(size, size)


def test_a_language_of_several_is_as_far_from_an_end_as_the_farthest() -> None:
    """Its automaton, which reads all at once, need not be made."""
    listed, pattern = words([f"name{at}" for at in range(5_000)]), full_match("x_[a-z]{3,}")
    term = tagged((listed, EMPTY, pattern), named=True)
    assert way_to_end(term) == WayToEnd(8, 8)
    assert derivative(term, "x_").automaton is None


SCALE = Scale(most=9, beyond=4, between=of("."))


def weight(text: str) -> int:
    return sum(1 if character < "\x80" else 4 for character in text)


def test_weighed_strings_are_those_whose_parts_are_light() -> None:
    term = weighed(full_match("[aé]+(?:\\.[aé]+)*"), SCALE.most, SCALE)
    assert least_weight(full_match("éa{2}b"), SCALE) == 7
    for size in range(8):
        for letters in product("aé.", repeat=size):
            text = "".join(letters)
            parts = text.split(".")
            right = all(parts) and all(weight(part) <= SCALE.most for part in parts)
            assert contains(term, text) == right, text
            begins = all(parts[:-1]) and all(weight(part) <= SCALE.most for part in parts)
            assert (derivative(term, text) is not EMPTY) == begins, text


def test_the_bound_of_a_host_name_holds_after_every_beginning() -> None:
    language = idn_hostname()
    for text in ("é", "א", "l·", "α͵", "a・", "x" * 50, "ü" * 11, "ü.", "日本。"):
        rest = derivative(language, text)
        ending = shortest(rest)
        assert ending is not None
        assert len(ending.encode()) <= 8


def test_parts_that_occur_in_many_places_are_looked_at_once() -> None:
    """Written out, the term would have 2**40 parts."""
    term = char("z")
    for _ in range(40):
        term = alt(concat(char("a"), term), concat(char("b"), repeat(char("c"), 2, 3), term))
    with Work(Limits(work=20_000)):
        found = beginning_alike(term, 50)
    for text in ("ab", "bccb", "bcccabcc", "aaaaaaaab"):
        assert derivative(found, text).live is not False
        assert contains(found, text + "z") == contains(term, text + "z")
    assert derivative(found, "bca") is EMPTY


def test_the_longest_string_of_a_large_term_is_found_soon() -> None:
    """Parts of it are parts of many others: looked at for each of these, they are a million."""
    bounded = length_bounded(regex(), 12, None)
    assert isinstance(bounded, LengthBounded)
    with Work(replace(DEFAULT_LIMITS, work=5_000)):
        assert surely_fits(bounded)
