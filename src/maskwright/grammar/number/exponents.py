"""The exponents between two bounds, without their `e`."""

from __future__ import annotations

from functools import cache
from typing import Final

from maskwright.grammar.regular.terms import EPSILON, Regular, alt, char, chars, concat, repeat

LEAST_EXPONENT: Final = -330
MOST_EXPONENT: Final = 307
"""The largest exponent with which no mantissa overflows double precision. `1e308` is allowed as
well, with this mantissa only."""

DIGIT: Final = chars(((0x30, 0x39),))
E: Final = chars(((0x45, 0x45), (0x65, 0x65)))


def exponents(least: int, most: int) -> Regular:
    """The exponents from `least` to `most`, without their `e`.

    They are spelled in the ways in which programs write them: with or without a plus sign, and a
    single digit with or without one leading zero.
    """
    options: list[Regular] = []
    if most >= max(least, 0):
        options.append(concat(repeat(char("+"), 0, 1), _counts(max(least, 0), most)))
    if least <= min(most, 0):
        options.append(concat(char("-"), _counts(max(-most, 0), -least)))
    return alt(*options)


@cache
def _counts(least: int, most: int) -> Regular:
    """The integers from `least` to `most` (0 to 999), those below 10 also with a leading zero."""
    options: list[Regular] = []
    for width, bottom in ((1, 0), (2, 10), (3, 100)):
        first, last = max(least, bottom), min(most, 10**width - 1)
        if first <= last:
            options.append(_between(str(first), str(last)))
            if width == 1:
                options.append(concat(char("0"), options[-1]))
    return alt(*options)


def _between(first: str, last: str) -> Regular:
    """The strings of digits from `first` to `last`, which have equally many digits."""
    if not first:
        return EPSILON
    rest = len(first) - 1
    low, high = int(first[0]), int(last[0])
    if low == high:
        return concat(char(first[0]), _between(first[1:], last[1:]))
    options: list[Regular] = []
    if first[1:].strip("0"):
        options.append(concat(char(first[0]), _between(first[1:], "9" * rest)))
        low += 1
    if last[1:].strip("9"):
        options.append(concat(char(last[0]), _between("0" * rest, last[1:])))
        high -= 1
    if low <= high:
        options.append(concat(chars(((0x30 + low, 0x30 + high),)), repeat(DIGIT, rest, rest)))
    return alt(*options)
