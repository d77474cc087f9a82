"""Places in a text as line, column and caret, and the set of bytes allowed there, in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

WINDOW = 72
MOST_RANGES = 12

# The first bytes of printable characters. 0xC2 to 0xF4 begin UTF-8's characters of several bytes.
BEYOND_ASCII = frozenset(range(0xC2, 0xF5))
ANY_CHARACTER = frozenset(range(0x20, 0x7F)) | BEYOND_ASCII


@dataclass(frozen=True, slots=True)
class TextPosition:
    """The place of a byte: line and column, counted from 1, the column in characters."""

    line: int
    column: int
    excerpt: str
    caret: int

    def lines(self) -> tuple[str, str]:
        """The line of text, cut to a window, and a caret under the place."""
        return self.excerpt, " " * self.caret + "^"


def place(text: bytes, offset: int) -> TextPosition:
    """The place of byte `offset`; `len(text)` stands for the end of the text."""
    start = text.rfind(b"\n", 0, offset) + 1
    stop = text.find(b"\n", offset)
    row = text[start : len(text) if stop < 0 else stop]
    column = len(row[: offset - start].decode("utf-8", "replace"))
    shown = "".join(c if c.isprintable() else "·" for c in row.decode("utf-8", "replace"))
    left = max(0, column - WINDOW + 12)
    right = left + WINDOW
    cut = ("…" if left else "") + shown[left:right] + ("…" if right < len(shown) else "")
    caret = column - left + (1 if left else 0)
    return TextPosition(text.count(b"\n", 0, offset) + 1, column + 1, cut, caret)


def allowed(following: bytes, may_end: bool) -> str:
    """The bytes that may follow, in words: `'"', 0-9, end of text`. `following` is ascending."""
    if frozenset(following) >= ANY_CHARACTER:
        parts = ["any character"]
    else:
        parts = [*_ascii_ranges(following), *_beyond_ascii(following)]
    if len(parts) > MOST_RANGES:
        parts = [*parts[:MOST_RANGES], "…"]
    if may_end:
        parts.append("end of text")
    return ", ".join(parts) or "nothing"


def _ascii_ranges(following: bytes) -> Iterator[str]:
    low = [byte for byte in following if byte < 0x80]
    for _, group in groupby(enumerate(low), lambda pair: pair[1] - pair[0]):
        run = [byte for _, byte in group]
        if len(run) > 2:
            yield f"{_character(run[0])}-{_character(run[-1])}"
        else:
            yield from map(_character, run)


def _beyond_ascii(following: bytes) -> Iterator[str]:
    """The bytes of UTF-8's characters of several bytes, in a few words."""
    high = frozenset(byte for byte in following if byte >= 0x80)
    if high == BEYOND_ASCII:
        yield "any character beyond ASCII"
    elif high & BEYOND_ASCII:
        yield "some characters beyond ASCII"
    elif high:
        yield "the rest of a UTF-8 character"


def _character(byte: int) -> str:
    named = {0x20: "space", 0x09: "tab", 0x0A: "line break", 0x0D: "carriage return"}
    if byte in named:
        return named[byte]
    text = chr(byte)
    if text.isalnum():
        return text
    return f"'{text}'" if text.isprintable() else f"\\x{byte:02x}"
