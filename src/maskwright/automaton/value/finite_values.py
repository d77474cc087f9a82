"""The scalars that satisfy a conjunction, where they are so few that they may run out.

Equal values have equal canonical JSON (see `canonical`), however they are spelled.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from heapq import heappop, heappush, nsmallest
from typing import Final

from maskwright.grammar.number.spellings import exactly
from maskwright.grammar.regular.beginnings import least_length
from maskwright.grammar.regular.derivative import arcs, contains
from maskwright.grammar.regular.enumerate import few, first
from maskwright.grammar.regular.terms import EMPTY, Regular, words
from maskwright.grammar.schema.tree import Json
from maskwright.grammar.shape.shape import Shape
from maskwright.immutable import Acyclic
from maskwright.limits import CHEAP, spend

MOST_STRINGS: Final = 1_024
MOST_NUMBERS: Final = 64
"""Sets of up to so many values are distinguished one by one; larger ones don't run out."""

_WIDTH: Final = 128
"""Prefixes of numbers that are kept beyond as many as are wanted: which of them is nearest to a
number may be found only a few digits later."""

_LITERALS: Final = ("null", "true", "false")
_MANTISSA: Final = re.compile(r"-?[1-9]\.")
_PLAIN: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]*[1-9])?")


class FiniteValues(Acyclic):
    """The scalars of a conjunction."""

    strings: tuple[str, ...] | None
    """The values of its strings; None if there are many."""
    scalars: tuple[str, ...]
    """Its numbers, booleans and null as JSON without exponents, as far as they are few."""
    many_numbers: bool

    @property
    def size(self) -> int:
        """How many are listed."""
        return len(self.scalars) + len(self.strings or ())

    def texts(self) -> Iterator[str]:
        """The listed ones, as JSON."""
        yield from self.scalars
        for string in self.strings or ():
            yield json.dumps(string)


def finite_values(shape: Shape) -> FiniteValues:
    """The scalars of a shape."""
    strings = few(shape.strings, MOST_STRINGS) if shape.strings is not EMPTY else ()
    literals = tuple(text for text in _LITERALS if contains(shape.scalars, text))
    numbers = tuple(_plain_numbers(shape.scalars, MOST_NUMBERS + 1))
    are_many = len(numbers) > MOST_NUMBERS
    return FiniteValues(strings, literals if are_many else literals + numbers, are_many)


def cheapest(shape: Shape, count: int) -> list[str]:
    """Some of the shape's scalars as JSON, the shortest first, no two of them equal.

    `count` strings and `count` others, if there are so many: whichever values are taken already,
    `count` items that must differ find theirs among these.
    """
    texts = [json.dumps(text, ensure_ascii=False) for text in first(shape.strings, count)]
    texts += [text for text in _LITERALS if contains(shape.scalars, text)]
    texts += _plain_numbers(shape.scalars, count)
    return sorted(texts, key=len)


def spellings(text: str) -> Regular:
    """The spellings of one number, boolean or null."""
    value: Json = json.loads(text)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return exactly(value)
    return words([text])


def canonical(text: str) -> str:
    """One spelling for all equal JSON values."""
    spend(len(text) * CHEAP)
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


def _plain_numbers(term: Regular, most: int) -> Iterator[str]:
    """Up to `most` numbers, each in the spelling without exponent and superfluous zeros.

    Every number that satisfies bounds or an enumeration has one. The search goes first to where an
    end is nearest, so that it finds the shortest first, and gives up the furthest prefixes once
    there are more than enough: each leads to a number. Those that may be mantissas come last,
    because they may lead to numbers with exponents only.
    """
    queue = [(False, least_length(term), "", term)]
    while queue and most:
        later, _, text, state = heappop(queue)
        spend(CHEAP)
        if state.nullable and text != "-0" and _PLAIN.fullmatch(text):
            yield text
            most -= 1
        for character, target in _digits(text, state):
            longer = text + character
            last = later or _MANTISSA.fullmatch(longer) is not None
            heappush(queue, (last, len(longer) + least_length(target), longer, target))
        if len(queue) > 2 * (most + _WIDTH):
            queue = nsmallest(most + _WIDTH, queue)


def _digits(text: str, state: Regular) -> Iterator[tuple[str, Regular]]:
    """The next characters of a plain number that begins with `text`, with their states."""
    allowed = "-0123456789" if not text else ".0123456789"
    if text in ("0", "-0"):
        allowed = "."
    elif "." in text or text == "-":
        allowed = allowed.replace(".", "")
    for low, high, target in arcs(state):
        for point in range(max(low, 0x2D), min(high, 0x39) + 1):
            if chr(point) in allowed:
                yield chr(point), target
