"""What readers of patterns and of grammars have in common: a place in a text, and counts in decimal
digits."""

from __future__ import annotations

from typing import Final

_MOST_DIGITS: Final = 18
"""Digits of a count that are read, which is above what any text reaches. Python refuses to read
thousands."""


class TextCursor:
    """A place in a text that is read from left to right."""

    def __init__(self, text: str, at: int = 0) -> None:
        self.text = text
        self.at = at

    def peek(self) -> str:
        """The next character, "" at the end."""
        return self.text[self.at : self.at + 1]

    def take(self, expected: str) -> bool:
        """Move after `expected` if it comes next; returns whether it does."""
        if self.text.startswith(expected, self.at):
            self.at += len(expected)
            return True
        return False


def count_of(digits: str) -> int:
    """Return the number that `digits` write, 0 for none; the greatest number of 18 digits for a
    greater one."""
    if len(digits) > _MOST_DIGITS:
        digits = digits.lstrip("0")
    if len(digits) > _MOST_DIGITS:
        return 10**_MOST_DIGITS - 1
    return int(digits or "0")
