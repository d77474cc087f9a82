from __future__ import annotations

import pytest

from maskwright.cli.output.show import WINDOW, allowed, place

PLACES = [
    # text, offset, line, column, excerpt, the character over the caret
    ("abc", 1, 1, 2, "abc", "b"),
    ("abc", 3, 1, 4, "abc", ""),
    ("", 0, 1, 1, "", ""),
    ("a\nbc\nd", 3, 2, 2, "bc", "c"),
    ("a\nbc\n", 5, 3, 1, "", ""),
    ("größe: x", 9, 1, 8, "größe: x", "x"),
    ("a\tb", 2, 1, 3, "a·b", "b"),
]


@pytest.mark.parametrize(("text", "offset", "line", "column", "excerpt", "over"), PLACES)
def test_places(text: str, offset: int, line: int, column: int, excerpt: str, over: str) -> None:
    found = place(text.encode(), offset)
    assert (found.line, found.column, found.excerpt) == (line, column, excerpt)
    assert found.excerpt[found.caret : found.caret + 1] == over
    assert found.lines() == (excerpt, " " * found.caret + "^")


@pytest.mark.parametrize("column", [0, 5, 60, 100, 500, 998])
def test_long_lines_are_cut_around_the_place(column: int) -> None:
    text = "".join(chr(0x4E00 + i) for i in range(1000))
    found = place(text.encode(), 3 * column)
    assert len(found.excerpt) <= WINDOW + 2
    assert found.excerpt[found.caret] == text[column]
    assert found.column == column + 1


@pytest.mark.parametrize(
    ("following", "may_end", "told"),
    [
        (b"", False, "nothing"),
        (b"", True, "end of text"),
        (b"0123456789", True, "0-9, end of text"),
        (b"\t\n\r ,}", False, "tab, line break, carriage return, space, ',', '}'"),
        (b"ft", False, "f, t"),
        (b"abc", False, "a-c"),
        (bytes([0x22, *range(0xC2, 0xF5)]), False, "'\"', any character beyond ASCII"),
        (bytes([0x22, 0xC3]), False, "'\"', some characters beyond ASCII"),
        (bytes(range(0x80, 0xC0)), False, "the rest of a UTF-8 character"),
        (bytes([*range(0x20, 0x80), *range(0xC2, 0xF5)]), False, "any character"),
        (b"\x01", False, "\\x01"),
    ],
)
def test_byte_sets_in_words(following: bytes, may_end: bool, told: str) -> None:
    assert allowed(following, may_end) == told


def test_long_sets_are_cut_but_the_end_is_told() -> None:
    assert allowed(bytes(range(0, 0x80, 4)), True).endswith("…, end of text")
