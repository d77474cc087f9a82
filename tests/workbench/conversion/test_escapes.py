"""Spellings of characters, held against Python's reader of JSON."""

from __future__ import annotations

import json

import pytest

from maskwright.grammar.regular.derivative import contains
from maskwright.workbench.conversion.languages import spelled_characters, spelled_text

POINTS = [0, 8, 0x1F, 0x22, 0x2F, 0x41, 0x5C, 0xE9, 0xD7FF, 0xE000, 0xFFFF]
POINTS += [0x10000, 0x103FF, 0x10400, 0x10FC00, 0x10FFFF]


def spellings(point: int) -> list[str]:
    """Escapes of a character, right ones and ones that another set has."""
    units = chr(point).encode("utf-16-be").hex()
    code = "".join("\\u" + units[at : at + 4] for at in range(0, len(units), 4))
    short = json.dumps(chr(point))[1:-1]
    return [chr(point), code, code.upper().replace("\\U", "\\u"), short, "\\" + chr(point)]


@pytest.mark.parametrize("low", POINTS)
@pytest.mark.parametrize("high", POINTS)
def test_sets_of_characters(low: int, high: int) -> None:
    language = spelled_characters(((low, high),)) if low <= high else None
    if language is None:
        return
    for point in {*POINTS, low + 1, high - 1, (low + high) // 2} - {-1}:
        if 0xD800 <= point <= 0xDFFF or point > 0x10FFFF:
            continue
        for text in spellings(point):
            try:
                read = json.loads(f'"{text}"')
            except ValueError:
                expected = False
            else:
                expected = len(read) == 1 and low <= ord(read) <= high
            assert contains(language, text) is expected, (text, low, high)


def test_a_text_has_only_the_escapes_that_it_needs() -> None:
    language = spelled_text('a"\né')
    assert contains(language, 'a\\"\\né')
    assert contains(language, "a\\u0022\\u000Aé")
    assert not contains(language, '\\u0061\\"\\né')
    assert not contains(language, 'a\\"\\n\\u00e9')
