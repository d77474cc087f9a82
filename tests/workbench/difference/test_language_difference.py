"""Strings that one language has and another lacks, compared with Python's own patterns."""

from __future__ import annotations

import itertools
import re

import pytest

from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.regular.terms import intersection, length, words
from maskwright.workbench.difference.schema_pairs import are_words_alike, missing_string

PATTERNS = ["(a|b)*", "a*b*", "a+b?", "[^b]*", "a{1,3}", ".{2,3}", ".{0,2}", "ab|ba"]
TEXTS = ["".join(each) for size in range(6) for each in itertools.product("abc", repeat=size)]


@pytest.mark.parametrize(("first", "second"), [*itertools.product(PATTERNS, repeat=2)])
def test_a_missing_string_is_found_if_there_is_one(first: str, second: str) -> None:
    missing = missing_string(full_match(first), full_match(second), 10_000)
    expected = [t for t in TEXTS if re.fullmatch(first, t) and not re.fullmatch(second, t)]
    assert (missing is None) == (not expected)
    if missing is not None:
        assert re.fullmatch(first, missing)
        assert not re.fullmatch(second, missing)


def test_lengths_and_common_parts_are_not_multiplied() -> None:
    """The complement of what both have in common would take far more steps."""
    common = intersection(full_match("[a-z.]+@[a-z.]+"), full_match("(.*b){3}.*"))
    shorter, longer = (intersection(common, length(1, most)) for most in (200, 201))
    assert missing_string(shorter, longer, 10_000) is None
    found = missing_string(longer, shorter, 10_000)
    assert found is not None
    assert len(found) == 201


def test_words_alike_have_one_spelling() -> None:
    assert are_words_alike(words(["a", "b"]), words(["b", "a"]))
    assert not are_words_alike(words(["a", "b"]), words(["a", "c"]))
    assert not are_words_alike(words(["a"]), full_match("a"))
