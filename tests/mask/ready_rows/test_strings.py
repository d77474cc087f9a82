"""Strings by their values: escapes smuggle nothing in, and every byte sequence is real UTF-8."""

from __future__ import annotations

from typing import Any

import pytest

from maskwright import RegexError, UnsatisfiableSchemaError, compile_json_schema, compile_regex
from tests.matching import EVERY_BYTE, after, matches, spelled, vocabulary

CLOSED: dict[str, Any] = {
    "type": "object",
    "properties": {"ab": {"const": 1}, "secret": False},
    "additionalProperties": {"const": 2},
}
ENUM: dict[str, Any] = {"enum": ["a", "é", "😀", "\n", '"']}

VALUES: list[tuple[Any, list[str], list[str]]] = [
    (
        CLOSED,
        [r'{"ab":1}', r'{"\u0061b":1}', r'{"a\u0062":1}', r'{"ac":2}', r'{"\u0061c":2}'],
        [r'{"\u0061b":2}', r'{"\u0073ecret":2}', r'{"secre\u0074":2}', r'{"ab":1,"\u0061b":1}'],
    ),
    (
        ENUM,
        ['"a"', r'"\u0061"', '"é"', r'"\u00e9"', r'"\u00E9"', '"😀"', r'"\uD83d\ude00"'],
        ['"b"', r'"\u0062"', r'"\ud83d"', r'"\ude00"', r'"\ud83d\ude01"', r'"\ud83de"', '"\n"'],
    ),
    (ENUM, [r'"\n"', r'"\u000a"', r'"\""', r'"\u0022"'], ['"""', r'"\r"', r'"\'"']),
    (
        {"type": "string"},
        [r'"\/"', '"/"', r'"\b\f\r\t\\"', '"\x7f"', '"\ue000"', '"\U0010ffff"', r'"\udbff\udfff"'],
        ['"\x1f"', r'"\x41"', r'"\u12"', r'"\u00g0"', r'"\ud800"', r'"\ud800\u0041"'],
    ),
    (
        {"type": "string", "minLength": 1, "maxLength": 1},
        ['"é"', '"😀"', r'"\ud83d\ude00"', r'"\n"', r'"\u0041"'],
        ['""', '"ab"', '"e\u0301"', r'"\ud83d\ude00a"', r'"\n\n"'],
    ),
    (
        {"not": {"const": "ab"}, "type": "string"},
        ['"a"', r'"\u0061c"', '"abc"'],
        ['"ab"', r'"\u0061b"', r'"a\u0062"', r'"\u0061\u0062"'],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "inside", "outside"), VALUES, ids=lambda v: repr(v)[:30])
def test_spellings(schema: Any, inside: list[str], outside: list[str]) -> None:
    grammar = compile_json_schema(schema, EVERY_BYTE)
    assert [text for text in inside if not matches(grammar, text)] == []
    assert [text for text in outside if matches(grammar, text)] == []


NOT_UTF8 = [
    b"\x80", b"\xbf", b"\xc0\x80", b"\xc1\xbf", b"\xe0\x80\x80", b"\xe0\x9f\xbf", b"\xed\xa0\x80",
    b"\xed\xbf\xbf", b"\xf0\x80\x80\x80", b"\xf0\x8f\xbf\xbf", b"\xf4\x90\x80\x80", b"\xf5\x80",
    b"\xff", b"\xc3a", b"\xe2\x82a", b"\xf0\x9f\x98a",
]  # fmt: skip


@pytest.mark.parametrize("data", NOT_UTF8, ids=bytes.hex)
def test_what_is_not_utf8(data: bytes) -> None:
    assert after(compile_json_schema({"type": "string"}, EVERY_BYTE), b'"' + data) is None
    assert after(compile_json_schema({"pattern": "^[^x]*$"}, EVERY_BYTE), b'"' + data) is None
    assert after(compile_json_schema({}, EVERY_BYTE), b'{"' + data) is None
    assert after(compile_regex("[^x]*", EVERY_BYTE), data) is None


@pytest.mark.parametrize("point", [0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF])
def test_the_edges_of_utf8(point: int) -> None:
    grammar = compile_regex(f"\\u{{{point:x}}}", EVERY_BYTE)
    assert matches(grammar, chr(point))
    for other in (point - 1, point + 1):
        if other <= 0x10FFFF and not 0xD800 <= other < 0xE000:
            assert not matches(grammar, chr(other))
    assert matches(compile_json_schema({"type": "string"}, EVERY_BYTE), f'"{chr(point)}"')


def test_tokens_that_end_inside_a_character() -> None:
    euro, pound = "€".encode(), "£".encode()
    vocab = vocabulary(b'"' + euro[:1], euro[1:], euro[:2], euro[2:] + b'"', pound, alphabet=b'"a')
    matcher = compile_json_schema({"const": "€"}, vocab).matcher()
    assert spelled(matcher) == {b'"', b'"' + euro[:1]}
    assert matcher.accept(vocab.tokens.index(b'"' + euro[:1]))
    assert spelled(matcher) == {euro[1:]}, "the rest of the character, and no quote within it"
    assert matcher.accept(vocab.tokens.index(euro[1:]))
    assert spelled(matcher) == {b'"'}


def test_no_character_is_begun_that_can_not_end() -> None:
    matcher = after(compile_json_schema({"type": "string", "pattern": "^[à-ï]$"}, EVERY_BYTE), '"')
    assert matcher is not None
    assert spelled(matcher) == {b"\xc3", b"\\"}
    assert matcher.accept(0xC3)
    assert spelled(matcher) == {bytes([byte]) for byte in range(0xA0, 0xB0)}


@pytest.mark.parametrize(
    "schema",
    [
        {"const": "\ud800"},
        {"pattern": "^a\\ud800$", "type": "string"},
        {"pattern": "^[\\udc00-\\udfff]$", "type": "string"},
        {"type": "object", "required": ["a\udfff"]},
    ],
    ids=ascii,
)
def test_half_a_surrogate_pair_is_no_text(schema: Any) -> None:
    with pytest.raises(UnsatisfiableSchemaError):
        compile_json_schema(schema, EVERY_BYTE)
    beside = compile_json_schema({"anyOf": [schema, {"const": 1}]}, EVERY_BYTE)
    assert matches(beside, "1")


def test_nor_is_a_pattern_of_it() -> None:
    with pytest.raises(RegexError):
        compile_regex("a\ud800", EVERY_BYTE)
