r"""Regular expressions, in the syntax of ECMA-262 or of Python's `re`, to the tree of `pattern`.

What no finite automaton can do (back-references, recursion) and what says how to search rather than
what to match (atomic groups, possessive quantifiers) is refused by name, with the position.

ECMA-262 is read as with its flag `u`, by code points, but as leniently as its annex B says: a brace
that bounds nothing stands for itself. Beyond both syntaxes, each reads named groups with and
without a `P`, and `\A`, `\Z`, `\z` and `\p{…}`.
"""

from __future__ import annotations

import unicodedata
from typing import Final, NoReturn

from maskwright.errors import Construct, LimitError, RegexError
from maskwright.grammar.pattern import tree as pattern
from maskwright.grammar.pattern.characters import closed, property_ranges, unknown_property
from maskwright.grammar.pattern.cursor import TextCursor, count_of
from maskwright.grammar.pattern.flags import Flags
from maskwright.grammar.pattern.tree import (
    LINE_END,
    Anchor,
    Choice,
    Class,
    Concat,
    Intersection,
    Lookahead,
    Lookbehind,
    Negation,
    Pattern,
    Quantified,
    assertions_at,
    inner,
)
from maskwright.grammar.regular import charset
from maskwright.grammar.regular.charset import LAST, Ranges
from maskwright.limits import DEFAULT_LIMITS, Limits

HEX: Final = frozenset("0123456789abcdefABCDEF")
OCTAL: Final = frozenset("01234567")


class PatternText(TextCursor):
    """A cursor over the text of a pattern, which reports faults with their position."""

    def fail(self, reason: str, at: int | None = None) -> NoReturn:
        """The text is no pattern."""
        position = self.at if at is None else at
        raise RegexError(reason, pattern=self.text, position=position)

    def refuse(self, reason: str, at: int) -> NoReturn:
        """The text is a pattern, but one that can't be enforced."""
        raise RegexError(reason, pattern=self.text, position=at, unsupported=True)

    def next_in(self, characters: str) -> bool:
        """Whether one of `characters` comes next."""
        return self.at < len(self.text) and self.text[self.at] in characters

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
    ranges = property_ranges(name)
    if ranges is None:
        text.refuse(unknown_property(name), start)
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


_NEWLINE = charset.of("\n")
_VERBOSE_SPACE = " \t\n\r\f\v"


def parse_pattern(
    text: str, limits: Limits = DEFAULT_LIMITS, flags: Flags | None = None
) -> Pattern:
    """Parse `text`; raises `RegexError` with the position, or `LimitError`."""
    if len(text) > limits.pattern_length:
        raise LimitError(
            f"a pattern of {len(text):,} characters",
            limit="pattern_length",
            value=limits.pattern_length,
            construct=Construct.pattern(text),
        )
    parser = _Parser(PatternText(text), flags or Flags(), limits)
    try:
        tree = parser.choice()
    except LimitError as error:
        error.complete(construct=Construct.pattern(text))
        raise
    if parser.text.at < len(text):
        parser.text.fail("unmatched ')'")
    return tree


class _Parser:
    def __init__(self, text: PatternText, flags: Flags, limits: Limits) -> None:
        self.text = text
        self.flags = flags
        self.terms = 0
        self.depth = 0
        self.limits = limits

    def choice(self) -> Pattern:
        options = [self.intersection()]
        while self.text.take("|"):
            options.append(self.intersection())
        return options[0] if len(options) == 1 else Choice(tuple(options))

    def intersection(self) -> Pattern:
        parts = [self.sequence()]
        while self.flags.algebra and self.text.take("&"):
            parts.append(self.sequence())
        return parts[0] if len(parts) == 1 else Intersection(tuple(parts))

    def sequence(self) -> Pattern:
        parts: list[Pattern] = []
        ends = "|)&" if self.flags.algebra else "|)"
        while self.skip() and not self.text.next_in(ends):
            part = self.quantified()
            if part is not None:
                parts.append(part)
        return parts[0] if len(parts) == 1 else Concat(tuple(parts))

    def skip(self) -> bool:
        """Pass over what the flag x and comments leave out; whether something follows."""
        text = self.text
        while True:
            if text.text.startswith("(?#", text.at) and self.flags.syntax == "python":
                text.until(")", "a comment is not closed", text.at)
            elif self.flags.verbose and text.next_in(_VERBOSE_SPACE):
                text.at += 1
            elif self.flags.verbose and text.next_in("#"):
                end = text.text.find("\n", text.at)
                text.at = len(text.text) if end < 0 else end
            else:
                return text.at < len(text.text)

    def quantified(self) -> Pattern | None:
        """An atom with its quantifier; None for what only sets flags."""
        text, start = self.text, self.text.at
        body = self.atom()
        if body is None:
            return None
        self.skip()
        bounds = self.bounds()
        if bounds is None:
            return body
        if isinstance(body, Anchor) and text.text[start] != "(":  # a group of one may be repeated
            text.fail("nothing to repeat", start)
        lazy = text.take("?")  # lazy or not: the language is the same
        if self.flags.syntax == "python" and text.next_in("+") and not lazy:
            text.refuse(
                "possessive quantifiers are not supported: they change how a match is found",
                text.at,
            )
        self.skip()
        if text.next_in("*+?"):
            text.fail("a quantifier after a quantifier")
        return Quantified(body, *bounds, lazy)

    def bounds(self) -> tuple[int, int | None] | None:
        text = self.text
        if text.take("*"):
            return 0, None
        if text.take("+"):
            return 1, None
        if text.take("?"):
            return 0, 1
        if text.peek() != "{":
            return None
        end = text.text.find("}", text.at)
        least, comma, most = text.text[text.at + 1 : max(end, 0)].partition(",")
        digits = frozenset("0123456789")
        open_start = self.flags.syntax == "python" and comma
        if end < 0 or not (least or open_start) or not digits.issuperset(least + most):
            return None  # a brace that bounds nothing stands for itself
        low = count_of(least)
        high = (count_of(most) if most else None) if comma else low
        if high is not None and high < low:
            text.fail("the bounds of a repeat are in the wrong order")
        text.at = end + 1
        return low, high

    def atom(self) -> Pattern | None:
        self.terms += 1
        if self.terms > self.limits.pattern_terms:
            raise LimitError(
                f"a pattern of {self.terms:,} terms",
                limit="pattern_terms",
                value=self.limits.pattern_terms,
            )
        text, start = self.text, self.text.at
        character = text.text[start]
        text.at += 1
        match character:
            case "(":
                return self.group(start)
            case "[":
                return Class(bracket(text, self.flags, start))
            case ".":
                return Class(charset.EVERY) if self.flags.dot_all else self.within_line()
            case "^":
                if self.flags.multiline:
                    return Lookbehind(self.within_line(), negative=True)
                return Anchor("start")
            case "$":
                return self.line_end()
            case "\\":
                return self.escape(start)
            case "*" | "+" | "?":
                text.fail("nothing to repeat", start)
            case "~" if self.flags.algebra:
                return self.negation(start)
            case _:
                return Class(literal(ord(character), self.flags))

    def too_deep(self, what: str) -> LimitError:
        return LimitError(
            f"{what} nested too deep in a pattern",
            limit="schema_depth",
            value=self.limits.schema_depth,
        )

    def negation(self, start: int) -> Pattern:
        self.skip()
        if self.text.at >= len(self.text.text) or self.text.next_in("|)&"):
            self.text.fail("nothing to complement", start)
        self.depth += 1
        if self.depth > self.limits.schema_depth:
            raise self.too_deep("complements")
        body = self.atom()
        self.depth -= 1
        if body is None:
            self.text.fail("nothing to complement", start)
        return Negation(body)

    def within_line(self) -> Class:
        ends = LINE_END if self.flags.syntax == "ecma" else _NEWLINE
        return Class(charset.complement(ends))

    def line_end(self) -> Pattern:
        if self.flags.multiline:
            return Lookahead(self.within_line(), negative=True)
        if self.flags.syntax == "ecma":
            return Anchor("end")
        last = Quantified(Class(one(0x0A)), 0, 1)
        return Lookahead(Concat((last, Anchor("end"))), negative=False)

    def group(self, start: int) -> Pattern | None:
        self.depth += 1
        if self.depth > self.limits.schema_depth:
            raise self.too_deep("groups")
        text, outer = self.text, self.flags
        look = next((kind for kind in _LOOKS if text.take(kind)), None)
        if look is None:
            only_flags = self.group_start(start)
            if only_flags:
                self.depth -= 1
                return None
        body = self.choice()
        if not text.take(")"):
            text.fail("a group is not closed", start)
        self.depth -= 1
        self.flags = outer
        if look is None:
            return body
        if look.startswith("?<"):
            if any(assertions_at("end", body)) or _looks_ahead(body):
                text.refuse("an assertion in a lookbehind can't look beyond its end", start)
            return Lookbehind(body, negative=look == "?<!")
        return Lookahead(body, negative=look == "?!")

    def group_start(self, start: int) -> bool:
        """Read what stands between `(` and the body; whether there is no body."""
        text = self.text
        if text.take("?<") or text.take("?P<"):
            name = text.until(">", "a group name is missing or not closed", text.at)
            if not name:
                text.fail("a group name is missing or not closed", text.at - 1)
            return False
        if text.take("?:") or not text.next_in("?"):
            return False
        for spelled, reason in _REFUSED_GROUPS:
            if text.text.startswith(spelled, text.at):
                text.refuse(reason, start)
        return self.inline_flags(start)

    def inline_flags(self, start: int) -> bool:
        """`(?i:…)`, `(?i-s:…)`, and at the start of a pattern `(?i)`; whether there is no body."""
        text = self.text
        text.at += 1
        read = text.at
        while text.next_in("abcdefghijklmnopqrstuvwxyzL-"):
            text.at += 1
        letters, minus, without = text.text[read : text.at].partition("-")
        alone = text.next_in(")")
        if not (text.next_in(":") or (alone and letters)) or (minus and not without):
            text.fail("this kind of group is not supported", start)
        if alone and self.flags.syntax == "ecma":
            text.refuse(f"a group of flags alone is not supported; write (?{letters}:…)", start)
        if alone and (start or minus):
            text.fail("flags for the whole pattern stand at its start; write (?flags:…)", start)
        text.at += 1

        self.flags = self.flags.having(
            letters, lambda reason: text.fail(reason, start), without=without, scoped=not alone
        )
        return alone

    def escape(self, start: int) -> Pattern:
        text = self.text
        if text.take("b"):
            return Anchor("word", word(self.flags))
        if text.take("B"):
            return Anchor("not word", word(self.flags))
        if text.take("A"):
            return Anchor("start")
        if text.take("z") or text.take("Z"):
            return Anchor("end")
        octal = text.text[text.at : text.at + 3]
        three_octal = self.flags.syntax == "python" and len(octal) == 3 and OCTAL.issuperset(octal)
        if not three_octal and (text.next_in("123456789") or text.next_in("k")):
            text.refuse(
                "back-references are not regular: no finite automaton can check them", start
            )
        return Class(escaped(text, self.flags, start))


_LOOKS = ("?=", "?!", "?<=", "?<!")
_RECURSION = "recursion is not regular; write a grammar"
_REFUSED_GROUPS = (
    ("?P=", "back-references are not regular: no finite automaton can check them"),
    ("?(", "conditional groups go by what a group matched, which is not regular"),
    ("?>", "atomic groups are not supported: they change how a match is found; write (?:…)"),
    ("?R", _RECURSION),
    ("?&", _RECURSION),
    ("?P>", _RECURSION),
    *((f"?{digit}", _RECURSION) for digit in "0123456789"),
    ("?+", _RECURSION),
)


def _looks_ahead(node: Pattern) -> bool:
    """Whether there is a lookahead anywhere in a lookbehind: it could see beyond its end."""
    return isinstance(node, Lookahead) or any(_looks_ahead(part) for part in inner(node))
