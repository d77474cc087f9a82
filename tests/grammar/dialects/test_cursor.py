"""The cursor over a grammar's text: moves, strings, escapes, and the places of faults."""

from __future__ import annotations

import re

import pytest

from maskwright.errors import GrammarError, LimitError
from maskwright.grammar.dialects.cursor import GrammarCursor

DIGITS = re.compile("[0-9]+")


def at(text: str, place: int) -> GrammarCursor:
    cursor = GrammarCursor(text)
    cursor.at = place
    return cursor


def test_moves() -> None:
    cursor = GrammarCursor("ab12")
    assert not cursor.take("b")
    assert (cursor.peek(), cursor.at) == ("a", 0)
    assert cursor.take("ab")
    assert (cursor.peek(), cursor.at) == ("1", 2)
    ahead = cursor.ahead(DIGITS)
    assert ahead is not None
    assert (ahead[0], cursor.at) == ("12", 2)
    assert cursor.match(re.compile("[a-z]")) is None
    assert (cursor.at, cursor.ended) == (2, False)
    found = cursor.match(DIGITS)
    assert found is not None
    assert (found.span(), cursor.at, cursor.peek(), cursor.ended) == ((2, 4), 4, "", True)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a", "'a'"),
        ("'", '"\'"'),
        ("\n", "the end of the line"),
        ("\r\n", "the end of the line"),
        ("", "the end of the grammar"),
    ],
)
def test_what_comes_next_in_words(text: str, shown: str) -> None:
    assert GrammarCursor(text).shown() == shown


@pytest.mark.parametrize(
    ("written", "character"),
    [
        ("a", "a"),
        ('"', '"'),
        (r"\n", "\n"),
        (r"\r", "\r"),
        (r"\t", "\t"),
        (r"\f", "\f"),
        (r"\v", "\v"),
        (r"\b", "\b"),
        (r"\a", "\a"),
        (r"\0", "\0"),
        (r"\x4a", "J"),
        (r"\u00E9", "é"),
        (r"\U0001F600", "😀"),
        (r"\U0010FFFF", "\U0010ffff"),
        (r"\\", "\\"),
        (r"\"", '"'),
        (r"\'", "'"),
        (r"\/", "/"),
        (r"\]", "]"),
        (r"\^", "^"),
        (r"\-", "-"),
        (r"\|", "|"),
    ],
)
def test_characters(written: str, character: str) -> None:
    cursor = GrammarCursor(written + "0")
    assert cursor.character("|") == character
    assert cursor.at == len(written)


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        (r"\q", "unknown escape \\q"),
        (r"\|", "unknown escape \\|"),
        ("\\", "unknown escape \\"),
        (r"\x4", "this escape needs 2 hexadecimal digits"),
        (r"\u00g0", "this escape needs 4 hexadecimal digits"),
        (r"\x 4", "this escape needs 2 hexadecimal digits"),
        (r"\U00110000", "this is not the number of a code point"),
    ],
)
def test_faulty_escapes(written: str, reason: str) -> None:
    with pytest.raises(GrammarError) as caught:
        at("a\nb" + written, 3).character()
    assert reason in caught.value.reason
    assert (caught.value.line, caught.value.column) == (2, 2)


@pytest.mark.parametrize(
    ("text", "expected", "end"),
    [
        ('"" x', "", 2),
        ('"a b" x', "a b", 5),
        (r'"a\"b" x', 'a"b', 6),
        (r"'a\'b\n' x", "a'b\n", 8),
    ],
)
def test_quoted(text: str, expected: str, end: int) -> None:
    cursor = at(text, 1)
    assert cursor.quoted(text[0], 0) == expected
    assert cursor.at == end


@pytest.mark.parametrize("text", ['a "b', 'a "b\n"', 'a "b\r\n"', r'a "b\"'])
def test_strings_that_are_not_closed(text: str) -> None:
    with pytest.raises(GrammarError, match="a string is not closed") as caught:
        at(text, 3).quoted('"', 2)
    assert caught.value.column == 3


def test_place_of_a_fault() -> None:
    cursor = at("ab\ncd", 4)
    for place, expected in ((None, (2, 2)), (0, (1, 1)), (5, (2, 3))):
        with pytest.raises(GrammarError, match="wrong") as caught:
            cursor.fail("wrong", place)
        assert (caught.value.line, caught.value.column) == expected


def test_depth() -> None:
    cursor = GrammarCursor("", most_depth=2)
    for _ in range(3):  # groups side by side do not add up
        with cursor.nested(), cursor.nested():
            pass
    with (
        pytest.raises(LimitError, match="nested too deep") as caught,
        cursor.nested(),
        cursor.nested(),
        cursor.nested(),
    ):
        pass
    assert caught.value.limit == "schema_depth"
