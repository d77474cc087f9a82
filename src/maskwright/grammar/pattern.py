"""Regular expressions in the syntax of ECMA-262, parsed into a closed tree.

What no finite automaton can do (back-references) and what is not built yet (lookbehind, flags) is
refused by name, with the position.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, NoReturn

from maskwright.errors import LimitError, RegexError
from maskwright.grammar import charset, unicode
from maskwright.grammar.charset import Ranges
from maskwright.limits import DEFAULT_LIMITS, Limits


@dataclass(frozen=True, slots=True)
class Class:
    """One character out of a set."""

    ranges: Ranges


@dataclass(frozen=True, slots=True)
class Sequence:
    parts: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    options: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class Quantified:
    body: Pattern
    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class Anchor:
    kind: Literal["start", "end", "word", "not word"]


@dataclass(frozen=True, slots=True)
class Lookahead:
    body: Pattern
    negative: bool


Pattern = Class | Sequence | Choice | Quantified | Anchor | Lookahead

DIGIT: Final = charset.normal([(0x30, 0x39)])
WORD: Final = charset.normal([(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)])
SPACE: Final = charset.normal(
    [
        *[(9, 13), (32, 32), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A)],
        *[(0x2028, 0x2029), (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000)],
        (0xFEFF, 0xFEFF),
    ]
)
LINE_END: Final = charset.of("\n\r\u2028\u2029")

_CLASSES: Final[dict[str, Ranges]] = {
    "d": DIGIT,
    "D": charset.complement(DIGIT),
    "w": WORD,
    "W": charset.complement(WORD),
    "s": SPACE,
    "S": charset.complement(SPACE),
}
_CONTROLS: Final = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13}
_HEX: Final = "0123456789abcdefABCDEF"


def parse_pattern(text: str, limits: Limits = DEFAULT_LIMITS) -> Pattern:
    """Parse `text`; raises `RegexError` with the position, or `LimitError`."""
    if len(text) > limits.pattern_length:
        raise LimitError(f"a pattern of {len(text):,} characters", limit="pattern_length")
    parser = _Parser(text, limits)
    tree = parser.choice()
    if parser.at < len(text):
        parser.fail("unmatched ')'")
    return tree


class _Parser:
    def __init__(self, text: str, limits: Limits) -> None:
        self.text = text
        self.at = 0
        self.terms = 0
        self.depth = 0
        self.limits = limits

    def fail(self, reason: str, at: int | None = None) -> NoReturn:
        position = self.at if at is None else at
        raise RegexError(reason, pattern=self.text, position=position)

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def take(self, expected: str) -> bool:
        if self.text.startswith(expected, self.at):
            self.at += len(expected)
            return True
        return False

    def choice(self) -> Pattern:
        options = [self.sequence()]
        while self.take("|"):
            options.append(self.sequence())
        return options[0] if len(options) == 1 else Choice(tuple(options))

    def sequence(self) -> Pattern:
        parts: list[Pattern] = []
        while self.at < len(self.text) and self.peek() not in "|)":
            parts.append(self.quantified())
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def quantified(self) -> Pattern:
        start = self.at
        body = self.atom()
        bounds = self.bounds()
        if bounds is None:
            return body
        if isinstance(body, Anchor):
            self.fail("nothing to repeat", start)
        self.take("?")  # lazy or not: the language is the same
        if self.peek() in ("*", "+", "?") and self.peek():
            self.fail("a quantifier after a quantifier")
        return Quantified(body, *bounds)

    def bounds(self) -> tuple[int, int | None] | None:
        if self.take("*"):
            return 0, None
        if self.take("+"):
            return 1, None
        if self.take("?"):
            return 0, 1
        if self.peek() != "{":
            return None
        end = self.text.find("}", self.at)
        least, comma, most = self.text[self.at + 1 : max(end, 0)].partition(",")
        digits = set("0123456789")
        if end < 0 or not least or not set(least + most) <= digits:
            return None  # ECMA-262, annex B: a brace that bounds nothing stands for itself
        low = int(least)
        high = (int(most) if most else None) if comma else low
        if high is not None and high < low:
            self.fail("the bounds of a repeat are in the wrong order")
        self.at = end + 1
        return low, high

    def atom(self) -> Pattern:
        self.terms += 1
        if self.terms > self.limits.pattern_terms:
            raise LimitError(f"a pattern of {self.terms:,} terms", limit="pattern_terms")
        start = self.at
        character = self.text[start]
        self.at += 1
        match character:
            case "(":
                return self.group(start)
            case "[":
                return Class(self.bracket(start))
            case ".":
                return Class(charset.complement(LINE_END))
            case "^":
                return Anchor("start")
            case "$":
                return Anchor("end")
            case "\\":
                return self.escape(start)
            case "*" | "+" | "?":
                self.fail("nothing to repeat", start)
            case _:
                return Class(_one(ord(character)))

    def group(self, start: int) -> Pattern:
        self.depth += 1
        if self.depth > self.limits.schema_depth:
            raise LimitError("groups nested too deep in a pattern", limit="schema_depth")
        look: bool | None = None
        if self.take("?="):
            look = False
        elif self.take("?!"):
            look = True
        elif self.text.startswith(("?<=", "?<!"), self.at):
            self.fail("lookbehind is not supported; write the condition as a lookahead", start)
        elif self.take("?<") or self.take("?P<"):
            self.name(">")
        elif self.take("?:"):
            pass
        elif self.peek() == "?":
            self.fail("this kind of group is not supported", start)
        body = self.choice()
        if not self.take(")"):
            self.fail("a group is not closed", start)
        self.depth -= 1
        return body if look is None else Lookahead(body, negative=look)

    def name(self, end: str) -> None:
        close = self.text.find(end, self.at)
        if close <= self.at:
            self.fail("a group name is missing or not closed")
        self.at = close + 1

    def escape(self, start: int) -> Pattern:
        character = self.peek()
        if character == "b":
            self.at += 1
            return Anchor("word")
        if character == "B":
            self.at += 1
            return Anchor("not word")
        if character in "AzZ" and character:
            self.at += 1
            return Anchor("start" if character == "A" else "end")
        if character in "123456789k" and character:
            self.fail("back-references are not regular: no finite automaton can check them", start)
        return Class(self.escaped_set(start))

    def escaped_set(self, start: int) -> Ranges:
        """The set that an escape stands for; `at` is just past the backslash."""
        character = self.peek()
        if not character:
            self.fail("a pattern can't end with a backslash", start)
        self.at += 1
        if character in _CLASSES:
            return _CLASSES[character]
        if character in "pP":
            return self.unicode_property(character == "P", start)
        if character in _CONTROLS:
            return _one(_CONTROLS[character])
        match character:
            case "0":
                return _one(0)
            case "c" if self.peek().isascii() and self.peek().isalpha():
                self.at += 1
                return _one(ord(self.text[self.at - 1]) & 31)
            case "x":
                return _one(self.hex_digits(2, start))
            case "u":
                return _one(self.code_point(start))
            case _ if character.isascii() and character.isalpha():
                self.fail(f"unknown escape \\{character}", start)
            case _:
                return _one(ord(character))

    def hex_digits(self, count: int, start: int) -> int:
        digits = self.text[self.at : self.at + count]
        if len(digits) < count or any(d not in _HEX for d in digits):
            self.fail(f"an escape needs {count} hexadecimal digits", start)
        self.at += count
        return int(digits, 16)

    def code_point(self, start: int) -> int:
        if self.take("{"):
            end = self.text.find("}", self.at)
            digits = self.text[self.at : max(end, self.at)]
            if not digits or any(d not in _HEX for d in digits) or int(digits, 16) > charset.LAST:
                self.fail("\\u{…} needs the number of a code point", start)
            self.at = end + 1
            return int(digits, 16)
        unit = self.hex_digits(4, start)
        if 0xD800 <= unit < 0xDC00 and self.text.startswith("\\u", self.at):
            here = self.at
            self.at += 2
            low = self.hex_digits(4, here)
            if 0xDC00 <= low < 0xE000:
                return 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00)
            self.at = here
        return unit

    def unicode_property(self, negative: bool, start: int) -> Ranges:
        if not self.take("{"):
            self.fail("a Unicode property is written \\p{Name}", start)
        end = self.text.find("}", self.at)
        if end < 0:
            self.fail("a Unicode property is not closed", start)
        name = self.text[self.at : end]
        self.at = end + 1
        ranges = unicode.property_ranges(name)
        if ranges is None:
            self.fail(f"unknown Unicode property {name!r}", start)
        return charset.complement(ranges) if negative else ranges

    def bracket(self, start: int) -> Ranges:
        negative = self.take("^")
        found: list[tuple[int, int]] = []
        while True:
            if self.at >= len(self.text):
                self.fail("a character class is not closed", start)
            if self.take("]"):
                break
            low, single = self.class_member(start)
            if (
                single
                and self.peek() == "-"
                and self.text[self.at + 1 : self.at + 2] not in ("", "]")
            ):
                here = self.at
                self.at += 1
                high, bounded = self.class_member(start)
                if bounded:
                    if high[0][0] < low[0][0]:
                        self.fail("a range in a character class is in the wrong order", here)
                    found.append((low[0][0], high[0][0]))
                    continue
                low = (*low, (0x2D, 0x2D), *high)
            found.extend(low)
        ranges = charset.normal(found)
        return charset.complement(ranges) if negative else ranges

    def class_member(self, start: int) -> tuple[Ranges, bool]:
        """One member of a class: its ranges, and whether it may bound a range."""
        character = self.text[self.at]
        here = self.at
        self.at += 1
        if character != "\\":
            return _one(ord(character)), True
        if self.peek() == "b":
            self.at += 1
            return _one(8), True
        if self.peek() == "-":
            self.at += 1
            return _one(0x2D), True
        if self.peek() in "123456789" and self.peek():
            self.fail("octal escapes are not supported", here)
        if not self.peek():
            self.fail("a character class is not closed", start)
        several = self.peek() in "dDwWsSpP"
        return self.escaped_set(here), not several


def _one(point: int) -> Ranges:
    return ((point, point),)
