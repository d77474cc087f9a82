"""Patterns as strings: whatever `format: regex` allows can be parsed."""

from __future__ import annotations

import pytest

from maskwright.errors import RegexError
from maskwright.grammar.dialects.spelling import pattern as written_as_pattern
from maskwright.grammar.formats import language
from maskwright.grammar.pattern.translate import search
from maskwright.grammar.regular.beginnings import way_to_end
from maskwright.grammar.regular.derivative import contains, derivative, is_live
from maskwright.grammar.regular.terms import Concat, State, complement, intersection
from maskwright.workbench.conversion.escapes import spelled_language

PATTERNS = [
    *("", "a", "a|b", "|", "a*", "a+?", "a??", "a{2}", "a{2,}", "a{2,10}?", "^a$", r"\ba\B"),
    *("(a)", "(?:a|b)*", "(?=a)b", "(?!a)b", "(?<=a)b", "(?<!a)b", "((((a))))", "(?<n>a)"),
    *("x(?<$>a)y", "[]", "[^]", "[abc]", "[^a-z0-9A-F]", r"[\d\-x]", "[-a]", "[^-a-z]", "[a-]"),
    *("[-]", "[.^$]", r"[\]]", "[-^]", r"\d\D\s\S\w\W", r"\n\r\t\v\f", r"\cA", r"\x41", r"\u0041"),
    *(r"\u{41}", r"\u{0041}", r"\p{L}", r"\P{Lu}", r"\p{Script=Greek}", r"\.\*\/\\", "ü", "é{3}"),
]
NO_PATTERNS = [
    *("(", ")", "a)", "(a", "*", "+", "?", "a**", "a{2,1}", "a{10,9}", "^*", "$+", r"\b?", "(?a)"),
    *("(?", "(?<", "(?<n>a", "[", "[a", "[z-a]", "[9-0]", "\\", r"\e", r"\c1", r"\x4", r"\u004"),
    *(r"\u{}", r"\p{Nope}", r"\pL", r"\a"),
]
ONLY_WITHOUT_U = ["a{", "a}", "{", "{1}", "a{,2}", "(?=a)*", "]", r"\-"]
"""What ECMA-262 allows without the `u` flag (annex B), and `pattern` with it."""
LEFT_OUT = [
    *(r"(a)\1", r"\k<n>(?<n>a)", "(?<n>a)(?<m>b)", "(((((a)))))"),
    *("[!-~]", "a{1000}", "a{09,10}", "[--a]"),
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns(pattern: str) -> None:
    assert contains(language.regex(), pattern)
    search(pattern)


@pytest.mark.parametrize("pattern", NO_PATTERNS)
def test_what_is_no_pattern(pattern: str) -> None:
    assert not contains(language.regex(), pattern)
    with pytest.raises(RegexError):
        search(pattern)


@pytest.mark.parametrize("pattern", [*ONLY_WITHOUT_U, *LEFT_OUT])
def test_what_is_left_out(pattern: str) -> None:
    assert not contains(language.regex(), pattern)


def test_the_automaton_of_classes_is_what_they_are_composed_of() -> None:
    automaton, composed = language.character_class(), language.composed_class()
    assert automaton is not composed
    for one, other in ((automaton, composed), (composed, automaton)):
        assert not is_live(intersection(one, complement(other)))


@pytest.mark.parametrize("read", ["[a", "x|([^b-", "(?:y[z])+([k-m"])
def test_a_place_in_a_class_is_one_state_before_the_rest(read: str) -> None:
    """A union there would have to be worked out for each of the 62 characters that begin ranges."""
    place = derivative(language.regex(), read)
    assert isinstance(place, Concat)
    assert isinstance(place.head, State)


def test_how_far_it_is_to_an_end_shows_without_a_search() -> None:
    assert way_to_end(language.regex()) is not None


def test_patterns_can_still_be_written_as_rules() -> None:
    assert spelled_language(language.character_class()) == spelled_language(
        language.composed_class()
    )
    assert written_as_pattern(language.character_class()) is not None
