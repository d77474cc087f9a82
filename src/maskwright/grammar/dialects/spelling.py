"""Writes characters, classes, strings and patterns in the dialects."""

from __future__ import annotations

from maskwright.grammar.dialects.detect import Dialect
from maskwright.grammar.regular import charset
from maskwright.grammar.regular import terms as r
from maskwright.grammar.regular.charset import Ranges
from maskwright.grammar.regular.terms import Regular

_SURROGATES = ((0xD800, 0xDFFF),)
_DASH = charset.of("-")


def string(text: str) -> str:
    """Write a string in double quotes, as in every dialect."""
    return '"' + "".join(_escaped(character, '"\\') for character in text) + '"'


def char_class(ranges: Ranges, dialect: Dialect) -> str:
    """Write a set of characters. Surrogates, which occur in no text, may be added or left out."""
    ranges = tuple(ranges)
    if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
        return string(chr(ranges[0][0]))
    inside = _class(ranges)
    return f"/{_for_slashes(inside)}/" if dialect == "lark" else inside


def quantifier(least: int, most: int | None) -> str:
    """Write the quantifier for `least` to `most` repetitions, as in every dialect."""
    match least, most:
        case 0, None:
            return "*"
        case 1, None:
            return "+"
        case 0, 1:
            return "?"
        case _ if least == most:
            return f"{{{least}}}"
        case _:
            return f"{{{least},{'' if most is None else most}}}"


def _class(ranges: Ranges) -> str:
    whole = charset.union(ranges, _SURROGATES)
    rest = charset.complement(whole)
    if not rest:
        return r"[\x00-\U0010FFFF]"
    if (len(whole) == 1 and whole[0][1] == charset.LAST) or len(rest) < len(whole):
        return "[^" + _members(rest) + "]"
    return "[" + _members(charset.intersection(ranges, charset.complement(_SURROGATES))) + "]"


def _members(ranges: Ranges) -> str:
    """Write the members of a class. A dash comes last, where every reader takes it literally, and
    `^` not first. No hexadecimal digit follows an escape, because some readers would add it."""
    plain: list[str] = []
    escaped: list[str] = []
    for low, high in charset.intersection(ranges, charset.complement(_DASH)):
        first, last = _in_class(low), _in_class(high)
        spelled = first if low == high else first + last if high == low + 1 else f"{first}-{last}"
        (escaped if spelled.startswith("\\") else plain).append(spelled)
    if plain and plain[0] == "^":
        plain.append(plain.pop(0))
    dash = "-" if charset.intersection(ranges, _DASH) else ""
    joined = "".join(plain + escaped)
    return ("\\x5E" + joined[1:] if joined.startswith("^") else joined) + dash


def _in_class(point: int) -> str:
    return f"\\{chr(point)}" if chr(point) in "[]" else _escaped(chr(point), "\\")


def _escaped(character: str, also: str) -> str:
    point = ord(character)
    if character in also:
        return "\\" + character
    if character in "\n\r\t":
        return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}[character]
    if character.isprintable():
        return character
    return (
        f"\\x{point:02X}"
        if point < 0x100
        else f"\\u{point:04X}"
        if point < 0x10000
        else f"\\U{point:08X}"
    )


def pattern(term: Regular) -> str | None:
    """Write a terminal of Lark: as a string if possible, else as `/…/`; None if no pattern can
    express it."""
    if isinstance(term, r.Epsilon):
        return '""'
    text = _single(term)
    if text is not None:
        return string(text)
    written = _pattern(term, 0)
    return None if written is None else f"/{_for_slashes(written)}/"


def _for_slashes(pattern: str) -> str:
    return pattern.replace("/", "\\/")


def _single(term: Regular) -> str | None:
    match term:
        case r.Chars(ranges=((low, high),)) if low == high:
            return chr(low)
        case r.Concat(head=head, tail=tail):
            first, rest = _single(head), _single(tail)
            return None if first is None or rest is None else first + rest
        case _:
            return None


def _pattern(term: Regular, level: int) -> str | None:
    """Write a pattern in Python's syntax. `level` is what it stands in: 0 for alternatives, 1 for a
    sequence, 2 for a repetition."""
    match term:
        case r.Epsilon():
            return "(?:)"
        case r.Chars(ranges=ranges):
            if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
                return _in_pattern(chr(ranges[0][0]))
            return _class(ranges)
        case r.Concat():
            parts: list[Regular] = []
            rest: Regular = term
            while isinstance(rest, r.Concat):
                parts.append(rest.head)
                rest = rest.tail
            spelled = [_pattern(part, 1) for part in (*parts, rest)]
            return _grouped("".join(s or "" for s in spelled), level > 1) if all(spelled) else None
        case r.Alt(options=options):
            spelled = [_pattern(option, 1) for option in options]
            return _grouped("|".join(s or "" for s in spelled), level > 0) if all(spelled) else None
        case r.Words(table=table, low=low, high=high, depth=depth) if high - low < 1000:
            words = ["".join(map(_in_pattern, w[depth:])) for w in table.strings[low:high]]
            return _grouped("|".join(words), level > 0)
        case r.Repeat(body=body, least=least, most=most):
            inner = _pattern(body, 2)
            if inner is None:
                return None
            return _grouped(inner + quantifier(least, most), level > 1)
        case r.State(equal=language) if language is not None:
            return _pattern(language, level)
        case _:
            return None


def _grouped(text: str, needed: bool) -> str:
    return f"(?:{text})" if needed else text


def _in_pattern(character: str) -> str:
    if character in ".*+?()[]{}|^$\\":
        return "\\" + character
    return _escaped(character, "")
