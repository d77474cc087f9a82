"""Which scalars satisfy a conjunction, where they are few enough to be told apart or run out.

A value is known by its canonical JSON (see `canonical`), whatever it is spelled like.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from maskwright.grammar.number.spellings import exactly
from maskwright.grammar.regular.derivative import arcs
from maskwright.grammar.regular.enumerate import few, first
from maskwright.grammar.regular.terms import EMPTY, Regular, words
from maskwright.grammar.schema.tree import Json
from maskwright.grammar.shape.shape import Shape

MOST_STRINGS: Final = 1_024
MOST_NUMBERS: Final = 64
"""Sets of values up to this size are told apart one by one; larger ones do not run out."""

_LITERALS: Final = ("null", "true", "false")
_MANTISSA: Final = re.compile(r"-?[1-9]\.")
_PLAIN: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]*[1-9])?")


class FiniteValues(NamedTuple):
    """The scalars of a conjunction."""

    strings: tuple[str, ...] | None
    """The values of its strings; None if there are many."""
    scalars: tuple[str, ...]
    """Its numbers, booleans and null as JSON without exponents, as far as they are few."""
    many_numbers: bool

    @property
    def size(self) -> int:
        """How many can be told apart."""
        return len(self.scalars) + len(self.strings or ())

    def texts(self) -> Iterator[str]:
        """Those that can be told apart, as JSON."""
        yield from self.scalars
        for string in self.strings or ():
            yield json.dumps(string)


def finite_values(shape: Shape) -> FiniteValues:
    """What a shape's scalars are; `shape` is that of a conjunction."""
    strings = few(shape.strings, MOST_STRINGS) if shape.strings is not EMPTY else ()
    literals = tuple(text for text in _LITERALS if _accepts(shape.scalars, text))
    numbers = _numbers(shape.scalars, MOST_NUMBERS)
    return FiniteValues(strings, literals + (numbers or ()), numbers is None)


def cheapest(shape: Shape, count: int) -> list[str]:
    """Some of the shape's scalars as JSON, the shortest first, each of another value.

    `count` strings and `count` others, if there are so many: enough for every set of `count`
    values that differ.
    """
    found = [json.dumps(text, ensure_ascii=False) for text in first(shape.strings, count)]
    found += [text for text in _LITERALS if _accepts(shape.scalars, text)]
    found += _plain_numbers(shape.scalars, count)
    return sorted(found, key=len)


def spellings(text: str) -> Regular:
    """The spellings of one number, boolean or null."""
    value: Json = json.loads(text)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return exactly(value)
    return words([text])


def canonical(text: str) -> str:
    """One spelling for all equal JSON values."""
    return json.dumps(_plain(json.loads(text)), sort_keys=True)


def _plain(value: Json) -> Json:
    match value:
        case float() if value.is_integer():
            return int(value)
        case list():
            return [_plain(each) for each in value]
        case dict():
            return {name: _plain(each) for name, each in value.items()}
        case _:
            return value


def _accepts(term: Regular, text: str) -> bool:
    for character in text:
        moves = (t for low, high, t in arcs(term) if low <= ord(character) <= high)
        term = next(moves, EMPTY)
    return term.nullable


def _numbers(term: Regular, most: int) -> tuple[str, ...] | None:
    """The numbers that a language of spellings has, None if there are more than `most`."""
    found = tuple(_plain_numbers(term, most + 1))
    return None if len(found) > most else found


def _plain_numbers(term: Regular, most: int) -> Iterator[str]:
    """Up to `most` numbers, each in the spelling without exponent and superfluous zeros.

    Every number that bounds or an enumeration leave has one. Prefixes that end in different
    numbers are counted as these, so that the search for more than `most` ends early. Those that
    may be mantissas come last: they may end with an exponent alone.
    """
    mantissas: list[tuple[str, Regular]] = []
    count = 0
    for level in ([("", term)], mantissas):
        while level:
            following: list[tuple[str, Regular]] = []
            for text, state in level:
                if state.nullable and text != "-0" and _PLAIN.fullmatch(text):
                    yield text
                    count += 1
                    if count >= most:
                        return
                if len(following) <= 3 * most:
                    for character, target in _digits(text, state):
                        longer = text + character
                        later = _MANTISSA.fullmatch(longer) is not None
                        (mantissas if later else following).append((longer, target))
            level = following


def _digits(text: str, state: Regular) -> Iterator[tuple[str, Regular]]:
    """The ways on from the beginning of a plain number."""
    allowed = "-0123456789" if not text else ".0123456789"
    if text in ("0", "-0"):
        allowed = "."
    elif "." in text or text == "-":
        allowed = allowed.replace(".", "")
    for low, high, target in arcs(state):
        for point in range(max(low, 0x2D), min(high, 0x39) + 1):
            if chr(point) in allowed:
                yield chr(point), target
