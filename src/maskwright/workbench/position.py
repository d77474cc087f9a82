"""Places in a text as line, column and caret."""

from __future__ import annotations

from typing import Final

from maskwright.immutable import Immutable

WINDOW: Final = 72
"""Characters of a long line that are shown."""


class TextPosition(Immutable):
    """The place of a byte: line and column, counted from 1, the column in characters."""

    line: int
    column: int
    excerpt: str
    caret: int

    def lines(self) -> tuple[str, str]:
        """The line of text, cut to a window, and a caret under the place."""
        return self.excerpt, " " * self.caret + "^"


def line_and_column(text: str, at: int) -> tuple[int, int]:
    """The place of a character: line and column, counted from 1."""
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)


def position_of(text: bytes, offset: int, window: int = WINDOW) -> TextPosition:
    """The place of byte `offset`; `len(text)` stands for the end of the text. `window`: characters
    of its line that are shown."""
    start = text.rfind(b"\n", 0, offset) + 1
    stop = text.find(b"\n", offset)
    row = text[start : len(text) if stop < 0 else stop]
    column = len(row[: offset - start].decode("utf-8", "replace"))
    shown = "".join(c if c.isprintable() else "·" for c in row.decode("utf-8", "replace"))
    left = max(0, column - window + min(12, window // 4))
    right = left + window
    cut = ("…" if left else "") + shown[left:right] + ("…" if right < len(shown) else "")
    caret = column - left + (1 if left else 0)
    return TextPosition(text.count(b"\n", 0, offset) + 1, column + 1, cut, caret)
