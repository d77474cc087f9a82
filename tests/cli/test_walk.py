"""How far a text matches, what may follow and what must."""

from __future__ import annotations

import pytest

from maskwright.cli.walk import Verdict, Walk, byte_vocabulary, walk
from maskwright.mask import compile_regex

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
    found = walk(compile_regex(pattern, byte_vocabulary()), text, start)
    assert (found.accepted, found.next, found.forced) == (accepted, following, forced)
    assert found.verdict is verdict


@pytest.mark.parametrize(
    ("accepted", "may_end", "verdict", "code"),
    [
        (2, True, MATCH, 0),
        (2, False, INCOMPLETE, 3),
        (1, True, MISMATCH, 1),
        (1, False, MISMATCH, 1),
    ],
)
def test_verdicts_and_exit_codes(accepted: int, may_end: bool, verdict: Verdict, code: int) -> None:
    found = Walk(b"ab", accepted, b"", b"", may_end).verdict
    assert (found, found.value) == (verdict, code)


def test_every_byte_is_a_token() -> None:
    vocab = byte_vocabulary()
    assert vocab.size == 257
    assert vocab.eos == (256,)
    assert [vocab.tokens[byte] for byte in (0, 65, 255)] == [b"\x00", b"A", b"\xff"]
