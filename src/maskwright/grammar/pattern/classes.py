"""Character sets in a pattern: escapes such as `\\d` and `\\u00e9`, and classes in brackets."""

from __future__ import annotations

import unicodedata
from typing import Final

from maskwright.grammar.pattern import tree as pattern
from maskwright.grammar.pattern import unicode
from maskwright.grammar.pattern.casing import closed
from maskwright.grammar.pattern.cursor import OCTAL, PatternText
from maskwright.grammar.pattern.flags import Flags
from maskwright.grammar.regular import charset
from maskwright.grammar.regular.charset import LAST, Ranges

_SEVERAL: Final = "dDwWsSpP"
_CONTROLS: Final = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13}


def one(point: int) -> Ranges:
    return ((point, point),)


def literal(point: int, flags: Flags) -> Ranges:
    """A character as it stands in a pattern."""
    return cased(one(point), flags)


def cased(ranges: Ranges, flags: Flags) -> Ranges:
    return closed(ranges, flags.casing) if flags.casing else ranges


def word(flags: Flags) -> Ranges:
    """`\\w`, and what `\\b` goes by."""
    if flags.syntax == "python":
        return pattern.WORD if flags.ascii else pattern.unicode_word()
    return cased(pattern.WORD, flags) if flags.unicode else pattern.WORD


def _shorthand(letter: str, flags: Flags) -> Ranges:
    unicode_python = flags.syntax == "python" and not flags.ascii
    match letter.lower():
        case "d":
            ranges = pattern.unicode_digit() if unicode_python else pattern.DIGIT
        case "w":
            ranges = word(flags)
        case _ if unicode_python:
            ranges = pattern.unicode_space()
        case _:
            ranges = pattern.SPACE if flags.syntax == "ecma" else pattern.ASCII_SPACE
    return charset.complement(ranges) if letter.isupper() else ranges


def escaped(text: PatternText, flags: Flags, start: int) -> Ranges:
    """The set that an escape stands for; `text` is just past the backslash at `start`."""
    letter = text.peek()
    if not letter:
        text.fail("a pattern can't end with a backslash", start)
    text.at += 1
    if letter in "dDwWsS":
        return _shorthand(letter, flags)
    if letter in "pP":
        return _unicode_property(text, flags, start, negative=letter == "P")
    return literal(_escaped_point(text, flags, letter, start), flags)


def _escaped_point(text: PatternText, flags: Flags, letter: str, start: int) -> int:
    if letter in _CONTROLS:
        return _CONTROLS[letter]
    if letter == "x":
        return text.hex_digits(2, start)
    if flags.syntax == "python":
        return _python_point(text, letter, start)
    match letter:
        case "0":
            return 0
        case "c" if text.peek().isascii() and text.peek().isalpha():
            text.at += 1
            return ord(text.text[text.at - 1]) & 31
        case "u":
            return _ecma_unicode(text, start)
        case _:
            return _itself(text, letter, start)


def _python_point(text: PatternText, letter: str, start: int) -> int:
    match letter:
        case "a":
            return 7
        case "u":
            return text.hex_digits(4, start)
        case "U":
            point = text.hex_digits(8, start)
            if point > LAST:
                text.fail("this is not the number of a code point", start)
            return point
        case "N" if text.take("{"):
            name = text.until("}", "a character's name is not closed", start)
            try:
                return ord(unicodedata.lookup(name))
            except (KeyError, TypeError):
                text.fail(f"there is no character named {name!r}", start)
        case _ if letter in OCTAL:
            digits = letter
            while len(digits) < 3 and text.next_in("01234567"):
                digits += text.peek()
                text.at += 1
            if int(digits, 8) > 0o377:
                text.fail("an octal escape goes up to \\377", start)
            return int(digits, 8)
        case _:
            return _itself(text, letter, start)


def _itself(text: PatternText, letter: str, start: int) -> int:
    if letter.isascii() and letter.isalnum():
        text.fail(f"unknown escape \\{letter}", start)
    return ord(letter)


def _ecma_unicode(text: PatternText, start: int) -> int:
    if text.take("{"):
        digits = text.until("}", "\\u{…} needs the number of a code point", start)
        return text.code_point(digits, start)
    unit = text.hex_digits(4, start)
    if 0xD800 <= unit < 0xDC00 and text.text.startswith("\\u", text.at):
        here = text.at
        text.at += 2
        low = text.hex_digits(4, here)
        if 0xDC00 <= low < 0xE000:
            return 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00)
        text.at = here
    return unit


def _unicode_property(text: PatternText, flags: Flags, start: int, *, negative: bool) -> Ranges:
    if not text.take("{"):
        text.fail("a Unicode property is written \\p{Name}", start)
    name = text.until("}", "a Unicode property is not closed", start)
    ranges = unicode.property_ranges(name)
    if ranges is None:
        text.refuse(unicode.unknown_property(name), start)
    ranges = cased(ranges, flags)
    return charset.complement(ranges) if negative else ranges


def bracket(text: PatternText, flags: Flags, start: int) -> Ranges:
    """A class in brackets; `text` is just past the `[` at `start`."""
    negative = text.take("^")
    found: list[tuple[int, int]] = []
    shorthands: list[Ranges] = []
    first = text.at
    while True:
        if text.at >= len(text.text):
            text.fail("a character class is not closed", start)
        if not (flags.syntax == "python" and text.at == first) and text.take("]"):
            break
        here = text.at
        low, single = _member(text, flags, start)
        if text.peek() == "-" and text.text[text.at + 1 : text.at + 2] not in ("", "]"):
            dash = text.at
            text.at += 1
            high, bounded = _member(text, flags, start)
            if single and bounded:
                if high[0][0] < low[0][0]:
                    text.fail("a range in a character class is in the wrong order", dash)
                found.append((low[0][0], high[0][0]))
                continue
            if flags.syntax == "python":
                text.fail("a range in a character class needs a character on both sides", here)
            found.append((0x2D, 0x2D))
            (found.extend if bounded else shorthands.append)(high)
        (found.extend if single else shorthands.append)(low)
    ranges = charset.union(cased(charset.normal(found), flags), *shorthands)
    return charset.complement(ranges) if negative else ranges


def _member(text: PatternText, flags: Flags, start: int) -> tuple[Ranges, bool]:
    """One member of a class: its ranges, and whether it may bound a range (case not applied)."""
    character = text.text[text.at]
    here = text.at
    text.at += 1
    if character != "\\":
        return one(ord(character)), True
    if text.take("b"):
        return one(8), True
    if text.take("-"):
        return one(0x2D), True
    letter = text.peek()
    if not letter:
        text.fail("a character class is not closed", start)
    if letter in _SEVERAL:
        return escaped(text, flags, here), False
    text.at += 1
    if letter in "123456789" and (flags.syntax == "ecma" or letter not in OCTAL):
        text.refuse("octal escapes are not supported", here)
    return one(_escaped_point(text, flags, letter, here)), True
