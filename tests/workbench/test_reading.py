"""How far a text matches, what may follow and what must."""

from __future__ import annotations

import pytest

from maskwright.mask import compile_json_schema, compile_regex
from maskwright.workbench.reading import (
    Verdict,
    byte_vocabulary,
    read_json,
    read_lines,
    read_text,
)

MATCH, MISMATCH, INCOMPLETE = Verdict

WALKS: list[tuple[str, bytes, int, int, bytes, bytes, Verdict]] = [
    # pattern, text, where it begins; bytes accepted, what may follow, what must; verdict
    ("abc", b"abc", 0, 3, b"", b"", MATCH),
    ("abc", b"a", 0, 1, b"b", b"bc", INCOMPLETE),
    ("abc", b"", 0, 0, b"a", b"abc", INCOMPLETE),
    ("abc", b"abx", 0, 2, b"c", b"c", MISMATCH),
    ("abc", b"abcd", 0, 3, b"", b"", MISMATCH),  # it may end, but the text goes on
    ("a[yx]?", b"a", 0, 1, b"xy", b"", MATCH),  # in ascending order
    ("(a|b)cd", b"a", 0, 1, b"c", b"cd", INCOMPLETE),
    ("abc", b"\xef\xbb\xbfab", 3, 5, b"c", b"c", INCOMPLETE),  # after a byte order mark
    ("abc", b"\xef\xbb\xbfx", 3, 3, b"a", b"abc", MISMATCH),
    ("é", b"\xc3", 0, 1, b"\xa9", b"\xa9", INCOMPLETE),
]


@pytest.mark.parametrize(
    ("pattern", "text", "start", "accepted", "following", "forced", "verdict"), WALKS
)
def test_walks(
    pattern: str,
    text: bytes,
    start: int,
    accepted: int,
    following: bytes,
    forced: bytes,
    verdict: Verdict,
) -> None:
    found = read_text(compile_regex(pattern, byte_vocabulary()), text, start)
    assert (found.accepted, found.next, found.forced) == (accepted, following, forced)
    assert found.verdict is verdict


def test_the_values_of_verdicts_are_exit_codes() -> None:
    assert [verdict.value for verdict in (MATCH, MISMATCH, INCOMPLETE)] == [0, 1, 3]


def test_white_space_around_json_is_ignored() -> None:
    grammar = compile_json_schema({"type": "integer"}, byte_vocabulary())
    assert read_json(grammar, b"\n 12 \n").verdict is MATCH
    found = read_json(grammar, b"\n 12 x\n")
    assert (found.verdict, found.accepted, found.fault) == (MISMATCH, 4, 5)  # at the x


@pytest.mark.parametrize("text", [b"aa \n", b"aa\n\n", b"aa b", b"aa\r\n\r\n"])
def test_white_space_that_counts_is_pointed_at(text: bytes) -> None:
    found = read_lines(compile_regex("a+", byte_vocabulary()), text)
    assert (found.verdict, found.accepted, found.fault) == (MISMATCH, 2, 2)


def test_a_line_break_at_the_end_is_ignored() -> None:
    grammar = compile_regex("a+", byte_vocabulary())
    assert read_lines(grammar, b"aa\r\n").verdict is MATCH
    assert read_lines(grammar, b"aa\n\n").verdict is MISMATCH
    assert read_lines(compile_regex("a\n?", byte_vocabulary()), b"a\n").accepted == 2


def test_every_byte_is_a_token() -> None:
    vocab = byte_vocabulary()
    assert vocab.size == 257
    assert vocab.eos == (256,)
    assert [vocab.tokens[byte] for byte in (0, 65, 255)] == [b"\x00", b"A", b"\xff"]
