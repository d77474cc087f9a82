"""What is wrong with a text that is no JSON, and where."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maskwright.json_faults import json_fault, json_reason

NUMBER = "this is no number of JSON, which is written like -1, 0.5 or 1e6"
COMMA = "a comma is missing here, or a bracket that closes"


def reason_of(text: str | bytes) -> str:
    with pytest.raises((ValueError, RecursionError)) as raised:
        json.loads(text)
    return json_reason(raised.value)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "it is empty"),
        (" \n", "there is nothing but white space"),
        ('{"a": 1,}', "the comma before '}' is one too many at line 1, column 8"),
        (
            "\ufeff{}",
            "it begins with a byte order mark, which JSON doesn't have at line 1, column 1",
        ),
        ("[1, 2,]", "the comma before ']' is one too many at line 1, column 6"),
        ("[1,\n2,\n ]", "the comma before ']' is one too many at line 2, column 2"),
        ("[,]", "the comma before ']' is one too many at line 1, column 2"),
        ("[1,,2]", "a value is missing here at line 1, column 4"),
        ('{"a":1,,"b":2}', "a name between double quotes is missing here at line 1, column 8"),
        ('{"a": ', "it ends too early at line 1, column 6"),
        ('["a",\n\n', "it ends too early at line 1, column 6"),
        ('{"a": "x', "the string that begins here has no end at line 1, column 7"),
        ("['a']", "strings stand between double quotes (\"), not ' at line 1, column 2"),
        ("{'a': 1}", "strings stand between double quotes (\"), not ' at line 1, column 2"),
        ("[“a”]", 'strings stand between double quotes ("), not “ at line 1, column 2'),
        ("{a: 1}", "a name between double quotes is missing here at line 1, column 2"),
        ("{1: 1}", "a name between double quotes is missing here at line 1, column 2"),
        ("[True]", "True is written true in JSON at line 1, column 2"),
        ("[None]", "None is written null in JSON at line 1, column 2"),
        (
            "[tru]",
            "'tru' is no value of JSON; a string stands between double quotes at line 1, column 2",
        ),
        ('{"a" 1}', "a colon is missing after the name at line 1, column 6"),
        ('{"a":}', "a value is missing here at line 1, column 6"),
        ('{"a": 1 "b": 2}', f"{COMMA} at line 1, column 9"),
        ("[1 2]", f"{COMMA} at line 1, column 4"),
        ("[1}", f"{COMMA} at line 1, column 3"),
        ('{"a": 1} x', "something follows after the end of the value at line 1, column 10"),
        ("// a\n{}", "JSON has no comments at line 1, column 1"),
        ('{"a": 1, # b\n"c": 2}', "JSON has no comments at line 1, column 10"),
        ("[1, /* b */ 2]", "JSON has no comments at line 1, column 5"),
        ("[01]", f"{NUMBER} at line 1, column 3"),
        ("[1.]", f"{NUMBER} at line 1, column 3"),
        ("[.5]", f"{NUMBER} at line 1, column 2"),
        ("[+1]", f"{NUMBER} at line 1, column 2"),
        ("[-]", f"{NUMBER} at line 1, column 2"),
        ('["\\x"]', "this is no escape of JSON; a backslash is written \\\\ at line 1, column 3"),
        (
            '["a\nb"]',
            "a string has a line break, a tab or another control character: write \\n or \\t "
            "at line 1, column 4",
        ),
        ("[" * 100_000, "it is nested too deep"),
        ("1" * 5000, "a number has too many digits"),
        (b"\xff1", "it is not UTF-8 (byte 0)"),
    ],
    ids=lambda text: repr(text[:30]),
)
def test_what_is_wrong(text: str | bytes, reason: str) -> None:
    assert reason_of(text) == reason


def test_a_line_of_a_file_is_named_by_who_has_read_it() -> None:
    with pytest.raises(ValueError, match="Expecting") as raised:
        json.loads("[1 2]")
    assert json_reason(raised.value, one_line=True) == f"{COMMA} at column 4"


@pytest.mark.parametrize(("message", "at"), [("Expecting value", 3), ("Illegal trailing comma", 2)])
def test_a_trailing_comma_in_every_version_of_the_parser(message: str, at: int) -> None:
    """Python 3.13 stops at the comma and says so, earlier ones at the bracket."""
    error = json.JSONDecodeError(message, "[1,]", at)
    assert json_fault(error) == ("the comma before ']' is one too many", 2)


@given(st.text(alphabet='[]{}",:1a\\ \n-.tnu/é', max_size=12))
def test_every_fault_has_a_place_in_the_text(text: str) -> None:
    fault = None
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        fault = json_fault(error)
    if fault is not None:
        assert 0 <= fault.position <= len(text)
        assert not fault.reason.startswith("Expecting")
