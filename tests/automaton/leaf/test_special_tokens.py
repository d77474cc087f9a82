"""How special tokens are spelled for the machine, and found again in what was spelled."""

from __future__ import annotations

import pytest

from maskwright.automaton.leaf.special_tokens import LEAD, LENGTH, pieces, spelling

LAST_ID = (1 << 21) - 1


@pytest.mark.parametrize(
    ("token", "spelled"),
    [
        (0, b"\xff\x00\x00\x00"),
        (127, b"\xff\x00\x00\x7f"),
        (128, b"\xff\x00\x01\x00"),
        (128_009, b"\xff\x07\x68\x09"),
        (LAST_ID, b"\xff\x7f\x7f\x7f"),
    ],
)
def test_spelling(token: int, spelled: bytes) -> None:
    assert spelling(token) == spelled
    assert len(spelled) == LENGTH
    assert list(pieces(spelled)) == [(b"", token)]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", []),
        (b"text", [(b"text", None)]),
        (b"a" + spelling(5) + b"b", [(b"a", None), (b"", 5), (b"b", None)]),
        (spelling(5) + spelling(LAST_ID), [(b"", 5), (b"", LAST_ID)]),
        (b"a" + spelling(5)[:3], [(b"a", None)]),
        (spelling(5) + b"b\xff", [(b"", 5), (b"b", None)]),
        (b"\xc3\xa9" + spelling(10) + b"\n", [("é".encode(), None), (b"", 10), (b"\n", None)]),
    ],
    ids=repr,
)
def test_pieces(data: bytes, expected: list[tuple[bytes, int | None]]) -> None:
    assert list(pieces(data)) == expected


def test_no_text_contains_the_lead_byte() -> None:
    with pytest.raises(UnicodeDecodeError):
        bytes((LEAD,)).decode()
    assert all(byte < 0x80 for byte in spelling(LAST_ID)[1:]), "nor do the bytes after it"
