"""A cursor over the text of a pattern, which reports faults with their position."""

from __future__ import annotations

from typing import Final, NoReturn

from maskwright.errors import RegexError
from maskwright.grammar.regular.charset import LAST

HEX: Final = frozenset("0123456789abcdefABCDEF")
OCTAL: Final = frozenset("01234567")


class PatternText:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def fail(self, reason: str, at: int | None = None) -> NoReturn:
        """The text is no pattern."""
        position = self.at if at is None else at
        raise RegexError(reason, pattern=self.text, position=position)

    def refuse(self, reason: str, at: int) -> NoReturn:
        """The text is a pattern, but one that can't be enforced."""
        raise RegexError(reason, pattern=self.text, position=at, unsupported=True)

    def peek(self) -> str:
        """The next character, "" at the end."""
        return self.text[self.at : self.at + 1]

    def next_in(self, characters: str) -> bool:
        """Whether one of `characters` comes next."""
        return self.at < len(self.text) and self.text[self.at] in characters

    def take(self, expected: str) -> bool:
        """Move after `expected` if it comes next."""
        if self.text.startswith(expected, self.at):
            self.at += len(expected)
            return True
        return False

    def until(self, end: str, missing: str, start: int) -> str:
        """The text up to `end`, and move after that."""
        close = self.text.find(end, self.at)
        if close < 0:
            self.fail(missing, start)
        found = self.text[self.at : close]
        self.at = close + len(end)
        return found

    def hex_digits(self, count: int, start: int) -> int:
        """The value of exactly `count` hexadecimal digits."""
        digits = self.text[self.at : self.at + count]
        if len(digits) < count or not HEX.issuperset(digits):
            self.fail(f"an escape needs {count} hexadecimal digits", start)
        self.at += count
        return int(digits, 16)

    def code_point(self, digits: str, start: int) -> int:
        """The code point with these hexadecimal digits."""
        if not digits or not HEX.issuperset(digits) or int(digits, 16) > LAST:
            self.fail("\\u{…} needs the number of a code point", start)
        return int(digits, 16)
