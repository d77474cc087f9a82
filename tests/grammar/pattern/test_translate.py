"""Patterns to regular languages against `re`, for what both read alike; and the algebra."""

from __future__ import annotations

import re
from itertools import product

import pytest

from maskwright.errors import LimitError
from maskwright.grammar.pattern.flags import Flags
from maskwright.grammar.pattern.translate import full_match, search
from maskwright.grammar.regular.derivative import contains
from maskwright.limits import Limits

TEXTS = ["".join(each) for size in range(5) for each in product("ab ", repeat=size)]

PATTERNS = [
    *("", "a", "a|b ", "(?:ab)*", "[^a]{2}", "^a", "a$", "^$", "^a|b$", "(?:^a|b)+", "a^b", "$a"),
    *(r"\ba", r"a\b", r"\Ba", r"a\B", r"\b", r"a\b b", r"(?:a\b ?)+", r"\b(?:a|b )\b"),
    *("(?=a)[ab]", "(?!a)[ab]", "(?=.*b)a", "(?!.*b)a", "a(?= b)", "(?:(?!ab).)*", "(?=a*$)[ab]*"),
    *("(?<=a)b", "(?<!a)b", "(?<= a)b", "(?<!^)a", "(?<=^a)b", "(?:(?<=a)b|a)+", "(?<!a)(?<!b)b"),
    *(
        "(?:^|a)b",
        "(?:$|a)+",
        "(?:(?=a)|b)*a",
        "(?=(?=a).b)a",
        "(?!(?!a))b?",
        r"(?:\ba|b)*",
        "a*?b",
    ),
    *("(?:^)*a", "(?:^|$)+", r"(?:\b|a){2}", "(?:a|(?<=b)){3}", r"(?:a(?!b)|b){2,3}"),
    # Rounds of a counted repeat that may consume nothing at one place and not at the next.
    *("(?:(?<!a)a?){2}", "(?:(?<!aa)(?:a?){2}){3}", "(?:b|(?=b)){2}", "(?:(?!b$)a?b?){2,3}"),
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_search_finds_what_re_finds(pattern: str) -> None:
    term = search(pattern)
    found = [text for text in TEXTS if contains(term, text)]
    assert found == [text for text in TEXTS if re.search(pattern, text)]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_full_match_is_that_of_re(pattern: str) -> None:
    term = full_match(pattern)
    found = [text for text in TEXTS if contains(term, text)]
    assert found == [text for text in TEXTS if re.fullmatch(pattern, text)]


@pytest.mark.parametrize(
    ("pattern", "equal"),
    [
        ("[ab]*&.{2}", "[ab]{2}"),
        ("~(.*a.*)&.*", "[b ]*"),
        ("~()&[ab]?", "[ab]"),
        ("b~(a*)", "b(?!a*$).*"),
        ("(?:a^)&a", "(?!)"),
        (r"b(?:\ba&a)", "ba"),  # the intersection's own start is a boundary
    ],
)
def test_intersections_and_complements_see_nothing_outside(pattern: str, equal: str) -> None:
    term = full_match(pattern, flags=Flags(algebra=True))
    found = [text for text in TEXTS if contains(term, text)]
    assert found == [text for text in TEXTS if re.fullmatch(equal, text)]


def test_the_states_of_lookbehinds_are_bounded() -> None:
    pattern = "(?<=a[ab]{3})b"
    with pytest.raises(LimitError) as caught:
        search(pattern, Limits(lookbehind_states=8))
    assert caught.value.limit == "lookbehind_states"
    assert contains(search(pattern, Limits(lookbehind_states=100)), "aaaab")
