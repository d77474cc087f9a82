"""Which characters differ by case alone, and sets of characters closed under such differences.

There are four relations: ASCII letters alone; ECMA-262's of the flag `i` alone (equal when
upper-cased, one code point at a time, never from outside ASCII into it); that of its flags `iu`
(equal under Unicode's simple case folding); and Python's, which adds that I, i, İ and ı are one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Final, Literal

from maskwright.grammar.regular import charset
from maskwright.grammar.regular.charset import Ranges

Casing = Literal["ascii", "ecma", "unicode", "python"]

_CASED_UP_TO = 0x1EFFF
"""No code point beyond has a case (tests/grammar/pattern/test_casing.py looks)."""


@lru_cache(maxsize=4096)
def closed(ranges: Ranges, casing: Casing) -> Ranges:
    """`ranges` and every character that differs from one of them in case alone."""
    if casing == "ascii":
        return charset.union(
            ranges, _shifted(ranges, "A", "Z", 32), _shifted(ranges, "a", "z", -32)
        )
    same = _twins(casing)
    if sum(high - low + 1 for low, high in ranges) < len(same):
        points = [p for low, high in ranges for p in range(low, high + 1) if p in same]
    else:
        points = [point for point in same if _holds(ranges, point)]
    added = charset.ranges_of(twin for point in points for twin in same[point])
    return charset.union(ranges, added)


def _shifted(ranges: Ranges, first: str, last: str, by: int) -> Ranges:
    letters = charset.intersection(ranges, ((ord(first), ord(last)),))
    return tuple((low + by, high + by) for low, high in letters)


def _holds(ranges: Ranges, point: int) -> bool:
    low, high = 0, len(ranges)
    while low < high:
        middle = (low + high) // 2
        if ranges[middle][1] < point:
            low = middle + 1
        else:
            high = middle
    return low < len(ranges) and ranges[low][0] <= point


@cache
def _twins(casing: Casing) -> dict[int, tuple[int, ...]]:
    """Each cased code point → the others like it."""
    canonical = _CANONICAL[casing]
    classes: dict[str, list[int]] = defaultdict(list)
    for point in range(_CASED_UP_TO + 1):
        character = chr(point)
        if character.lower() != character or character.upper() != character:
            classes[canonical(character)].append(point)
    for key, members in classes.items():
        if len(key) == 1 and ord(key) not in members:
            members.append(ord(key))
    return {
        point: tuple(other for other in members if other != point)
        for members in classes.values()
        for point in members
        if len(members) > 1
    }


def _ecma(character: str) -> str:
    """ECMA-262's Canonicalize without the flag u."""
    upper = character.upper()
    if len(upper) != 1 or (ord(character) >= 128 > ord(upper)):
        return character
    return upper


def _folded(character: str) -> str:
    """Simple case folding."""
    folded = character.casefold()
    if len(folded) == 1:
        return folded
    lower = _SAME_WHEN_DECOMPOSED.get(character) or character.lower()
    return lower if len(lower) == 1 else character


def _python(character: str) -> str:
    return "i" if character in "Ii\u0130\u0131" else _folded(character)


_SAME_WHEN_DECOMPOSED: Final = {"\u1fd3": "\u0390", "\u1fe3": "\u03b0", "\ufb05": "\ufb06"}
_CANONICAL: Final[dict[Casing, Callable[[str], str]]] = {
    "ecma": _ecma,
    "unicode": _folded,
    "python": _python,
}
