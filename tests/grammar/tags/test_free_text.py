"""Free text against its definition, over all short texts of a small alphabet."""

from __future__ import annotations

from itertools import product

import pytest

from maskwright.grammar.regular.derivative import contains, is_live
from maskwright.grammar.tags.free_text import text_until, text_without

TEXTS = ["".join(letters) for size in range(7) for letters in product("abx", repeat=size)]

EXCLUDED = [(), ("a",), ("ab",), ("aa",), ("ab", "ba"), ("aba", "b"), ("aab", "abb", "bbb")]

ENDS = [
    # end, others, without
    ("a", (), ()),
    ("aa", (), ()),
    ("aba", (), ()),
    ("abab", (), ()),
    ("ab", ("ba",), ()),
    ("aab", ("ab",), ()),
    ("ab", ("aab",), ()),
    ("a", ("aa",), ()),
    ("aa", ("a",), ()),
    ("bb", (), ("aa",)),
    ("ab", ("ba",), ("xx", "bb")),
]


@pytest.mark.parametrize("strings", EXCLUDED)
@pytest.mark.parametrize("most", [None, 3])
def test_text_without_has_none_of_the_strings(strings: tuple[str, ...], most: int | None) -> None:
    language = text_without(strings, most)
    for text in TEXTS:
        fits = most is None or len(text) <= most
        expected = fits and not any(string in text for string in strings)
        assert contains(language, text) is expected, text


@pytest.mark.parametrize(("end", "others", "without"), ENDS)
@pytest.mark.parametrize("most", [None, 2])
def test_text_until_ends_with_the_first_end(
    end: str, others: tuple[str, ...], without: tuple[str, ...], most: int | None
) -> None:
    language = text_until(end, others, without, most)
    for text in TEXTS:
        expected = (
            _first_end(text, (end, *others)) == (len(text), end)
            and not any(string in text for string in without)
            and (most is None or len(text) <= most + len(end))
        )
        assert contains(language, text) is expected, text


def _first_end(text: str, ends: tuple[str, ...]) -> tuple[int, str] | None:
    """Where the first end is complete, and which; the longest if there are several."""
    for stop in range(len(text) + 1):
        found = [end for end in ends if text[:stop].endswith(end)]
        if found:
            return stop, max(found, key=len)
    return None


def test_an_end_behind_a_shorter_one_is_never_reached() -> None:
    assert not is_live(text_until("aa", ("a",)))
    assert is_live(text_until("ba", ("a",)))


def test_characters_outside_ascii_and_line_breaks_are_text() -> None:
    assert contains(text_until("</é>"), "ein\n€ 🙂 <</é</é>")
    assert not contains(text_without(("é",)), "fée")
