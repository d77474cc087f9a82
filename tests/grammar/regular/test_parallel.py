"""Several languages read at once: what they contain, and what is forgotten of parts that died."""

from __future__ import annotations

import pytest

from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.regular.byte_alphabet import bytes_of
from maskwright.grammar.regular.charset import of
from maskwright.grammar.regular.derivative import contains, derivative, parallel_start, reading_on
from maskwright.grammar.regular.terms import EMPTY, Parallel, Regular, char

TERMS = (full_match("a+"), full_match("ab|c"))


def start(ahead: tuple[int, ...] | None) -> Parallel:
    found = parallel_start(TERMS, ahead)
    assert isinstance(found, Parallel)
    return found


@pytest.mark.parametrize("ahead", [None, (bytes_of(of("b")), bytes_of(of("a")))])
@pytest.mark.parametrize(
    ("text", "inside"),
    [("", False), ("a", True), ("aa", True), ("ab", True), ("c", True), ("abb", False)],
)
def test_the_language_is_the_union(ahead: tuple[int, ...] | None, text: str, inside: bool) -> None:
    assert contains(start(ahead), text) is inside


@pytest.mark.parametrize(
    ("text", "ahead", "parts"),
    [
        ("a", None, (full_match("a*"), char("b"))),
        ("aa", None, (full_match("a*"), EMPTY)),
        ("c", None, (EMPTY, full_match(""))),
        ("aa", (1, 1), (full_match("a*"),)),
        ("c", (1, 1), (full_match(""),)),
    ],
)
def test_dead_parts_are_empty_or_left_out(
    text: str, ahead: tuple[int, ...] | None, parts: tuple[Regular, ...]
) -> None:
    found = derivative(start(ahead), text)
    assert isinstance(found, Parallel)
    assert found.parts == parts
    assert found.terms == (TERMS if ahead is None else tuple(TERMS[t] for t in (text == "c",)))


def test_only_bytes_with_which_a_part_may_go_on_are_kept() -> None:
    found = start((bytes_of(of("bx")), bytes_of(of("ac!"))))
    assert found.ahead == (bytes_of(of("b")), bytes_of(of("ac")))
    after = reading_on(found, {0: full_match("a*")})
    assert isinstance(after, Parallel)
    assert after.ahead == (0,)
    other = reading_on(found, {1: full_match("c+")})
    assert isinstance(other, Parallel)
    assert other.ahead == (bytes_of(of("c")),)
