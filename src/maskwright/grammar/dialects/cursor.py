"""A cursor over the text of a grammar, which reports faults with line and column."""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final, NoReturn

from maskwright.errors import BYTE_ORDER_MARK, Construct, GrammarError, LimitError
from maskwright.grammar.pattern.cursor import TextCursor, count_of
from maskwright.grammar.regular.charset import LAST
from maskwright.limits import DEFAULT_LIMITS

_HEX: Final = frozenset("0123456789abcdefABCDEF")
_LETTERS: Final = dict(zip("nrtfvba0", "\n\r\t\f\v\b\a\0", strict=True))
_DIGITS: Final = {"x": 2, "u": 4, "U": 8}
COUNT: Final = re.compile(r"\{\s*(\d*)\s*(?:(,)\s*(\d*)\s*)?\}")
"""How often something is repeated: `{3}`, `{3,}`, `{3,5}` or `{,5}`."""
_HIGH: Final = 0xD800 >> 10
"""The bits above the last ten of the first half of a surrogate pair."""
_LOW: Final = re.compile(r"\\u([Dd][C-Fc-f][0-9A-Fa-f]{2})")
"""The escape of the second half."""


class GrammarCursor(TextCursor):
    def __init__(self, text: str, most_depth: int = DEFAULT_LIMITS.schema_depth) -> None:
        super().__init__(text, len(BYTE_ORDER_MARK) if text.startswith(BYTE_ORDER_MARK) else 0)
        self._depth = 0
        self._most = most_depth

    def fail(self, reason: str, at: int | None = None) -> NoReturn:
        raise GrammarError(reason, text=self.text, position=self.at if at is None else at)

    @contextmanager
    def nested(self) -> Generator[None, None, None]:
        """Enter a group. Raises `LimitError` if groups nest too deep."""
        self._depth += 1
        if self._depth > self._most:
            raise LimitError(
                "groups nested too deep in a grammar",
                limit="schema_depth",
                value=self._most,
                construct=Construct.line(self.text, self.at),
            )
        yield
        self._depth -= 1

    @property
    def ended(self) -> bool:
        return self.at >= len(self.text)

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Match `pattern` at this place, and skip the match."""
        result = pattern.match(self.text, self.at)
        if result is not None:
            self.at = result.end()
        return result

    def ahead(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Match `pattern` at this place, without skipping the match."""
        return pattern.match(self.text, self.at)

    def count(self, match: re.Match[str]) -> tuple[int, int | None]:
        """Read the count that `COUNT` matches at this place."""
        least = count_of(match[1])
        most = (count_of(match[3]) if match[3] else None) if match[2] else least
        return self.ordered(least, most, match.end())

    def ordered(self, least: int, most: int | None, end: int) -> tuple[int, int | None]:
        """Check the bounds of a repeat, and move to their `end`."""
        if most is not None and most < least:
            self.fail("the bounds of a repeat are in the wrong order")
        self.at = end
        return least, most

    def shown(self) -> str:
        """Describe what comes next, for an error."""
        if self.ended:
            return "the end of the grammar"
        return "the end of the line" if self.peek() in "\r\n" else repr(self.peek())

    def quoted(self, quote: str, start: int) -> str:
        """Read a string with escapes, after its opening quote at `start`."""
        characters: list[str] = []
        while not self.take(quote):
            if self.ended or self.peek() in "\r\n":
                self.fail("a string is not closed; a line break in it is written \\n", start)
            characters.append(self.character(quote))
        return "".join(characters)

    def character(self, also: str = "") -> str:
        """Read a character or escape. `also`: characters that may follow a backslash as well."""
        start = self.at
        character = self.peek()
        self.at += 1
        if character != "\\":
            return character
        letter = self.peek()
        self.at += 1
        if letter in _LETTERS:
            return _LETTERS[letter]
        if letter in _DIGITS:
            code = self.hexadecimal(_DIGITS[letter], start)
            # As JSON writes a character beyond 16 bits, and programs that make grammars with it.
            low = _LOW.match(self.text, self.at) if letter == "u" and code >> 10 == _HIGH else None
            if low is None:
                return chr(code)
            self.at = low.end()
            return chr(0x10000 + ((code & 0x3FF) << 10) + (int(low[1], 16) & 0x3FF))
        if letter and letter in "\\\"'/[]-^" + also:
            return letter
        self.fail(f"unknown escape \\{letter}; a backslash is written \\\\", start)

    def hexadecimal(self, count: int, start: int) -> int:
        digits = self.text[self.at : self.at + count]
        if len(digits) < count or not _HEX.issuperset(digits):
            self.fail(f"this escape needs {count} hexadecimal digits", start)
        self.at += count
        if int(digits, 16) > LAST:
            self.fail("this is not the number of a code point", start)
        return int(digits, 16)
