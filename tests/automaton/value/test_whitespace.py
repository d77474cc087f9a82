"""The fixed whitespace of each style."""

from __future__ import annotations

import pytest

from maskwright.automaton.value.whitespace import MOST_SPACE, WHITESPACE

STYLES = [
    # style, line at depth 0, at depth 2, comma at depth 1, room
    ("compact", "", "", ",", 0),
    ("spaced", "", "", ", ", 0),
    ("pretty", "\n", "\n    ", ",\n  ", 0),
    ("flexible", "", "", ",", MOST_SPACE),
]


@pytest.mark.parametrize(("style", "line", "deeper", "comma", "room"), STYLES)
def test_styles(style: str, line: str, deeper: str, comma: str, room: int) -> None:
    space = WHITESPACE[style]
    assert (space.line(0), space.line(2), space.comma(1), space.room) == (line, deeper, comma, room)
    assert space.lines == (line != "")


def test_every_style_is_in_the_table() -> None:
    assert {style for style, *_ in STYLES} == set(WHITESPACE)
