"""Reading a text from its end: the last value, and the brackets that are open."""

from __future__ import annotations

import pytest

from maskwright.automaton.value.last_value import closing_quote, last_value, open_bracket

LAST = [
    ("[1,23", "23"),
    (r'["a\"b"', r'"a\"b"'),
    (r'["a\\","b"', '"b"'),
    ('{"a":{"b":[1,2]}', '{"b":[1,2]}'),
    ('{"a]":[ "}" ]', '[ "}" ]'),
    (r'["\\\\","\\\""', r'"\\\""'),
    (r'["\\\\\"\\\\"', r'"\\\\\"\\\\"'),
    ("[1, true", "true"),
    ('{"name"', '"name"'),
]


@pytest.mark.parametrize(("text", "value"), LAST)
def test_last_value(text: str, value: str) -> None:
    assert last_value(text.encode()) == value


OPEN = [
    ("[1,[2", [0, 3]),
    ('{"a":[{"b":"]}"', [0, 5, 6]),
    (r'["\"[","{\\"', [0]),
    ('a "text" [ before: [1,{"a":', [19, 22]),
    ('[[],{"a":{}', [0, 4]),
    ('[["\\\\"],[', [0, 8]),
]


@pytest.mark.parametrize(("text", "expected"), OPEN)
def test_open_bracket(text: str, expected: list[int]) -> None:
    found = [open_bracket(text.encode(), count) for count in range(1, len(expected) + 1)]
    assert found[::-1] == expected


@pytest.mark.parametrize(
    ("text", "length"),
    [
        (b'""', 2),
        (b'"ab": 1', 4),
        (b'"a\\"b" "', 6),
        (b'"a\\\\", "', 5),
        (b'"a\nb"x', 5),
        ('"é"'.encode() + b'"', 4),
    ],
)
def test_a_string_ends_with_its_closing_quote(text: bytes, length: int) -> None:
    assert closing_quote(text) == length
