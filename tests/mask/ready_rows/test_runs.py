"""The widest run of characters with which a text may go on again and again."""

from __future__ import annotations

import pytest

from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.regular.terms import alt, char, concat
from maskwright.mask.ready_rows.text_rows import FEWEST, CharacterSet, widest_run


def characters(found: CharacterSet) -> str:
    bits = found.high << 64 | found.low
    return "".join(chr(point) for point in range(128) if bits >> point & 1)


LETTERS = "abcdefghijklmnopqrstuvwxyz"


@pytest.mark.parametrize(
    ("pattern", "first", "later", "beyond"),
    [
        ("[a-z]+", LETTERS, LETTERS, False),
        ("[a-z][a-z0-9]*", LETTERS, "0123456789" + LETTERS, False),
        ("(?!if$|while$)[a-z]+", LETTERS, LETTERS, False),  # all but finitely many texts
        ("[a-z]*=[0-9]", LETTERS, LETTERS, False),
        ("[a-zà-ÿ]+", LETTERS, LETTERS, False),  # some characters outside ASCII are not all
    ],
)
def test_runs(pattern: str, first: str, later: str, beyond: bool) -> None:
    run = widest_run(full_match(pattern))
    assert run is not None
    assert (characters(run.first), characters(run.later)) == (first, later)
    assert (run.first.beyond, run.later.beyond) == (beyond, beyond)


@pytest.mark.parametrize("pattern", ["[a-z]{1,9}", "[a-k]+", "true|false", "[a-z][0-9]*", "[0-9]+"])
def test_where_no_run_is_worth_a_row(pattern: str) -> None:
    """Bounded texts, fewer characters than `FEWEST`, characters that don't come again."""
    assert len("abcdefghijk") < FEWEST
    assert widest_run(full_match(pattern)) is None


@pytest.mark.parametrize(
    ("one", "other", "within"),
    [
        (CharacterSet(3, 0, False), CharacterSet(7, 0, False), True),
        (CharacterSet(3, 0, False), CharacterSet(1, 0, True), False),
        (CharacterSet(0, 4, False), CharacterSet(0, 3, False), False),
        (CharacterSet(1, 1, True), CharacterSet(1, 1, False), False),
        (CharacterSet(1, 1, True), CharacterSet(1, 3, True), True),
    ],
)
def test_sets_within_sets(one: CharacterSet, other: CharacterSet, within: bool) -> None:
    assert one.within(other) == within


def test_the_size_of_a_set() -> None:
    assert CharacterSet(0b101, 0b1, False).size == 3
    assert CharacterSet(0, 0, True).size == 128


def test_alternatives_that_end_alike_are_looked_at_once() -> None:
    """There are 2^100 ways through them."""
    term = full_match("[a-z]*")
    for _ in range(100):
        term = alt(concat(char("0"), term), concat(char("1"), char("2"), term))
    assert widest_run(term) is None
