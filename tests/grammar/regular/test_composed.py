"""Shortest strings that are put together: `re` matches them, and no shorter string."""

from __future__ import annotations

import re
from itertools import product

import pytest

from maskwright.errors import LimitError
from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.regular.composed import check_searched, composed, encoded_size
from maskwright.grammar.regular.terms import alt, complement, intersection, length_bounded

TEXTS = ["".join(each) for n in range(7) for each in product("abé", repeat=n)]


@pytest.mark.parametrize(
    "pattern", ["a{2}b|é{2,4}", "(ab?|é){3}", "[bé]a*b", "(a|bb)(é|ab)", "(?:a{2,3}b){1,2}", "b*"]
)
def test_no_string_is_shorter(pattern: str) -> None:
    text = composed(full_match(pattern), 1_000)
    assert text is not None
    matched = [other for other in TEXTS if re.fullmatch(pattern, other)]
    assert re.fullmatch(pattern, text)
    assert encoded_size(text) == min(map(encoded_size, matched))


def test_what_has_to_be_searched_for() -> None:
    """In languages of letters that no other test uses: what a search found is kept with a term."""
    both = intersection(full_match("(ωω)+"), full_match("(ωωω)+"))
    assert composed(both, 1_000) is None
    assert composed(alt(full_match("ψ"), complement(full_match("ω*"))), 1_000) is None


@pytest.mark.parametrize(
    ("pattern", "least", "most", "expected"),
    [
        ("[bé]a*b", 0, 9, "bb"),
        ("[bé]a*b", 2, 2, "bb"),
        ("[bé]a*b", 0, 1, None),  # it is empty, which isn't found here
        ("[bé]a*b", 3, 9, None),
        ("日|ab", 0, 9, None),  # the one with the fewest characters has more bytes
        ("é|abc", 0, 9, "é"),
    ],
)
def test_the_shortest_string_within_length_bounds(
    pattern: str, least: int, most: int, expected: str | None
) -> None:
    bounded = length_bounded(full_match(pattern), least, most)
    assert composed(bounded, 1_000) == expected


def test_too_long_a_string_is_refused() -> None:
    assert composed(full_match("a{40}"), 40) == "a" * 40
    with pytest.raises(LimitError, match="40 characters"):
        composed(full_match("(?:ab){21}"), 40)
    with pytest.raises(LimitError, match="40 characters"):
        composed(length_bounded(full_match("a*b"), 41, None), 40)
    assert composed(length_bounded(full_match("a*b"), 40, None), 40) is None
    check_searched(40, 40)


def test_bytes_of_halves_of_surrogate_pairs() -> None:
    assert [*map(encoded_size, ("a", "é", "日", "\ud800"))] == [1, 2, 3, 3]
