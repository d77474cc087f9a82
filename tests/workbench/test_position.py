from __future__ import annotations

import pytest

from maskwright.workbench.pointer import WINDOW, position_of

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
    found = position_of(text.encode(), offset)
    assert (found.line, found.column, found.excerpt) == (line, column, excerpt)
    assert found.excerpt[found.caret : found.caret + 1] == over
    assert found.lines() == (excerpt, " " * found.caret + "^")


@pytest.mark.parametrize("column", [0, 5, 60, 100, 500, 998])
def test_long_lines_are_cut_around_the_place(column: int) -> None:
    text = "".join(chr(0x4E00 + i) for i in range(1000))
    found = position_of(text.encode(), 3 * column)
    assert len(found.excerpt) <= WINDOW + 2
    assert found.excerpt[found.caret] == text[column]
    assert found.column == column + 1
