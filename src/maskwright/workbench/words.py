"""Sets of characters in words: `'"', 0-9, any character beyond ASCII`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from maskwright.workbench.characters import CharacterRanges

MOST_RANGES: Final = 12
BEYOND_ASCII: Final = ((0x80, 0xD7FF), (0xE000, 0x10FFFF))
_NAMED: Final = {0x20: "space", 0x09: "tab", 0x0A: "line break", 0x0D: "carriage return"}


def in_words(characters: CharacterRanges, may_end: bool) -> str:
    """The characters that may come next, and the end of the text if it may end."""
    parts = [*_parts(characters)]
    if len(parts) > MOST_RANGES:
        parts = [*parts[:MOST_RANGES], "…"]
    if may_end:
        parts.append("end of text")
    return ", ".join(parts) or "nothing"


def _parts(characters: CharacterRanges) -> Iterator[str]:
    if characters.is_within:
        yield "the rest of a UTF-8 character"
        return
    beyond = tuple(pair for pair in characters.ranges if pair[1] >= 0x80)
    has_all = _without_ascii(beyond) == BEYOND_ASCII
    if has_all and any(first <= 0x20 and last >= 0x7E for first, last in characters.ranges):
        yield "any character"
        return
    for first, last in characters.ranges:
        if first < 0x80:
            yield from _range(first, min(last, 0x7F))
    if has_all:
        yield "any character beyond ASCII"
        return
    for first, last in _without_ascii(beyond):
        yield from _range(first, last)
    if not characters.is_exact:
        yield "some characters beyond ASCII"


def _without_ascii(ranges: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    return tuple((max(first, 0x80), last) for first, last in ranges)


def _range(first: int, last: int) -> Iterator[str]:
    if last - first > 1:
        yield f"{character_name(first)}-{character_name(last)}"
    else:
        yield from map(character_name, range(first, last + 1))


def character_name(code: int) -> str:
    """A character as it is shown to people."""
    if code in _NAMED:
        return _NAMED[code]
    text = chr(code)
    if text.isalnum():
        return text
    if text.isprintable():
        return f"'{text}'"
    return f"\\x{code:02x}" if code < 0x80 else f"U+{code:04X}"
