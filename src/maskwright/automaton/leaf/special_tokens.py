"""How the machine spells special tokens, which no text spells: a byte that UTF-8 never has, then
the id in three bytes of seven bits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

LEAD: Final = 0xFF
LENGTH: Final = 4


def spelling(token: int) -> bytes:
    return bytes((LEAD, token >> 14, token >> 7 & 0x7F, token & 0x7F))


def pieces(data: bytes) -> Iterator[tuple[bytes, int | None]]:
    """`data` cut at its special tokens: texts, and ids. One that is cut off at the end is lost."""
    text, *rest = data.split(bytes((LEAD,)))
    if text:
        yield text, None
    for part in rest:
        if len(part) < LENGTH - 1:
            return
        yield b"", part[0] << 14 | part[1] << 7 | part[2]
        if part[LENGTH - 1 :]:
            yield part[LENGTH - 1 :], None
