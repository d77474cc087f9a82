"""Patterns as strings: whatever `format: regex` allows can be parsed."""

from __future__ import annotations

import itertools

import pytest

from maskwright.errors import RegexError
from maskwright.grammar.dialects.spelling import pattern as written_as_pattern
from maskwright.grammar.formats import language
from maskwright.grammar.pattern.translate import search
from maskwright.grammar.regular.beginnings import way_to_end
from maskwright.grammar.regular.derivative import contains, derivative, is_live
from maskwright.grammar.regular.terms import Concat, State, complement, intersection
from maskwright.workbench.conversion.languages import spelled_language
from tests.grammar.formats.ecma_syntax import is_pattern

PATTERNS = [
    *("", "a", "a|b", "|", "a*", "a+?", "a??", "a{2}", "a{2,}", "a{2,10}?", "^a$", r"\ba\B"),
    *("a{12,15}", "a{12,12}", "a{09,10}", "a{100,200}?", "a{1,999}", "a{99,100}"),
    *("(a)", "(?:a|b)*", "(?=a)b", "(?!a)b", "(?<=a)b", "(?<!a)b", "((((a))))", "(?<n>a)"),
    *("x(?<$>a)y", "[]", "[^]", "[abc]", "[^a-z0-9A-F]", r"[\d\-x]", "[-a]", "[^-a-z]", "[a-]"),
    *("[-]", "[.^$]", r"[\]]", "[-^]", r"\d\D\s\S\w\W", r"\n\r\t\v\f", r"\cA", r"\x41", r"\u0041"),
    *(r"\u{41}", r"\u{0041}", r"\p{L}", r"\P{Lu}", r"\p{Script=Greek}", r"\.\*\/\\", "ü", "é{3}"),
]
NO_PATTERNS = [
    *("(", ")", "a)", "(a", "*", "+", "?", "a**", "a{2,1}", "a{10,9}", "^*", "$+", r"\b?", "(?a)"),
    *("a{15,12}", "a{20,19}"),
    *("(?", "(?<", "(?<n>a", "[", "[a", "[z-a]", "[9-0]", "\\", r"\e", r"\c1", r"\x4", r"\u004"),
    *(r"\u{}", r"\p{Nope}", r"\pL", r"\a"),
]
ONLY_WITHOUT_U = ["a{", "a}", "{", "{1}", "a{,2}", "(?=a)*", "]", r"\-"]
"""What ECMA-262 allows without the `u` flag (annex B), and `pattern` with it."""
LEFT_OUT = [
    *(r"(a)\1", r"\k<n>(?<n>a)", "(?<n>a)(?<m>b)", "(((((a)))))"),
    *("[!-~]", "a{1000}", "a{100,150}", "[--a]"),
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


@pytest.mark.parametrize(
    ("letters", "most", "complete"),
    [
        ("a{12,}?", 6, True),
        ("a()?:=|*", 5, True),
        ("a^$+.|()", 4, True),
        ("[]^-a0\\d", 4, False),  # ranges are between digits or letters only
        ("a\\{}[]()", 4, True),
    ],
)
def test_short_strings(letters: str, most: int, complete: bool) -> None:
    """All strings of some letters against a reader of the standard's grammar."""
    level = [("", language.regex())]
    for length in range(most + 1):
        for text, rest in level:
            if rest.nullable or complete:
                assert rest.nullable is is_pattern(text), text
        if length < most:
            level = [(t + each, derivative(rest, each)) for t, rest in level for each in letters]


def test_bounds() -> None:
    bounds = [*range(13), 19, 20, 21, 98, 99, 100, 101, 110, 199, 200, 999]
    for low, high in itertools.product(bounds, bounds):
        text = f"a{{{low},{high}}}"
        begin_alike = low > 99 and high > 99 and low // 100 == high // 100
        assert contains(language.regex(), text) is (is_pattern(text) and not begin_alike), text
        assert not contains(language.regex(), text[1:])
        assert not contains(language.regex(), f"({text[1:]})")


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
