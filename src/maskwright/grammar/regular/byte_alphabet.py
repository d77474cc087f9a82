"""The bytes with which the characters of a language begin, in UTF-8.

A set of bytes is one int: bit n is set for byte n.
"""

from __future__ import annotations

from functools import lru_cache, reduce
from operator import and_, or_
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
    State,
    Words,
    sequence,
)
from maskwright.limits import CHEAP, spend

EVERY: Final = (1 << 256) - 1
_NONE: Final[frozenset[int]] = frozenset()
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
            return reduce(or_, map(alphabet, sequence(term)))
        case Alt(options=options):
            return reduce(or_, map(alphabet, options))
        case Intersection(parts=parts):
            return reduce(and_, map(alphabet, parts))
        case Words(table=table, low=low, high=high) if high - low <= MOST_WORDS:
            letters = set("".join(table.strings[low:high]))
            return bytes_of(tuple((ord(letter), ord(letter)) for letter in letters))
        case State(held=held) if held is not None:
            return bytes_of(held)
        case _:
            return 0 if term is EPSILON else EVERY


def needed(term: Regular) -> frozenset[int]:
    """Sets of bytes, as the look of `term` shows them: every text holds a byte of each set."""
    spend(CHEAP)
    match term:
        case Chars(ranges=ranges):
            return frozenset((bytes_of(ranges),))
        case Repeat(body=body, least=least):
            return needed(body) if least else _NONE
        case CountingSet(body=body, counts=counts, tail=tail):
            return needed(tail) if counts & 1 else needed(body) | needed(tail)
        case Concat():
            return _NONE.union(*map(needed, sequence(term)))
        case Alt(options=options):
            return needed(options[0]).intersection(*map(needed, options[1:]))
        case Intersection(parts=parts):
            return _NONE.union(*map(needed, parts))
        case LengthBounded(core=core):
            return needed(core)
        case _:
            return _NONE


def lacks_what_it_needs(term: Intersection) -> bool:
    """Whether an intersection is empty because one part needs a character that another never has;
    False says nothing."""
    held = alphabet(term)
    return any(not each & held for each in needed(term))


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
