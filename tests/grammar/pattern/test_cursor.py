"""Reading the text of a pattern piece by piece, and the places of its faults."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright.errors import RegexError
from maskwright.grammar.pattern.parse import PatternText


def cursor(text: str, at: int = 0) -> PatternText:
    reading = PatternText(text)
    reading.at = at
    return reading


@pytest.mark.parametrize(
    ("text", "at", "expected"), [("ab", 0, "a"), ("ab", 1, "b"), ("ab", 2, ""), ("", 0, "")]
)
def test_the_next_character(text: str, at: int, expected: str) -> None:
    reading = cursor(text, at)
    assert reading.peek() == expected
    assert reading.at == at


@pytest.mark.parametrize(
    ("text", "at", "characters", "expected"),
    [("a*", 1, "*+?", True), ("a*", 0, "*+?", False), ("a*", 2, "*+?", False), ("a", 0, "", False)],
)
def test_whether_one_of_some_characters_comes(
    text: str, at: int, characters: str, expected: bool
) -> None:
    assert cursor(text, at).next_in(characters) is expected


@pytest.mark.parametrize(
    ("text", "at", "wanted", "after"),
    [
        ("(?:a)", 0, "(?:", 3),
        ("(?=a)", 0, "(?:", None),
        ("a(?:", 1, "(?:", 4),
        ("(?", 0, "(?:", None),  # the text ends too early
        ("ab", 2, "a", None),
    ],
)
def test_taking_what_comes_next(text: str, at: int, wanted: str, after: int | None) -> None:
    reading = cursor(text, at)
    assert reading.take(wanted) is (after is not None)
    assert reading.at == (at if after is None else after)


def test_the_text_up_to_an_end() -> None:
    reading = cursor("(?<name>x>", 3)
    assert reading.until(">", "unused", 0) == "name"
    assert reading.at == 8
    with pytest.raises(RegexError) as raised:
        cursor(r"\p{Lu", 3).until("}", "\\p{ needs a }", 0)
    assert (raised.value.reason, raised.value.position) == ("\\p{ needs a }", 0)


HEXADECIMAL: list[tuple[str, int, int | None]] = [
    # text after "\x" or "\u", digits, the value; None where it is refused
    ("41", 2, 0x41),
    ("fFx", 2, 0xFF),
    ("00e9", 4, 0xE9),
    ("4", 2, None),
    ("4g", 2, None),
    ("", 2, None),
    ("+1", 2, None),  # what Python's int reads as well
    ("1_0", 3, None),
    (" 1", 2, None),
    ("٣٣", 2, None),  # digits of another script
]


@pytest.mark.parametrize(("digits", "count", "value"), HEXADECIMAL)
def test_hexadecimal_digits(digits: str, count: int, value: int | None) -> None:
    reading = cursor("\\x" + digits, 2)
    if value is None:
        with pytest.raises(RegexError, match=f"needs {count} hexadecimal digits") as raised:
            reading.hex_digits(count, 0)
        assert raised.value.position == 0
    else:
        assert reading.hex_digits(count, 0) == value
        assert reading.at == 2 + count


@pytest.mark.parametrize(
    ("digits", "value"),
    [
        ("0", 0),
        ("1F600", 0x1F600),
        ("00000041", 0x41),
        ("10FFFF", 0x10FFFF),
        ("110000", None),
        ("", None),
        ("4g", None),
        ("-1", None),
    ],
)
def test_code_points(digits: str, value: int | None) -> None:
    reading = cursor("\\u{" + digits + "}", 3)
    if value is None:
        with pytest.raises(RegexError, match="needs the number of a code point") as raised:
            reading.code_point(digits, 0)
        assert raised.value.position == 0
    else:
        assert reading.code_point(digits, 0) == value


@pytest.mark.parametrize(
    ("report", "position", "unsupported"),
    [
        (lambda reading: reading.fail("no"), 2, False),
        (lambda reading: reading.fail("no", 0), 0, False),
        (lambda reading: reading.refuse("no", 1), 1, True),
    ],
)
def test_faults_have_a_place(report: Any, position: int, unsupported: bool) -> None:
    with pytest.raises(RegexError) as raised:
        report(cursor("abc", 2))
    error = raised.value
    assert (error.pattern, error.position, error.unsupported) == ("abc", position, unsupported)
