"""Counted repeats as length bounds: which repeats change, and that their languages do not."""

from __future__ import annotations

from itertools import product

import pytest

from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.regular.derivative import contains
from maskwright.grammar.regular.length_bounds import WORTH_IT, counted
from maskwright.grammar.regular.terms import LengthBounded, intersection, length, repeat

CHANGED = [
    ("a{1,12}", 1, 12),
    ("a{9,}", 9, None),
    ("ba{2,10}", 3, 11),
    ("b[ab]{0,9}b", 0, 11),
    ("b{2}a{9,10}b", 12, 13),
]
TEXTS = [
    before + "a" * size + behind
    for size in range(16)
    for before, behind in product(("", "b", "bb", "ab"), ("", "b", "bb"))
]


@pytest.mark.parametrize(("pattern", "least", "most"), CHANGED)
def test_a_long_repeat_becomes_a_bound(pattern: str, least: int, most: int | None) -> None:
    term = full_match(pattern)
    found = counted(term)
    assert isinstance(found, LengthBounded)
    assert (found.least, found.most) == (least, most)
    assert {t for t in TEXTS if contains(found, t)} == {t for t in TEXTS if contains(term, t)}


@pytest.mark.parametrize(
    "pattern",
    [
        f"a{{1,{WORTH_IT}}}",
        f"a{{{WORTH_IT}}}",
        "a{9}",
        "(ab){1,12}",
        "(ab|ba)a{9,10}",
        "a*b{1,12}",
        "a?b{1,12}",
        "a{1,12}b{1,12}",
        "a*",
        "abc",
        "a{1,12}|b",
        "(?:b|ab)a{1,12}",
    ],
)
def test_other_terms_stay(pattern: str) -> None:
    term = full_match(pattern)
    assert counted(term) is term


def test_bounds_around_a_repeat_are_kept() -> None:
    bounded = intersection(repeat(full_match("[ab]"), 2, 12), length(4, 20))
    found = counted(bounded)
    assert isinstance(found, LengthBounded)
    assert (found.least, found.most) == (4, 12)


@pytest.mark.parametrize(
    ("patterns", "core", "least", "most"),
    [
        (("[ab]*b", "[^x]{0,12}"), ("[ab]*b",), 0, 12),
        (("[ab]*b", "[^x]{1,12}"), ("[ab]*b",), 0, 12),
        (("[ab]*b", "[^x]{4,12}"), ("[ab]*b",), 4, 12),
        (("[ab]*b", ".*", "[^x]{9,}"), ("[ab]*b",), 9, None),
        (("(a|bb)*", "a{2,12}"), ("(a|bb)*", "a*"), 2, 12),
    ],
)
def test_a_part_may_be_no_more_than_a_bound_of_the_others(
    patterns: tuple[str, ...], core: tuple[str, ...], least: int, most: int | None
) -> None:
    term = intersection(*map(full_match, patterns))
    found = counted(term)
    assert isinstance(found, LengthBounded)
    assert (found.least, found.most) == (least, most)
    assert found.core is intersection(*map(full_match, core))
    assert {t for t in TEXTS if contains(found, t)} == {t for t in TEXTS if contains(term, t)}


def test_parts_that_say_more_than_the_others_stay() -> None:
    term = intersection(full_match("[ab]*b[é]?"), full_match("[^é]*"))
    assert counted(term) is term
    assert contains(counted(intersection(term, full_match(".{2,12}"))), "ab")
    assert not contains(counted(intersection(term, full_match(".{2,12}"))), "abé")
