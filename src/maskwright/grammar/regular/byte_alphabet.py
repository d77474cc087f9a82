"""The bytes with which the characters of a language begin, in UTF-8.

A set of bytes is one int: bit n is set for byte n.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from maskwright.grammar.regular.charset import Ranges
from maskwright.grammar.regular.terms import (
    EPSILON,
    Alt,
    Chars,
    Concat,
    CountingSet,
    Intersection,
    LengthBounded,
    Regular,
    Repeat,
    Words,
)

EVERY: Final = (1 << 256) - 1
MOST_WORDS: Final = 1_000
"""Words that are looked through."""


def alphabet(term: Regular) -> int:
    """Those of all characters that stand in a text of `term`, or more."""
    if term.alphabet is None:
        term.alphabet = _alphabet(term)
    return term.alphabet


def _alphabet(term: Regular) -> int:
    match term:
        case Chars(ranges=ranges):
            return bytes_of(ranges)
        case Repeat(body=body) | LengthBounded(core=body):
            return alphabet(body)
        case CountingSet(body=body, tail=tail):
            return alphabet(body) | alphabet(tail)
        case Concat():
            found = 0
            while isinstance(term, Concat):
                found |= alphabet(term.head)
                term = term.tail
            return found | alphabet(term)
        case Alt(options=options):
            found = 0
            for option in options:
                found |= alphabet(option)
            return found
        case Intersection(parts=parts):
            found = EVERY
            for part in parts:
                found &= alphabet(part)
            return found
        case Words(table=table, low=low, high=high) if high - low <= MOST_WORDS:
            letters = set("".join(table.strings[low:high]))
            return bytes_of(tuple((ord(letter), ord(letter)) for letter in letters))
        case _:
            return 0 if term is EPSILON else EVERY


@lru_cache(4096)
def bytes_of(ranges: Ranges) -> int:
    """Those of some characters."""
    found = 0
    for low, high in ranges:
        found |= (2 << first_byte(high)) - (1 << first_byte(low))
    return found


def first_byte(point: int) -> int:
    """The byte with which a character begins in UTF-8."""
    if point < 0x80:
        return point
    if point < 0x800:
        return 0xC0 | point >> 6
    return 0xE0 | point >> 12 if point < 0x10000 else 0xF0 | point >> 18
